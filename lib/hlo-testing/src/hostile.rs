//! Texts that are expensive to process: deep, long, wide, tangled, or with many errors.

use std::fmt::Write;

/// A kind of text of any size.
pub struct Hostile {
    /// A description of the problem.
    pub name: &'static str,
    /// Returns the text with approximately the given number of bytes.
    pub text: fn(usize) -> String,
}

/// Returns a module whose entry is `body`.
fn entry(body: &str) -> String {
    format!("HloModule m\n\nENTRY e {{\n{body}\n}}\n")
}

/// Repeats `item` for 0, 1, 2, … until there are `bytes`.
fn many(bytes: usize, mut item: impl FnMut(&mut String, usize)) -> String {
    let mut out = String::new();
    let mut i = 0;
    while out.len() < bytes {
        item(&mut out, i);
        i += 1;
    }
    out
}

/// Nests `open` and `close` around a middle.
fn nested(bytes: usize, open: &str, middle: &str, close: &str) -> String {
    let n = bytes / (open.len() + close.len()).max(1);
    format!("{}{middle}{}", open.repeat(n), close.repeat(n))
}

macro_rules! w {
    ($out:expr, $($t:tt)*) => {{ let _ = write!($out, $($t)*); }};
}

/// All kinds.
pub const ALL: &[Hostile] = &[
    Hostile {
        name: "a chain of instructions",
        text: |n| {
            let body = many(n, |o, i| match i {
                0 => o.push_str("  x0 = f32[8] parameter(0)\n"),
                _ => w!(o, "  x{i} = f32[8]{{0}} add(x{}, x{})\n", i - 1, i / 2),
            });
            entry(&body)
        },
    },
    Hostile {
        name: "a chain without shapes",
        text: |n| {
            let body = many(n, |o, i| match i {
                0 => o.push_str("  x0 = f32[8] parameter(0)\n"),
                _ => w!(o, "  x{i} = negate(x{})\n", i - 1),
            });
            entry(&body)
        },
    },
    Hostile {
        name: "small computations",
        text: |n| {
            let mut out = many(n, |o, i| w!(o, "c{i} {{\n  ROOT p = f32[] parameter(0)\n}}\n"));
            out.push_str("ENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n");
            format!("HloModule m\n{out}")
        },
    },
    Hostile {
        name: "a deep call graph",
        text: |n| {
            let mut out = String::from("HloModule m\nc0 {\n  ROOT p = f32[] parameter(0)\n}\n");
            out += &many(n, |o, i| {
                w!(
                    o,
                    "c{} {{\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=c{i}\n}}\n",
                    i + 1
                );
            });
            out.push_str("ENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n");
            out
        },
    },
    Hostile {
        name: "one computation called from everywhere",
        text: |n| {
            let calls = many(n, |o, i| w!(o, "  x{} = f32[] call(x{i}), to_apply=c\n", i + 1));
            format!(
                "HloModule m\nc {{\n  ROOT p = f32[] parameter(0)\n}}\nENTRY e {{\n  x0 = f32[] parameter(0)\n{calls}}}\n"
            )
        },
    },
    Hostile {
        name: "operands",
        text: |n| entry(&format!("  p = f32[] parameter(0)\n  ROOT t = tuple({}p)", "p, ".repeat(n / 3))),
    },
    Hostile {
        name: "operands that nobody knows",
        text: |n| entry(&format!("  ROOT t = f32[] add({}q)", many(n, |o, i| w!(o, "q{i}, ")))),
    },
    Hostile {
        name: "nested operands",
        text: |n| entry(&format!("  p = f32[] parameter(0)\n  ROOT t = {}", nested(n, "negate(", "p", ")"))),
    },
    Hostile {
        name: "nested inline computations",
        text: |n| {
            let inner = nested(n, "f32[] call(), to_apply={ ROOT r = ", "f32[] constant(1)", " }");
            entry(&format!("  ROOT t = {inner}"))
        },
    },
    Hostile {
        name: "a nested tuple shape",
        text: |n| entry(&format!("  ROOT t = {} parameter(0)", nested(n, "(", "f32[]", ")"))),
    },
    Hostile {
        name: "a wide tuple shape",
        text: |n| entry(&format!("  ROOT t = ({}f32[]) parameter(0)", "f32[2]{0}, ".repeat(n / 11))),
    },
    Hostile {
        name: "a nested literal",
        text: |n| entry(&format!("  ROOT t = f32[1] constant({})", nested(n, "{", "1", "}"))),
    },
    Hostile {
        name: "a nested tuple literal",
        text: |n| {
            entry(&format!(
                "  ROOT t = {} constant({})",
                nested(n / 2, "(", "f32[]", ")"),
                nested(n / 2, "(", "1", ")")
            ))
        },
    },
    Hostile {
        name: "a long literal",
        text: |n| entry(&format!("  ROOT t = f32[{}] constant({{{}1}})", n / 5 + 1, "2.5, ".repeat(n / 5))),
    },
    Hostile {
        name: "a literal of the wrong size",
        text: |n| entry(&format!("  ROOT t = f32[7] constant({{{}1}})", "2.5, ".repeat(n / 5))),
    },
    Hostile {
        name: "a long number",
        text: |n| entry(&format!("  ROOT t = f64[] constant({})", "1".repeat(n))),
    },
    Hostile {
        name: "elided literals of enormous shapes",
        text: |n| entry(&many(n, |o, i| w!(o, "  c{i} = f32[1000000,100000] constant({{...}})\n"))),
    },
    Hostile {
        name: "dimensions",
        text: |n| entry(&format!("  ROOT t = f32[{}1] parameter(0)", "1,".repeat(n / 2))),
    },
    Hostile {
        name: "tiles",
        text: |n| entry(&format!("  ROOT t = f32[2]{{0:T{}}} parameter(0)", "(2)".repeat(n / 3))),
    },
    Hostile {
        name: "one attribute again and again",
        text: |n| {
            entry(&format!("  ROOT t = f32[] parameter(0){}", ", metadata={op_name=\"a\"}".repeat(n / 24)))
        },
    },
    Hostile {
        name: "attributes that nobody knows",
        text: |n| entry(&format!("  ROOT t = f32[] parameter(0){}", many(n, |o, i| w!(o, ", a{i}={{}}")))),
    },
    Hostile {
        name: "a nested attribute",
        text: |n| {
            entry(&format!(
                "  ROOT t = f32[] parameter(0), backend_config={}",
                nested(n, "{\"a\":", "1", "}")
            ))
        },
    },
    Hostile {
        name: "frontend attributes",
        text: |n| {
            entry(&format!(
                "  ROOT t = f32[] parameter(0), frontend_attributes={{{}z=\"\"}}",
                many(n, |o, i| w!(o, "a{i}=\"b\","))
            ))
        },
    },
    Hostile {
        name: "statistics",
        text: |n| {
            entry(&format!(
                "  ROOT t = f32[] parameter(0), statistics={{visualizing_index=0{}}}",
                many(n, |o, i| w!(o, ",a{i}=1.5"))
            ))
        },
    },
    Hostile {
        name: "an origin tree",
        text: |n| {
            entry(&format!("  ROOT t = f32[] parameter(0), origin={{{}}}", nested(n, "(", "{\"a\"}", ")")))
        },
    },
    Hostile {
        name: "replica groups",
        text: |n| {
            let groups = many(n, |o, i| w!(o, "{{{i}}},"));
            entry(&format!(
                "  p = f32[] parameter(0)\n  ROOT t = f32[] collective-broadcast(p), replica_groups={{{}{{0}}}}",
                groups
            ))
        },
    },
    Hostile {
        name: "replica groups of enormous numbers",
        text: |n| {
            let line = |o: &mut String, i: usize| {
                w!(
                    o,
                    "  t{i} = f32[] collective-broadcast(p), replica_groups=[1000000000,1000000000]<=[1000000000000000000]\n"
                );
            };
            entry(&format!("  p = f32[] parameter(0)\n{}", many(n, line)))
        },
    },
    Hostile {
        name: "source-target pairs",
        text: |n| {
            let pairs = many(n, |o, i| w!(o, "{{{i},{}}},", i + 1));
            entry(&format!(
                "  p = f32[] parameter(0)\n  ROOT t = f32[] collective-permute(p), source_target_pairs={{{pairs}{{0,0}}}}"
            ))
        },
    },
    Hostile {
        name: "a sharding of many devices",
        text: |n| {
            let devices = many(n, |o, i| w!(o, "{i},"));
            let count = devices.matches(',').count();
            entry(&format!(
                "  ROOT p = f32[{count}] parameter(0), sharding={{devices=[{count}]{}}}",
                devices.trim_end_matches(',')
            ))
        },
    },
    Hostile {
        name: "shardings of enormous numbers",
        text: |n| {
            entry(&many(n, |o, i| {
                w!(
                    o,
                    "  p{i} = f32[4] parameter({i}), sharding={{devices=[1000000000,1000000000]<=[1000000000000000000] last_tile_dim_replicate}}\n"
                );
            }))
        },
    },
    Hostile {
        name: "a nested sharding",
        text: |n| {
            entry(&format!("  ROOT p = f32[4] parameter(0), sharding={}", nested(n, "{", "replicated", "}")))
        },
    },
    Hostile {
        name: "control predecessors",
        text: |n| {
            // A hundred lines. Each depends on every line before it, many times.
            let each = n / 100;
            let body = many(n, |o, i| {
                w!(o, "  x{i} = f32[] parameter({i})");
                if i > 0 {
                    w!(o, ", control-predecessors={{{}x0}}", many(each, |o, k| w!(o, "x{}, ", k % i)));
                }
                o.push('\n');
            });
            entry(&body)
        },
    },
    Hostile {
        name: "a diamond of control dependencies",
        text: |n| {
            entry(&many(n, |o, i| match i {
                0 | 1 => w!(o, "  x{i} = f32[] parameter({i})\n"),
                _ => w!(o, "  x{i} = f32[] negate(x{}), control-predecessors={{x{}}}\n", i - 1, i - 2),
            }))
        },
    },
    Hostile {
        name: "tuples that double",
        text: |n| {
            entry(&many(n, |o, i| match i {
                0 => o.push_str("  x0 = f32[] parameter(0)\n"),
                _ => w!(o, "  x{i} = tuple(x{}, x{})\n", i - 1, i - 1),
            }))
        },
    },
    Hostile {
        name: "empty tuples that double",
        text: |n| {
            entry(&many(n, |o, i| match i {
                0 => o.push_str("  x0 = tuple()\n"),
                _ => w!(o, "  x{i} = tuple(x{}, x{})\n", i - 1, i - 1),
            }))
        },
    },
    Hostile {
        name: "tuples ever deeper",
        text: |n| {
            entry(&many(n, |o, i| match i {
                0 => o.push_str("  x0 = f32[] parameter(0)\n"),
                _ => w!(o, "  x{i} = tuple(x{})\n", i - 1),
            }))
        },
    },
    Hostile {
        name: "copies of copies without shapes",
        text: |n| {
            entry(&many(n, |o, i| match i {
                0 => o.push_str("  x0 = f32[] parameter(0)\n"),
                _ => w!(o, "  x{i} = copy-start(x{})\n", i - 1),
            }))
        },
    },
    Hostile {
        name: "a large tuple as operand again and again",
        text: |n| {
            entry(&many(n, |o, i| match i {
                0 => w!(o, "  x0 = ({}f32[]) parameter(0)\n", "f32[], ".repeat(n / 14)),
                _ => w!(o, "  x{i} = f32[] get-tuple-element(x0), index={}\n", i / 100),
            }))
        },
    },
    Hostile {
        name: "copies of a large tuple without shapes",
        text: |n| {
            entry(&many(n, |o, i| match i {
                0 => o.push_str("  x0 = f32[] parameter(0)\n"),
                1..=15 => w!(o, "  x{i} = tuple(x{}, x{})\n", i - 1, i - 1),
                _ => w!(o, "  x{i} = copy(x15)\n"),
            }))
        },
    },
    Hostile {
        name: "a long name",
        text: |n| entry(&format!("  ROOT {} = f32[] parameter(0)", "n".repeat(n))),
    },
    Hostile {
        name: "a long opcode",
        text: |n| entry(&format!("  ROOT x = f32[] {}(0)", "parameter".repeat(n / 9))),
    },
    Hostile {
        name: "a long attribute name",
        text: |n| entry(&format!("  ROOT x = f32[] parameter(0), {}=1", "metadata".repeat(n / 8))),
    },
    Hostile {
        name: "a long name that nobody knows",
        text: |n| {
            let names = many(n / 2, |o, i| w!(o, "  nnnnnnnnnnnnnnnn{i} = f32[] parameter({i})\n"));
            entry(&format!("{names}  ROOT x = f32[] negate({})", "n".repeat(n / 2)))
        },
    },
    Hostile {
        name: "names that nobody knows among many",
        text: |n| {
            let names = many(n, |o, i| w!(o, "  value_{i} = f32[] parameter({i})\n"));
            let unknown = many(2000, |o, i| w!(o, "  y{i} = f32[] negate(valeu_{i})\n"));
            entry(&(names + &unknown))
        },
    },
    Hostile {
        name: "computations that nobody knows among many",
        text: |n| {
            let names = many(n, |o, i| w!(o, "computation_{i} {{\n  ROOT p = f32[] parameter(0)\n}}\n"));
            let unknown = many(2000, |o, i| w!(o, "  y{i} = f32[] call(p), to_apply=compuattion_{i}\n"));
            format!("HloModule m\n{names}ENTRY e {{\n  p = f32[] parameter(0)\n{unknown}}}\n")
        },
    },
    Hostile {
        name: "a long string",
        text: |n| {
            entry(&format!(
                "  ROOT x = f32[] parameter(0), metadata={{op_name=\"{}\"}}",
                "a\\\"".repeat(n / 3)
            ))
        },
    },
    Hostile {
        name: "a long comment",
        text: |n| entry(&format!("  ROOT x = f32[] parameter(0) /* {} */", "* /".repeat(n / 3))),
    },
    Hostile {
        name: "comments",
        text: |n| entry(&format!("  ROOT x = f32[] parameter({}0)", "/*a*/".repeat(n / 5))),
    },
    Hostile {
        name: "lines that are wrong",
        text: |n| entry(&many(n, |o, i| w!(o, "  x{i} = f32[] addd(y{i})\n"))),
    },
    Hostile { name: "lines that make no sense", text: |n| entry(&"  , = } ROOT\n".repeat(n / 13)) },
    Hostile {
        name: "one name again and again",
        text: |n| entry(&"  x = f32[] constant(1)\n".repeat(n / 24)),
    },
    Hostile {
        name: "one computation again and again",
        text: |n| {
            format!(
                "HloModule m\n{}ENTRY e {{\n  ROOT p = f32[] parameter(0)\n}}\n",
                "c {\n  ROOT p = f32[] parameter(0)\n}\n".repeat(n / 35)
            )
        },
    },
    Hostile {
        name: "entries",
        text: |n| {
            format!(
                "HloModule m\n{}",
                many(n, |o, i| w!(o, "ENTRY e{i} {{\n  ROOT p = f32[] parameter(0)\n}}\n"))
            )
        },
    },
    Hostile {
        name: "a module that breaks every rule",
        text: |n| {
            entry(&many(n, |o, i| match i {
                0 => o.push_str("  x0 = f32[8] parameter(0)\n"),
                _ => w!(o, "  x{i} = s32[3] add(x{}, x{})\n", i - 1, i / 2),
            }))
        },
    },
    Hostile {
        name: "a schedule backwards",
        text: |n| {
            let body = many(n, |o, i| w!(o, "  x{i} = f32[] negate(x{})\n", i + 1));
            let count = body.lines().count();
            format!("HloModule m, is_scheduled=true\nENTRY e {{\n{body}  x{count} = f32[] parameter(0)\n}}\n")
        },
    },
    Hostile {
        name: "cycles",
        text: |n| {
            let body = many(n, |o, i| w!(o, "  x{i} = f32[] negate(x{})\n", i + 1));
            let count = body.lines().count();
            entry(&format!("{body}  x{count} = f32[] negate(x0)"))
        },
    },
    Hostile {
        name: "header attributes",
        text: |n| {
            format!(
                "HloModule m{}\nENTRY e {{\n  ROOT p = f32[] parameter(0)\n}}\n",
                many(n, |o, i| w!(o, ", a{i}={{}}"))
            )
        },
    },
    Hostile {
        name: "aliases",
        text: |n| {
            let aliases = many(n, |o, i| w!(o, "{{{i}}}: ({i}, {{}}), "));
            format!(
                "HloModule m, input_output_alias={{ {} }}\nENTRY e {{\n  ROOT p = f32[] parameter(0)\n}}\n",
                aliases.trim_end_matches(", ")
            )
        },
    },
    Hostile {
        name: "an entry layout",
        text: |n| {
            format!(
                "HloModule m, entry_computation_layout={{({}f32[])->f32[]}}\nENTRY e {{\n  ROOT p = f32[] parameter(0)\n}}\n",
                "f32[2]{0}, ".repeat(n / 11)
            )
        },
    },
    Hostile {
        name: "stack frames",
        text: |n| {
            let frames = many(n, |o, i| w!(o, "{} {{file_location_id=1 parent_frame_id={i}}}\n", i + 1));
            format!(
                "HloModule m\n\nFileNames\n1 \"a\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n1 {{file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}}\n\nStackFrames\n{frames}\nENTRY e {{\n  ROOT p = f32[] parameter(0), metadata={{stack_frame_id=1}}\n}}\n"
            )
        },
    },
    Hostile {
        name: "a large tuple sent again and again",
        text: |n| {
            let body = many(n / 2, |o, i| w!(o, "  o{i} = token[] outfeed(t, k)\n"));
            entry(&format!(
                "  t = ({}f32[]) parameter(0)\n  k = token[] after-all()\n{body}",
                "f32[], ".repeat(n / 14)
            ))
        },
    },
    Hostile {
        name: "a large tuple passed again and again to what is wrapped",
        text: |n| {
            let operands = "t, ".repeat(n / 6);
            entry(&format!(
                "  t = ({}f32[]) parameter(0)\n  s = ((f32[]), f32[], u32[]) custom-call-start({operands}t), custom_call_target=\"f\"\n",
                "f32[], ".repeat(n / 14)
            ))
        },
    },
    Hostile {
        name: "an element of a large tuple in many spellings",
        text: |n| {
            let zeros = (1..1000).take_while(|i| i * i < n);
            let operands: Vec<String> = zeros.map(|i| format!("t#{}", "0".repeat(i))).collect();
            entry(&format!(
                "  t = (({}f32[])) parameter(0)\n  ROOT r = tuple({})\n",
                "f32[], ".repeat(n / 14),
                operands.join(", ")
            ))
        },
    },
    Hostile {
        name: "errors that speak of a large tuple",
        text: |n| {
            let body = many(n / 2, |o, i| w!(o, "  x{i} = f32[] negate(t)\n"));
            entry(&format!("  t = ({}f32[]) parameter(0)\n{body}", "f32[], ".repeat(n / 14)))
        },
    },
    Hostile {
        name: "replica groups that are all wrong",
        text: |n| {
            let groups = "{0,-1},".repeat(n / 7);
            format!(
                "HloModule m, replica_count=2\n\nENTRY e {{\n  p = f32[] parameter(0)\n  ROOT t = f32[] collective-broadcast(p), replica_groups={{{groups}{{0}}}}\n}}\n"
            )
        },
    },
    Hostile {
        name: "rows without elements",
        text: |n| {
            let body = many(n, |o, i| w!(o, "  c{i} = f32[3000000000,3000000000,0] constant({{...}})\n"));
            entry(&format!("{body}  s = f32[1000,0] constant({{...}})"))
        },
    },
    Hostile {
        name: "axes of a mesh",
        text: |n| {
            let axes = many(n / 2, |o, i| w!(o, ",'a{i}'=1"));
            let mut names: Vec<String> = axes.split(",").skip(1).map(|a| a.replace("=1", "")).collect();
            names.reverse();
            let names = names.join(",");
            entry(&format!(
                "  p = f32[] parameter(0), sharding={{mesh['z'=2{axes}], [], replicated={{{names}}}}}\n  ROOT t = f32[] collective-broadcast(p), replica_groups=mesh['z'=2{axes}] {{'z',{names}}}"
            ))
        },
    },
    Hostile {
        name: "bodies in place of names",
        text: |n| {
            let count = n / 40;
            entry(&format!(
                "  i = s32[] parameter(0)\n  ROOT r = f32[] conditional(i{}), branch_computations={{{}}}",
                ", i".repeat(count),
                vec!["{p=s32[] parameter(0) ROOT c=f32[] constant(1)}"; count].join(",")
            ))
        },
    },
    Hostile {
        name: "a sharding of many devices and dimensions",
        text: |n| {
            let count = n / 10;
            let devices = many(n / 2, |o, i| w!(o, "{i},"));
            let devices: Vec<&str> = devices.trim_end_matches(',').split(',').collect();
            entry(&format!(
                "  ROOT p = f32[] parameter(0), sharding={{devices=[{}{}]{} last_tile_dims={{replicated, manual}}}}",
                "1,".repeat(count),
                format_args!("{},1", devices.len()),
                devices.join(",")
            ))
        },
    },
    Hostile {
        name: "stack frames of many comments",
        text: |n| {
            let locations = many(n, |o, i| {
                w!(
                    o,
                    "{} {{/*file_name_id=é*/ file_name_id=1 function_name_id=1 line={i} end_line=3 column=1 end_column=9}}\n",
                    i + 1
                );
            });
            format!(
                "HloModule m\n\nFileNames\n1 \"a\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n{locations}\nStackFrames\n1 {{file_location_id=1 parent_frame_id=1}}\n\nENTRY e {{\n  ROOT p = f32[] parameter(0), metadata={{stack_frame_id=1}}\n}}\n"
            )
        },
    },
    Hostile { name: "open braces", text: |n| "{".repeat(n) },
    Hostile {
        name: "open parentheses in an instruction",
        text: |n| format!("HloModule m\nENTRY e {{\n  x = f32[] add{}", "(".repeat(n)),
    },
    Hostile { name: "closing parentheses", text: |n| ")".repeat(n) },
    Hostile { name: "braces closed by parentheses", text: |n| "{".repeat(n / 2) + &")".repeat(n / 2) },
    Hostile { name: "brackets of alternating kinds", text: |n| "{([".repeat(n / 6) + &"}])".repeat(n / 6) },
    Hostile { name: "braces and parentheses that cross", text: |n| "{(})".repeat(n / 4) },
    Hostile {
        name: "an unterminated string",
        text: |n| entry(&format!("  ROOT x = f32[] parameter(0), metadata={{op_name=\"{}", "a".repeat(n))),
    },
    Hostile { name: "quotation marks", text: |n| entry(&"\"".repeat(n | 1)) },
    Hostile { name: "unterminated comments", text: |n| "/*".repeat(n / 2) },
    Hostile { name: "commas", text: |n| entry(&format!("  ROOT x = f32[] add({})", ",".repeat(n))) },
    Hostile { name: "equals signs", text: |n| entry(&"x = ".repeat(n / 4)) },
    Hostile { name: "blanks", text: |n| entry(&" ".repeat(n)) },
    Hostile { name: "line ends", text: |n| format!("HloModule m{}", "\r\n".repeat(n / 2)) },
];
