//! Checks that every module in `test/parse/corpus` parses, and that the printed text parses to the same
//! module and prints as the same text.

use hlo_ir::Module;
use hlo_ir::diag::{Source, render};
use hlo_ir::print::{PrintOptions, print_module};
use hlo_parser::parse_module;
use std::path::Path;

fn parse(name: &str, text: &str) -> Module {
    parse_module(text).unwrap_or_else(|diags| {
        let source = Source { name: name.into(), text: text.into() };
        let shown: String = diags.iter().map(|d| render(d, &source, false)).collect();
        panic!("{shown}")
    })
}

/// Prints the module, parses it again, and returns the printed text.
fn round_trip(name: &str, text: &str) -> String {
    let module = parse(name, text);
    let printed = print_module(&module, &PrintOptions::default());
    let again = parse(&format!("{name}, printed"), &printed);
    assert_eq!(module.difference(&again), None, "{name}");
    assert!(module.same_as(&again), "{name}");
    assert_eq!(print_module(&again, &PrintOptions::default()), printed, "{name}");
    printed
}

#[test]
fn corpus() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/parse/corpus");
    let mut files: Vec<_> = std::fs::read_dir(&dir)
        .unwrap_or_else(|e| panic!("{}: {e}", dir.display()))
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "hlo"))
        .collect();
    files.sort();
    assert!(files.len() > 40, "{} has {} modules", dir.display(), files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let name = file.display().to_string();
        round_trip(&name, &text);
        // The short form only loses metadata and control predecessors.
        let module = parse(&name, &text);
        let short = print_module(&module, &PrintOptions::short());
        assert_eq!(print_module(&parse(&name, &short), &PrintOptions::short()), short, "{name}");
    }
}

/// Checks that `text` prints as itself.
fn fixed(text: &str) {
    assert_eq!(round_trip("test", text), text);
}

/// Prints a module whose entry contains `line`. Returns the printed line that starts with `%x`.
fn line(line: &str) -> String {
    let text = format!(
        "HloModule t\n\nadd {{\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}}\n\n\
         ENTRY e {{\n  a = f32[4,6] parameter(0)\n  b = f32[] constant(0)\n  i = s32[] constant(1)\n  {line}\n}}\n"
    );
    let printed = round_trip(line, &text);
    let x = printed.lines().map(str::trim).find(|l| l.trim_start_matches("ROOT ").starts_with("%x ="));
    x.unwrap_or("no %x").trim_start_matches("ROOT ").into()
}

