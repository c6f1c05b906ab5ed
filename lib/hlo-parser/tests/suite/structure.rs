//! Tests of unusual module structures: the texts that XLA's parser accepts, and how they are printed.

use hlo_ir::diag::{Source, render};
use hlo_ir::print::{PrintOptions, print_module};
use hlo_parser::parse_module;

/// Returns the printed form of `text` without its first line, blank lines and indentation.
fn printed(text: &str) -> String {
    let module = parse_module(text).unwrap_or_else(|diags| {
        let source = Source { name: "m.hlo".into(), text: text.into() };
        panic!("{}", diags.iter().map(|d| render(d, &source, false)).collect::<String>())
    });
    let printed = print_module(&module, &PrintOptions::default());
    let again = parse_module(&printed).unwrap_or_else(|d| panic!("{printed}: {}", d[0].message));
    assert_eq!(print_module(&again, &PrintOptions::default()), printed);
    // Default layouts are tested with the printer.
    let printed = printed.replace("]{0}", "]");
    let lines = printed.lines().skip(1).map(str::trim).filter(|l| !l.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the errors of `text`: their offset, message, labels and notes.
fn refused(text: &str) -> String {
    let diags = match parse_module(text) {
        Ok(_) => panic!("no error in {text}"),
        Err(diags) => diags,
    };
    let line = |d: &hlo_ir::diag::Diag| {
        let at = d.labels.iter().find(|l| l.primary).map_or(0, |l| l.span.start as usize);
        let labels = d.labels.iter().filter(|l| !l.message.is_empty()).map(|l| format!("; {}", l.message));
        let notes = d.notes.iter().map(|n| format!("; {n}"));
        format!("{at}: {}{}", d.message, labels.chain(notes).collect::<String>())
    };
    diags.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A name with `%` needs no blank before `=`, and a colon may follow a name without `%`.
#[test]
fn names_as_older_texts_have_them() {
    let text = "HloModule m:\nf: { %x=f32[] parameter(0) }\n\
                ENTRY e: (a f32[], b: f32[]) -> f32[] { %a=f32[] parameter(0) b: = f32[] parameter(1)\n\
                %c= f32[] add(%a, b)  ROOT %d=f32[] call(%c), to_apply={ ROOT %y=f32[] parameter(0) } }";
    let printed = printed(text);
    for line in
        ["ENTRY %e (a: f32[], b: f32[]) -> f32[] {", "%a = f32[] parameter(0)", "%c = f32[] add(%a, %b)"]
    {
        assert!(printed.lines().any(|l| l == line), "{line}: {printed}");
    }
    assert!(refused("HloModule m ENTRY e { x= f32[] parameter(0) }").contains("a blank goes before the `=`"));
}

/// As in XLA, a number without braces is the first element of an array.
#[test]
fn values_that_are_not_whole() {
    let text = "HloModule m ENTRY e { a = f32[3] constant(2) b = s32[2,2] constant(-1) c = pred[2] constant(true)\n\
                ROOT t = (f32[3], s32[2,2], pred[2]) tuple(a, b, f32[3], c) }";
    let printed = printed(text);
    for part in
        ["constant({2, 0, 0})", "constant({ { -1, 0 }, { 0, 0 } })", "constant({1, 0})", "tuple(%a, %b, %c)"]
    {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let Ok(parsed) = hlo_parser::parse(text) else { panic!("refused") };
    let codes: Vec<_> = parsed.warnings.iter().filter_map(|d| d.code).collect();
    assert_eq!(codes, ["W0006", "W0006", "W0006", "W0007"]);
}

#[test]
fn headerless_module_that_starts_with_entry() {
    let text =
        "f { x = f32[] parameter(0) }\nENTRY e { a = f32[] parameter(0) ROOT c = f32[] call(a), to_apply=f }";
    assert_eq!(parse_module(text).map(|m| m.name.to_string()).ok().as_deref(), Some("module_e"));
    let text = "// first\nENTRY e {\n  ROOT a = f32[] parameter(0)\n}\n";
    assert_eq!(printed(text), "ENTRY %e (a: f32[]) -> f32[] {\nROOT %a = f32[] parameter(0)\n}");
}

#[test]
fn headerless_module_that_starts_with_a_name() {
    assert_eq!(
        printed("%f { x = f32[] parameter(0) }"),
        "ENTRY %f (x: f32[]) -> f32[] {\nROOT %x = f32[] parameter(0)\n}"
    );
}

#[test]
fn single_instruction() {
    let expected = "ENTRY %_ (x: f32[10], y: f32[10]) -> f32[10] {\n%x = f32[10] parameter(0)\n\
                    %y = f32[10] parameter(1)\nROOT %_ = f32[10] add(%x, %y)\n}";
    assert_eq!(printed("f32[10] add(f32[10] x, f32[10] y)"), expected);
    assert_eq!(
        printed("ROOT %foo = f32[10] add(f32[10] %x, f32[10] %y)"),
        expected.replace("ROOT %_", "ROOT %foo")
    );
}

#[test]
fn single_instruction_with_operands_that_have_shapes_only() {
    assert_eq!(
        printed("foo = add(f32[10], f32[10])"),
        "ENTRY %_ (_0: f32[10], _1: f32[10]) -> f32[10] {\n%_0 = f32[10] parameter(0)\n\
         %_1 = f32[10] parameter(1)\nROOT %foo = f32[10] add(%_0, %_1)\n}"
    );
}

#[test]
fn single_instruction_that_uses_an_operand_twice() {
    let expected = "ENTRY %_ (x: f32[2]) -> f32[2] {\n%x = f32[2] parameter(0)\n\
                    ROOT %foo = f32[2] add(%x, %x)\n}";
    assert_eq!(printed("foo = f32[2] add(f32[2] x, x)"), expected);
    assert_eq!(printed("foo = f32[2] add(f32[2] x, f32[2] x)"), expected);
}

#[test]
fn single_instruction_with_inline_computations() {
    let text = "foo = f32[] while(f32[] x), condition={ a = f32[] parameter(0) ROOT c = pred[] constant(true) }, \
                body={ a = f32[] parameter(0) ROOT c = f32[] negate(a)}";
    assert!(
        printed(text).ends_with("ROOT %foo = f32[] while(%x), condition=%_.1, body=%_.2\n}"),
        "{}",
        printed(text)
    );
}

#[test]
fn single_instruction_whose_operands_have_no_shapes() {
    assert_eq!(
        refused("foo = f32[2] add(x, y)"),
        "17: the operand `x` has no shape; its shape goes before it, as in `f32[2] x`; \
         the operands of a single instruction become parameters\n\
         20: the operand `y` has no shape; its shape goes before it, as in `f32[2] x`; \
         the operands of a single instruction become parameters"
    );
}

#[test]
fn single_instruction_with_text_after_it() {
    assert_eq!(
        refused("x = f32[] parameter(0)\n y = f32[] negate(x)"),
        "24: expected the end of the text after a single instruction, found `y`; \
         a module starts with `HloModule` and its name"
    );
}

#[test]
fn nested_operands() {
    let text = "HloModule m\nENTRY e { ROOT c = add(f32[] parameter(0), maximum(f32[] parameter(1), f32[] constant(2))) }";
    assert_eq!(
        printed(text),
        "ENTRY %e (parameter.anon: f32[], parameter.anon.1: f32[]) -> f32[] {\n\
         %parameter.anon = f32[] parameter(0)\n%parameter.anon.1 = f32[] parameter(1)\n\
         %constant.anon = f32[] constant(2)\n%maximum.anon = f32[] maximum(%parameter.anon.1, %constant.anon)\n\
         ROOT %c = f32[] add(%parameter.anon, %maximum.anon)\n}"
    );
}

#[test]
fn inline_computations() {
    let text = "HloModule m\nENTRY e { i = s32[] parameter(0) a = f32[] parameter(1) \
                ROOT c = f32[] conditional(i, a, a), branch_computations={{ x = f32[] parameter(0) },{ y = f32[] parameter(0) }} }";
    assert!(printed(text).contains("branch_computations={%_, %_.1}"), "{}", printed(text));
}

#[test]
fn inline_computations_in_inline_computations() {
    let text = "HloModule m\nENTRY e { a = f32[] parameter(0) ROOT c = f32[] call(a), to_apply={ b = f32[] parameter(0) \
                ROOT d = f32[] call(b), to_apply={ ROOT x = f32[] parameter(0) } } }";
    assert_eq!(printed(text).matches("to_apply=").count(), 2);
}

#[test]
fn compact_get_tuple_element() {
    let text = "HloModule m\nENTRY e { t = (f32[], (s32[])) parameter(0) ROOT x = s32[] negate(t#1#0) }";
    assert_eq!(printed(text).matches("get-tuple-element(").count(), 2);
}

#[test]
fn strings_in_single_quotes() {
    let text =
        "HloModule m\nENTRY e { a = f32[] parameter(0), metadata={op_name='x{\"(' source_file=\"a'b\"} }";
    assert_eq!(printed(text).matches("parameter(0), metadata=").count(), 1);
}

#[test]
fn strings_over_line_ends() {
    let text = "HloModule m\nENTRY e {\n  a = f32[] parameter(0), metadata={op_name=\"x\n  b = y\"}\n}";
    assert_eq!(parse_module(text).map(|m| m.instruction_capacity()).ok(), Some(1));
}

#[test]
fn comments_line_ends_and_the_byte_order_mark() {
    let expected = "ENTRY %e (a: f32[]) -> f32[] {\nROOT %a = f32[] parameter(0)\n}";
    for text in [
        "HloModule /*a*/ m // x\r\nENTRY e { // y\ra = f32[] /* z */ parameter(0) }\r",
        "\u{feff}HloModule m\nENTRY e { a = f32[] parameter(0) }\n",
        "/* a /* b */ HloModule m ENTRY e { a =f32[]parameter ( 0 ) }",
    ] {
        assert_eq!(printed(text), expected, "{text}");
    }
}

#[test]
fn blanks_in_shapes() {
    let text = "HloModule m\nENTRY e { p = ( f32 [ 4 ] { 0 } , s32[] ) parameter(0) }";
    assert!(printed(text).contains("ROOT %p = (f32[4], s32[]) parameter(0)"));
}

#[test]
fn commas_between_operands() {
    let text = "HloModule m\nENTRY e { a = f32[] parameter(0) ROOT c = f32[] add(,a,, a,) }";
    assert!(printed(text).contains("add(%a, %a)"));
}

#[test]
fn names_with_a_percent_sign() {
    let text = "HloModule %m\nENTRY %true { %inf = f32[] parameter(0) %ROOT = f32[] negate(%inf) ROOT tuple = f32[] negate(ROOT) }";
    assert!(printed(text).contains("ROOT %tuple = f32[] negate(%ROOT)"));
}

#[test]
fn reserved_words_as_names() {
    assert_eq!(
        refused("HloModule true\nENTRY maximal { inf = f32[] parameter(0) }"),
        "10: `true` is a reserved word; not a name; with a `%` it is a name: `%true`\n\
         21: `maximal` is a reserved word; not a name; with a `%` it is a name: `%maximal`\n\
         31: `inf` is a reserved word; not a name; with a `%` it is a name: `%inf`"
    );
}

#[test]
fn types_as_names() {
    assert_eq!(
        refused("HloModule m\nENTRY e { f32 = f32[] parameter(0) %pred = f32[] negate(%f32) }"),
        "22: `f32` is a type; not a name; call it `f32_`\n\
         47: an instruction can't be called `pred`: it is a type; call it `pred_`"
    );
    // A computation is renamed.
    assert!(printed("HloModule m\nENTRY %f32 { a = f32[] parameter(0) }").starts_with("ENTRY %f32_ ("));
}

#[test]
fn names_with_two_underscores() {
    assert!(printed("HloModule m\nENTRY e { __xla_a = f32[] parameter(0) }").contains("%__xla_a"));
    assert!(printed("HloModule m\nENTRY __c { a = f32[] parameter(0) }").starts_with("ENTRY %a_c ("));
    assert_eq!(
        refused("HloModule m\nENTRY e { __a = f32[] parameter(0) }"),
        "22: an instruction can't be called `__a`: names with `__` are the compiler's; call it `a_a`"
    );
}

#[test]
fn signatures() {
    // The parameters are not compared, but the result is.
    let text = "HloModule m\nENTRY e (zz: f32[2], q: s32[]) -> f32[] { a = f32[] parameter(0) }";
    assert!(printed(text).starts_with("ENTRY %e (a: f32[]) -> f32[] {"));
    assert_eq!(
        refused("HloModule m\nENTRY e (a: f32[]) -> f32[3] { a = f32[] parameter(0) }"),
        "34: the signature gives the result `f32[3]`, but the root has `f32[]`; the signature; the root"
    );
}

#[test]
fn the_entry() {
    let text = "HloModule m\ne { a = f32[] parameter(0) }\nf { b = f32[] parameter(0) }";
    assert!(printed(text).contains("ENTRY %f "), "the last one");
    assert_eq!(
        refused("HloModule m\nENTRY e { a = f32[] parameter(0) }\nENTRY f { a = f32[] parameter(0) }"),
        "47: the module has two entry computations; the second one; the first one"
    );
}

#[test]
fn the_root() {
    let text = "HloModule m\nENTRY e { ROOT a = f32[] parameter(0) b = f32[] negate(a) }";
    assert!(printed(text).contains("ROOT %a = f32[] parameter(0)"));
    assert_eq!(
        refused("HloModule m\nENTRY e { ROOT a = f32[] parameter(0) ROOT b = f32[] negate(a) }"),
        "50: a computation has one root; the second one; the first one"
    );
}

#[test]
fn an_execution_thread() {
    let text = "HloModule m\nENTRY e { a = f32[] parameter(0) }, execution_thread=\"host\"";
    assert!(printed(text).ends_with("}, execution_thread=\"host\""));
    let nameless = text.replace("host", "");
    assert!(printed(&nameless).ends_with("}, execution_thread=\"\""));
    let main = text.replace("host", "main");
    assert!(printed(&main).ends_with('}'));
}

#[test]
fn omitted_shapes() {
    let text = "HloModule m\nENTRY e { a = f32[4] parameter(0) b = add(a, a) ROOT c = negate(b) }";
    assert!(printed(text).contains("ROOT %c = f32[4] negate(%b)"));
}

#[test]
fn asynchronous_short_forms() {
    let text = "HloModule m\nENTRY e { p = f32[4] parameter(0) \
                s = ((f32[4]), f32[8], u32[]) custom-call-start(p), custom_call_target=\"foo\", metadata={op_name=\"x\"} \
                u = ((f32[4]), f32[8], u32[]) custom-call-update(s) ROOT d = f32[8] custom-call-done(u) }";
    let module = parse_module(text).unwrap_or_else(|d| panic!("{}", d[0].message));
    let opcodes: Vec<_> = module
        .computations()
        .flat_map(|c| module[c].instructions())
        .map(|&i| module[i].opcode().name())
        .collect();
    assert_eq!(
        opcodes,
        ["parameter", "async-start", "async-update", "async-done", "parameter", "custom-call"]
    );
    assert_eq!(printed(text).matches("custom_call_target=\"foo\"").count(), 1);
}

/// Matches jaxlib 0.10.2, which however prints the statistics twice.
#[test]
fn what_asynchronous_instructions_say_of_their_operation() {
    let text = "HloModule m
c { p = f32[4] parameter(0) a = f32[4] abs(p), origin={{\"a\"}}
    ROOT n = f32[4] negate(a), metadata={op_name=\"own\"}, origin={{\"own\"}}, statistics={visualizing_index=0,own=1} }
ENTRY e { p = f32[4] parameter(0)
  s = ((f32[4]), f32[4], u32[]) async-start(p), calls=c, origin={{\"s\"}}, sharding={manual}
  u = ((f32[4]), f32[4], u32[]) async-update(s), statistics={visualizing_index=0,u=2}
  ROOT d = f32[4] async-done(u), origin={{\"d\"}} }";
    let root =
        "negate(%a), statistics={visualizing_index=0,u=2}, origin={{\"d\"}}, metadata={op_name=\"own\"}\n";
    let once = printed(text);
    assert!(once.contains(root), "{once}");
    assert!(once.contains("abs(%p), origin={{\"a\"}}\n"), "{once}");
    assert_eq!(printed(&once), once);
}

/// The short form cannot express attributes of the wrapped operation.
#[test]
fn asynchronous_operations_with_attributes_of_their_own() {
    let form = |own: &str, start: &str| {
        printed(&format!(
            "HloModule m
c {{ p = f32[4] parameter(0) ROOT n = f32[4] negate(p){own} }}
ENTRY e {{ p = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) async-start(p), calls=c{start}
  ROOT d = f32[4] async-done(s) }}"
        ))
    };
    let metadata = ", metadata={op_name=\"x\"}";
    assert!(form("", metadata).contains("negate-start"));
    assert!(form(metadata, metadata).contains("negate-start"));
    assert!(form(metadata, "").contains("async-start(%p), calls=%c\n"));
    assert!(
        form(", sharding={manual}", ", sharding={manual}").contains("async-start(%p), calls=%c, sharding")
    );
}

#[test]
fn asynchronous_forms_of_another_opcode_than_the_start() {
    let text = "HloModule m\nENTRY e { p = f32[4] parameter(0) \
                s = ((f32[4], f32[4]), f32[4], u32[]) add-start(p, p) ROOT d = f32[4] multiply-done(s) }";
    assert_eq!(refused(text), "116: the asynchronous operation is `add`, not `multiply`; started here");
}

#[test]
fn asynchronous_forms_of_what_has_its_own_or_none() {
    for opcode in ["send-update", "parameter-start", "async-start-start", "copy-update"] {
        let text = format!("HloModule m\nENTRY e {{ p = f32[4] parameter(0) ROOT s = f32[4] {opcode}(p) }}");
        assert!(refused(&text).contains("unknown opcode"), "{opcode}");
    }
}

#[test]
fn blanks_before_the_equals_sign_of_an_attribute() {
    assert_eq!(
        refused(
            "HloModule m\nENTRY e { a = f32[4] parameter(0) ROOT c = f32[4] reverse(a), dimensions = {0} }"
        ),
        "84: the `=` of the attribute `dimensions` does not follow at once; no blank goes here: `dimensions=…`"
    );
}

#[test]
fn a_second_module() {
    assert_eq!(
        refused(
            "HloModule m\nENTRY e { a = f32[] parameter(0) }\nHloModule n\nENTRY e { a = f32[] parameter(0) }"
        ),
        "47: a second module starts here; modules of one text are separated by lines `// -----`, \
         and read with --split-input-file"
    );
}

#[test]
fn stack_frame_tables_with_any_numbers() {
    // As in XLA, the positions of entries count and their numbers are ignored. Commas are optional.
    let text = "HloModule m\nFileNames\n5 \"a.py\"\n3 \"b.py\"\nFunctionNames\n9 \"f\"\nFileLocations\n\
                4 {file_name_id=1, function_name_id=1, line=3, end_line=3, column=1, end_column=9}\nStackFrames\n\
                1 {parent_frame_id=1 file_location_id=1}\nENTRY e { a = f32[] parameter(0), metadata={stack_frame_id=1} }";
    let printed = printed(text);
    assert!(printed.starts_with("FileNames\n1 \"a.py\"\n2 \"b.py\"\nFunctionNames\n1 \"f\""), "{printed}");
}

#[test]
fn computations_that_are_defined_later() {
    assert_eq!(
        refused(
            "HloModule m\nENTRY e { a = f32[] parameter(0) ROOT c = f32[] call(a), to_apply=f }\nf { x = f32[] parameter(0) }"
        ),
        "78: no computation `f` is defined before this point; \
         it is defined here: a computation comes before its uses"
    );
}

#[test]
fn operands_of_another_computation() {
    assert_eq!(
        refused("HloModule m\nf { x = f32[] parameter(0) }\nENTRY e { ROOT c = f32[] negate(x) }"),
        "73: no instruction `x` is defined in computation `e`; \
         computation `f` has a `x`, but operands are of the same computation"
    );
}

#[test]
fn stack_frame_tables_are_data() {
    // Comments are ignored, strings are decoded, and fields are ordered.
    let text = "HloModule m\nFileNames\n1 'a.py'\n2 \"b\\303.py\" /* c */\n3 \"a.py\"\nFunctionNames\n1 \"f\"\n\
                FileLocations\n1 {/*file_name_idé*/ file_name_id=1 /*line=7*/ function_name_id=1 column=-1 \
                end_column=9 line=3 end_line=3}\n2 {file_name_id=3 function_name_id=1 line=3 end_line=3 column=-1 \
                end_column=9}\n3 {file_name_id=2 function_name_id=1 line=3 end_line=3 column=1 end_column=9}\n\
                StackFrames\n1 {/*é*/file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2 \
                parent_frame_id=1}\n3 {file_location_id=3 parent_frame_id=2}\nENTRY e {\n  \
                a = f32[] parameter(0), metadata={stack_frame_id=2}\n  \
                ROOT b = f32[] negate(a), metadata={stack_frame_id=3}\n}";
    let mut module = parse_module(text).unwrap();
    module.renumber_stack_frames();
    let printed = print_module(&module, &PrintOptions::default());
    let tables = "\nFileNames\n1 \"a.py\"\n2 \"b\\303.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n\
                  1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=-1 end_column=9}\n\
                  2 {file_name_id=2 function_name_id=1 line=3 end_line=3 column=1 end_column=9}\n\n\
                  StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\
                  2 {file_location_id=2 parent_frame_id=2}\n\n";
    assert!(printed.contains(tables), "{printed}");
    assert!(parse_module(&printed).unwrap().same_as(&module));
    assert_eq!(
        refused(&text.replace("column=-1 end_column", "column=3000000000 end_column")),
        "169: the number does not fit 32 bits"
    );
}

#[test]
fn elements_of_operands_have_one_spelling() {
    let text = "ENTRY e { t = (f32[2], f32[3]) parameter(0) ROOT n = f32[3] negate(t#01) }";
    assert_eq!(refused(text), "69: the number of an element has no leading zeros, found `01`");
}

#[test]
fn shapes_that_are_not_written_are_limited() {
    let wide = format!("({})", ["f32[]"; 2000].join(", "));
    let entry =
        |body: String| format!("ENTRY e {{\n  t = {wide} parameter(0)\n  k = token[] after-all()\n{body}}}");
    let outfeeds: String = (0..200).map(|n| format!("  o{n} = token[] outfeed(t, k)\n")).collect();
    let operands = ["t"; 200].join(", ");
    let wrapped =
        format!("  s = ((f32[]), f32[], u32[]) custom-call-start({operands}), custom_call_target=\"f\"\n");
    for body in [outfeeds, wrapped] {
        let refused = refused(&entry(body));
        assert!(refused.contains("the shapes that are not written have more than"), "{refused}");
    }
}

#[test]
fn arrays_without_elements_and_their_braces() {
    let text = |dims: &str| format!("ENTRY e {{ ROOT c = f32[{dims}] constant({{...}}) }}");
    assert!(printed(&text("2,0")).ends_with("ROOT %c = f32[2,0]{1,0} constant({ {}, {} })\n}"));
    assert!(printed(&text("3000000000,0")).ends_with("constant({...})\n}"));
    assert!(printed(&text("3000000000,3000000000,3000000000,0,7")).ends_with("constant({...})\n}"));
}

#[test]
fn many_bodies_in_place_of_names() {
    let bodies: Vec<String> =
        (0..50).map(|n| format!("{{ p = s32[] parameter(0) ROOT c = f32[] constant({n}) }}")).collect();
    let text = format!(
        "ENTRY e {{ i = s32[] parameter(0) ROOT r = f32[] conditional({}), branch_computations={{{}}} }}",
        ["i"; 51].join(", "),
        bodies.join(", ")
    );
    let printed = printed(&text);
    let at = |n: usize| printed.find(&format!("constant({n})")).unwrap();
    assert!((1..50).all(|n| at(n - 1) < at(n)), "{printed}");
}

#[test]
fn shardings_whose_devices_are_no_permutation_of_the_tiles() {
    // Additional dimensions can be reordered only together with the devices.
    for devices in ["<=[4]", "0,1,2,3"] {
        let sharding = format!("devices=[2,1,2,2]{devices} last_tile_dims={{replicated, manual}}");
        let text = format!("ENTRY e {{ p = f32[8,8] parameter(0), sharding={{{sharding}}} }}");
        let printed = printed(&text);
        assert!(printed.contains(&sharding), "{printed}");
    }
}