#[test]
fn header_and_tables() {
    fixed(
        "HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }, \
         entry_computation_layout={(f32[2,3]{0,1:T(8,128)})->f32[2,3]{0,1}}, \
         allow_spmd_sharding_propagation_to_output={true}, replica_count=2, num_partitions=4, \
         frontend_attributes={a=\"x=\\\"}\\\"\",b={\"k\": [1, 2]}}

FileNames
1 \"a b.py\"

FunctionNames
1 \"f.<locals>.g\"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}


ENTRY %e (a: f32[2,3]) -> f32[2,3] {
  %a = f32[2,3]{0,1:T(8,128)} parameter(0), metadata={op_name=\"a\" stack_frame_id=1}
  ROOT %b = f32[2,3]{0,1} copy(%a)
}, execution_thread=\"host\"

",
    );
}

#[test]
fn header_attributes_print_in_xlas_order() {
    let printed = round_trip(
        "order",
        "HloModule m, num_partitions=2, replica_count=3, is_scheduled=true\nENTRY e { a = f32[] parameter(0) }",
    );
    assert!(
        printed.starts_with("HloModule m, is_scheduled=true, entry_computation_layout={(f32[])->f32[]}, replica_count=3, num_partitions=2\n"),
        "{printed}"
    );
}

#[test]
fn no_header() {
    let module = parse("", "f { a = f32[] parameter(0) } ENTRY g { b = f32[2] parameter(0) }");
    assert_eq!(&*module.name, "module_g");
    assert_eq!(&*module[module.entry()].name, "g");
    // Without `ENTRY`, the last computation is the entry.
    let module = parse("", "HloModule m f { a = f32[] parameter(0) } g { b = f32[2] parameter(0) }");
    assert_eq!(&*module[module.entry()].name, "g");
}

#[test]
fn comments_and_line_ends() {
    let text = "// one { ( \"\r\nHloModule m /* two\n{ */, replica_count=2\r\nENTRY e { // RUN: %s {{.*}}\r\n\
                a = (f32[], s32[], /*index=2*/pred[]) parameter(0) /* ) */, metadata={op_name=\"/*kept*/ //kept\"}\r\n}";
    let printed = round_trip("comments", text);
    assert!(printed.contains("metadata={op_name=\"/*kept*/ //kept\"}"), "{printed}");
    let marked = format!("\u{feff}{text}");
    assert_eq!(round_trip("byte order mark", &marked), printed);
}

#[test]
fn index_annotations() {
    fixed(
        "HloModule m, entry_computation_layout={(f32[])->(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])}

ENTRY %e (a: f32[]) -> (f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[]) {
  %a = f32[] parameter(0)
  ROOT %t = (f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[]) tuple(%a, %a, %a, %a, %a, /*index=5*/%a)
}

",
    );
}

#[test]
fn shapes() {
    for shape in [
        "f32[]",
        "f32[2,3]",
        "f32[2,3]{0,1}",
        "f32[2,3]{1,0:T(8,128)(2,1)E(4)S(5)}",
        "f32[2,3]{1,0:T(8,128)L(64)M(8)}",
        "s4[2,3]{1,0:E(4)}",
        "f32[2]{0:SC(0:10,20)}",
        "f32[]{:S(1)}",
        "f32[<=4,?]",
        "f32[<=4,2]{0,1}",
        "()",
        "(f32[], (s32[2], token[]), opaque[])",
        "b(f32[4])",
        "c64[0,3]",
        "f8e4m3b11fnuz[1]",
        "f32[9999999999,9999999999]",
    ] {
        let parsed = match hlo_parser::parse_shape(shape) {
            Ok(s) => s,
            Err(e) => panic!("{shape}: {e:?}"),
        };
        assert_eq!(format!("{parsed:#}"), shape);
        let all_layouts = parsed.with_layouts();
        assert_eq!(line(&format!("x = {shape} parameter(1)")), format!("%x = {all_layouts} parameter(1)"));
    }
    assert_eq!(line("x = f32[2,3] parameter(1)"), "%x = f32[2,3]{1,0} parameter(1)");
    assert_eq!(line("x = f32[ 2 , /* c */ 3 ] { 0 , 1 } parameter(1)"), "%x = f32[2,3]{0,1} parameter(1)");
    assert_eq!(line("x = f32[]{} parameter(1)"), "%x = f32[] parameter(1)");
}

#[test]
fn attributes() {
    for text in [
        "%x = f32[4,6,2]{2,1,0} broadcast(%a), dimensions={0,1}",
        "%x = f32[2,3]{1,0} broadcast(%b), dimensions={}",
        "%x = f32[6,4]{1,0} transpose(%a), dimensions={1,0}",
        "%x = f32[2,3]{1,0} slice(%a), slice={[0:4:2], [0:3:1]}",
        "%x = f32[8,13]{1,0} pad(%a, %b), padding=2_2_0x-1_3_1",
        "%x = f32[] pad(%b, %b), padding=",
        "%x = f32[] pad(%b, %b), padding=, metadata={op_type=\"a\"}",
        "%x = f32[3]{0} iota(), iota_dimension=0",
        "%x = f32[] reduce(%a, %b), dimensions={0,1}, to_apply=%add",
        "%x = f32[4,6]{1,0} reduce-window(%a, %b), window={size=1x2 pad=0_0x0_1}, to_apply=%add",
        "%x = f32[4,6]{1,0} custom-call(%a), custom_call_target=\"f\\\"{(\", custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI, backend_config={k = \"v}\", n = {2}}",
        "%x = f32[4,6]{1,0} add(%a, %a), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}, frontend_attributes={k=\"v\"}, control-predecessors={%a, %b}, statistics={visualizing_index=0,stat=1.5}, origin={{\"y\" {0}}}, metadata={op_type=\"a\" source_line=3}, backend_config=\"\\\"x\"",
        "%x = f32[4,6]{1,0} exponential(%a), result_accuracy={tolerance={atol=0,rtol=0.1,ulps=2}}",
        "%x = f32[8,6]{1,0} all-gather(%a), channel_id=1, replica_groups=[1,2]<=[2], dimensions={0}, use_global_device_ids=true",
        "%x = f32[8,6]{1,0} all-gather(%a), channel_id=1, replica_groups=mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)) {'y'}, dimensions={0}",
        "%x = f32[4,6]{1,0} collective-permute(%a), channel_id=1, source_target_pairs={{0,1},{1,0}}",
        "%x = f32[4,4]{1,0} dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={1}, operand_precision={highest,highest}",
        "%x = pred[4,6]{1,0} compare(%a, %a), direction=LT, type=TOTALORDER",
        "%x = f32[2,2]{1,0} dynamic-slice(%a, %i, %i), dynamic_slice_sizes={2,2}",
        "%x = f32[4,6]{1,0} reduce-precision(%a), exponent_bits=5, mantissa_bits=10",
        "%x = (f32[4,6]{1,0}, u32[]) rng-bit-generator(%i), algorithm=rng_three_fry",
        "%x = f32[4,6]{1,0} rng(%b, %b), distribution=rng_uniform",
        "%x = token[] outfeed(%a, %i), outfeed_shape=(f32[4,6]{1,0}, s32[]), outfeed_config=\"c\"",
        "%x = f32[4,6]{1,0} domain(%a), domain={kind=\"sharding\", entry={replicated}, exit={maximal device=1}}",
        "%x = f32[4,6]{1,0} custom-call(%a), custom_call_target=\"f\", literal=f32[2]{0} {1, 2}",
    ] {
        assert_eq!(line(text), text);
    }
    // The order is free, and so are blanks except before `=`.
    assert_eq!(
        line("x = f32[] reduce(a, b), to_apply= %add ,dimensions={ 0, 1 }"),
        "%x = f32[] reduce(%a, %b), dimensions={0,1}, to_apply=%add",
    );
}

/// XLA prints the padding of a scalar without a value.
#[test]
fn scalars_have_no_padding() {
    for (percent, separator) in [("%", "\n  "), ("", " "), ("", " // next\n")] {
        let lines = [
            "a = f32[] parameter(0)",
            "b = f32[] pad({}a, {}a), padding=",
            "c = f32[] pad({}b, {}a), padding=",
        ];
        let lines: Vec<String> =
            lines.iter().map(|l| format!("{percent}{}", l.replace("{}", percent))).collect();
        let text = format!("HloModule m ENTRY e {{ {} }}", lines.join(separator));
        let printed = round_trip("", &text);
        assert_eq!(printed.matches("padding=\n").count(), 2, "{printed}");
        let text =
            format!("HloModule m ENTRY e {{ {}{separator}ROOT {} }}", lines[..2].join(separator), lines[2]);
        assert_eq!(round_trip("", &text), printed);
    }
}

#[test]
fn names_with_and_without_percent() {
    let with =
        round_trip("", "HloModule m ENTRY %e { %a = f32[] parameter(0) ROOT %b = f32[] add(%a, f32[] %a) }");
    let without =
        round_trip("", "HloModule m ENTRY e { a = f32[] parameter(0) ROOT b = f32[] add(f32[] a, a) }");
    assert_eq!(with, without);
}

#[test]
fn the_last_instruction_is_the_root_if_none_is_marked() {
    let m = parse("", "HloModule m ENTRY e { a = f32[] parameter(0) b = f32[] negate(a) }");
    assert_eq!(&*m[m[m.entry()].root()].name, "b");
    let m = parse("", "HloModule m ENTRY e { ROOT a = f32[] parameter(0) b = f32[] negate(a) }");
    assert_eq!(&*m[m[m.entry()].root()].name, "a");
}

#[test]
fn shapes_are_inferred_where_they_follow() {
    assert_eq!(line("x = add(a, a)"), "%x = f32[4,6]{1,0} add(%a, %a)");
    assert_eq!(
        line("x = dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
        "%x = f32[4,4]{1,0} dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={1}"
    );
    assert_eq!(line("x = tuple(a, b)"), "%x = (f32[4,6]{1,0}, f32[]) tuple(%a, %b)");
}

#[test]
fn operations_in_place_of_operands() {
    let printed = round_trip(
        "nested",
        "HloModule m ENTRY e { a = f32[] parameter(0) ROOT x = f32[] add(f32[] parameter(1), max.1) }"
            .replace("max.1", "maximum(a, f32[] constant(2))")
            .as_str(),
    );
    assert!(printed.contains("ROOT %x = f32[] add(%parameter.anon, %maximum.anon)"), "{printed}");
    assert!(printed.contains("%maximum.anon = f32[] maximum(%a, %constant.anon)"), "{printed}");
}

#[test]
fn inline_computations() {
    let text = "HloModule m ENTRY e { a = f32[4] parameter(0) z = f32[] constant(0)
        ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply={
          p = f32[] parameter(0) // a brace: }
          q = f32[] parameter(1)
          ROOT s = f32[] add(p, q)
        } }";
    let printed = round_trip("inline", text);
    assert!(printed.contains("%_ (p: f32[], q: f32[]) -> f32[] {"), "{printed}");
    assert!(printed.contains("to_apply=%_\n"), "{printed}");
    let list = "HloModule m ENTRY e { i = s32[] parameter(0) a = f32[] parameter(1)
        ROOT c = f32[] conditional(i, a, a), branch_computations={{ p = f32[] parameter(0) }, { p = f32[] parameter(0) ROOT n = f32[] negate(p) }} }";
    let printed = round_trip("list", list);
    assert!(printed.contains("branch_computations={%_, %_.1}"), "{printed}");
}

#[test]
fn compact_tuple_elements() {
    let text = "HloModule m ENTRY e { t = (f32[], (s32[], pred[])) parameter(0) ROOT x = (pred[], f32[], pred[]) tuple(%t#1#1, %t#0, t#1#1) }";
    let printed = round_trip("compact", text);
    assert_eq!(printed.matches(" get-tuple-element(").count(), 3, "{printed}");
    assert!(
        printed.contains("%get-tuple-element.1 = pred[] get-tuple-element(%get-tuple-element), index=1"),
        "{printed}"
    );
}

#[test]
fn asynchronous_short_form() {
    let text = "HloModule m ENTRY e { a = f32[4] parameter(0)
        s = ((f32[4]), f32[4], s32[]) custom-call-start(a), async_execution_thread=\"t\", custom_call_target=\"f\"
        u = ((f32[4]), f32[4], s32[]) custom-call-update(s)
        ROOT d = f32[4] custom-call-done(u) }";
    let printed = round_trip("async", text);
    assert!(
        printed.contains("custom-call-start(%a), async_execution_thread=\"t\", custom_call_target=\"f\"\n"),
        "{printed}"
    );
}

#[test]
fn asynchronous_threads() {
    let text = "HloModule m
inner { a = f32[] parameter(0) ROOT c = f32[] negate(a) }, execution_thread=\"a\"
shared { a = f32[] parameter(0) ROOT c = f32[] negate(a) }
w { p = f32[] parameter(0)
  n = ((f32[]), f32[], u32[]) async-start(p), async_execution_thread=\"b\", calls=inner
  q = f32[] async-done(n)
  ROOT r = f32[] call(q), to_apply=shared }
v { p = f32[] parameter(0) q = f32[] negate(p) ROOT r = f32[] negate(q) }, execution_thread=\"main\"
ENTRY e { x = f32[] parameter(0)
  s = ((f32[]), f32[], u32[]) async-start(x), async_execution_thread=\"host\", calls=w
  d = f32[] async-done(s), async_execution_thread=\"host\", calls=w
  t = ((f32[]), f32[], u32[]) async-start(d), async_execution_thread=\"main\", calls=v
  ROOT z = f32[] async-done(t) }";
    let printed = round_trip("threads", text);
    // A called computation and the computations that it calls run on the thread of the start, even if the
    // text names another.
    assert_eq!(printed.matches("}, execution_thread=\"host\"").count(), 2, "{printed}");
    assert!(
        printed.contains("%n = ((f32[]), f32[], u32[]) negate-start(%p), async_execution_thread=\"host\"\n"),
        "{printed}"
    );
    assert!(printed.contains("async-start(%x), async_execution_thread=\"host\", calls=%w\n"), "{printed}");
    assert!(printed.contains("%d = f32[] async-done(%s)\n"), "{printed}");
    assert!(printed.contains("async-start(%d), calls=%v\n"), "{printed}");
}

#[test]
fn parts_of_tuples_that_are_not_written() {
    let print = |value: &str, options: &PrintOptions| {
        let text = format!("ENTRY e {{ ROOT c = (f32[4], (s32[2], f32[0]), f32[]) constant({value}) }}");
        let printed = print_module(&parse(value, &text), options);
        printed[printed.find("constant").unwrap_or(0)..].trim_end_matches("\n}\n\n").to_owned()
    };
    let full = PrintOptions::default();
    let part = "( {...}, ( {1, 2}, {} ), 3 )";
    assert_eq!(print(part, &full), format!("constant({part})"));
    assert_eq!(
        print("( {1,2,3,4}, ({...}, {...}), 3)", &full),
        "constant(( {1, 2, 3, 4}, ( {...}, {} ), 3 ))"
    );
    assert_eq!(print("{...}", &full), "constant({...})");
    let elided = PrintOptions { print_large_constants: false, ..PrintOptions::default() };
    assert_eq!(print(part, &elided), "constant({...})");
    assert_eq!(print(part, &PrintOptions::fingerprint()), "constant({...})");
}

#[test]
fn large_constants_are_elided_if_asked() {
    let text = "HloModule m ENTRY e { ROOT c = s32[11] constant({0,1,2,3,4,5,6,7,8,9,10}) }";
    let module = parse("", text);
    let options = PrintOptions { print_large_constants: false, ..PrintOptions::default() };
    let printed = print_module(&module, &options);
    assert!(printed.contains("constant({...})"), "{printed}");
    // An elided value stays elided.
    let again = parse("", &printed);
    assert!(print_module(&again, &PrintOptions::default()).contains("constant({...})"));
}
