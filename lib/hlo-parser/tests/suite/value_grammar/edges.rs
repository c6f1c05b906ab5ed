//! Short texts at the boundary of each rule, which damage rarely produces.

use super::grammar::{matches, rule};
use super::read::Target;
use super::rules::OTHERS;
use hlo_ir::ElementType;

/// Texts that a rule and its reader accept, and texts that both reject.
struct Edge {
    rule: &'static str,
    accepted: &'static [&'static str],
    rejected: &'static [&'static str],
}

const fn edge(
    rule: &'static str,
    accepted: &'static [&'static str],
    rejected: &'static [&'static str],
) -> Edge {
    Edge { rule, accepted, rejected }
}

/// Numbers, strings and names.
const WORDS: &[Edge] = &[
    edge(
        "integer",
        &["-7", "18446744073709551615", "/*c*/ 1 // c"],
        &["1.", "1e", "1E", "+1", "-", "- 1", "0x1"],
    ),
    edge("integers", &["{}", "{ -1 , 2 }"], &["{1,}", "{,1}", "{1 2}", "1", "{1,,2}"]),
    edge("integer_lists", &["{}", "{{}}", "{{1},{2,3}}"], &["{1}", "{{1},}", "{{1}{2}}"]),
    edge("boolean", &["true", "false"], &["true_", "True", "1", "truefalse", "true-"]),
    edge("booleans", &["{}", "{true, false}"], &["{true,}", "{1}", "true"]),
    edge(
        "decimal",
        &["1", "-0.5", ".5", "1.", "1e5", "1.E-5", "-.5e+5"],
        &["+1", ".", "-", "1e", "1e+", "1_0", "inf", "nan", "0x1", "1e5.", "1-", "1+", "-e5", "1x", "- 1"],
    ),
    edge(
        "quoted",
        &[
            r#""\n\r\t\a\b\f\v\\\?\'\"\0\377\x41\X4f\u00e9\U0001f600""#,
            r#"'"'"#,
            "\"a\nb\"",
            r"'\''",
            r#""//""#,
        ],
        &[
            r#""\q""#,
            r#""\x""#,
            r#""\xg""#,
            r#""\u00e""#,
            r#""\U0001f60""#,
            r#""\8""#,
            r#""a"#,
            r#"'a""#,
            r#""\""#,
            "a",
            r#""a" "b""#,
        ],
    ),
    edge(
        "callee",
        &["a", "%a", "_a.b-c", "%_"],
        &["% a", "1a", "%1a", "-a", ".a", "%%a", "", "{a}", "a b", "a,b"],
    ),
    edge("callees", &["{}", "{a, %b}"], &["{a,}", "{a b}", "{% a}", "a", "{1}"]),
    edge("predecessors", &["{}", "{a, %b}"], &["{a,}", "{a b}", "{% a}", "a", "{1}", "{a,,b}"]),
    edge(
        "config",
        &[r#""a""#, "{}", r#"{"}": {"a\"}": [1, '/*']}}"#, "{//}", "{'}"],
        &[r#"{"}"#, "{{}", "{}}", "a", r#"{"a"}"b""#],
    ),
    edge(
        "frontend_attributes",
        &["{}", r#"{a="b", "c d"={'},e.f-g='h'}"#],
        &[
            r#"{a="b",}"#,
            r#"{a ="b"}"#,
            r#"{'a'="b"}"#,
            r#"{1="b"}"#,
            "{a=b}",
            r#"{"a" ="b"}"#,
            r#"{a="b" c="d"}"#,
        ],
    ),
];

/// Shapes, literals and operations.
const OPERATIONS: &[Edge] = &[
    edge(
        "shape",
        &[
            "( f32 [ <= 2 , ? ] { 1 , 0 } , (), token [ ], opaque[] )",
            "b ( f32[2]{0} )",
            "f32[]{}",
            "f32[2]{0:}",
            "f32[2]{0:T}",
            "f32[2,2]{0,1:T(2)(*,1)()S(-1)}",
            "f32[2]{0:D(C+~)T(2)L(2)#(u8)*(s64)E(4)S(5)SC(0:)(0:-1,2)M(0)}",
        ],
        &[
            "b(token[])",
            "b((f32[]))",
            "b(b(f32[]))",
            "b(f32[], f32[])",
            "b()",
            "f32",
            "f33[]",
            "F32[]",
            "f32[2,]",
            "f32[,]",
            "f32[< =2]",
            "f32[<2]",
            "f32[2?]",
            "f32[2x]",
            "f32[2.0]",
            "token[2]",
            "(f32[],)",
            "(f32[] s32[])",
            "f32[2]{0,}",
            "f32[2]{0:S(5)T(2)}",
            "f32[2]{0:S(5)S(5)}",
            "f32[2]{0:TS(5)}",
            "f32[2]{0:TL(2)}",
            "f32[2]{0:P(f32[])}",
            "f32[2]{0:#(f32)}",
            "f32[2]{0:SC}",
            "f32[2]{0:SC(0)}",
            "f32[2]{0:M(8)SC(0:1)}",
            "f32[2]{0:D(X)}",
            "f32[2]{0:D(C~+)}",
            "f32[2]{0:E()}",
            "f32[2]{0 T(2)}",
            "f32[2]{0:T(2,)}",
        ],
    ),
    edge(
        "literal_value",
        &[
            "f32[2] {1, 2}",
            "f32[2]{0} {1, 2}",
            "( )",
            "(f32[] 1, (pred[] true))",
            "c64[] (1,2)",
            "s32[1]{0}{1}",
            "f32[2]/*c*/{/*c*/1/*c*/,/*c*/2/*c*/}",
        ],
        &["(f32[] 1,)", "f32[]", "1", "f32[] 1 2", "token[] 1", "(s32[]) (1)", "f32[] x"],
    ),
    edge(
        "full_operation",
        &[
            "f32[4] constant({inf,-inf, nan -nan,})",
            "f32[2]{0} constant({,,.5-1.,,})",
            "s32[2] constant({1-2})",
            "f32[2] constant({...,})",
            "f32[2] constant({1, ...})",
            "f32[1] constant({nan(0x1f)})",
            "c64[] constant( ( 1 , inf ) )",
            "c64[2] constant({(1,2)3})",
            "pred[3] constant({true,0,-5})",
            "(s32[], s32[]) constant((1 2))",
            "() constant( ( ) )",
            "(s32[]) constant({...})",
            "parameter( 0 )",
            "f32[] parameter(,0,)",
            "add(,a,,b,)",
            "add(f32[], f32[] )",
            "f32[] add(%a#1#0, f32[] constant(1))",
            "b (f32[]) copy(b)",
            "iota ( )",
            "add(f32[2]{0} %a, (s32[]) parameter(0))",
            "(f32[], token[]) tuple(negate(x), after-all())",
        ],
        &[
            "f32[2] constant({1, ......})",
            "f32[2] constant({... ...})",
            "f32[] constant(...)",
            "f32[] constant(nan(1))",
            "f32[] constant(nan(0xg))",
            "f32[] constant(nan(0x))",
            "f32[] constant(nan (0x1))",
            "f32[] constant(1e)",
            "f32[] constant(+1)",
            "f32[] constant(1+)",
            "f32[] constant(infx)",
            "f32[] constant(Inf)",
            "f32[] constant(1.5.)",
            "f32[] constant(true)",
            "s32[] constant(1.)",
            "s32[] constant(1e2)",
            "s32[] constant(inf)",
            "s32[] constant(1+)",
            "s32[] constant(1_)",
            "pred[] constant(true-)",
            "pred[2] constant({true-1})",
            "pred[] constant(1.0)",
            "c64[] constant((1))",
            "c64[] constant((1,2,3))",
            "c64[] constant((1,true))",
            "constant(1)",
            "f32[] constant()",
            "f32[] constant(1) x",
            "(s32[]) constant((1,))",
            "(s32[], s32[]) constant((1,,2))",
            "(s32[]) constant({.. .})",
            "f32[2] constant({1, 2)",
            "f32[] parameter()",
            "f32[] parameter(a)",
            "parameter(0, 1)",
            "parameter(f32[])",
            "add(a b)",
            "add(1)",
            "add(% a)",
            "add(a #1)",
            "add(a# 1)",
            "add(f32[] f32[] a)",
            "add(a), b",
            "%add(a)",
            "f32[] %add(a)",
            "f32[]",
            "add",
            "add(f32[] b(a))",
            "add((a))",
            "add(a,{b})",
            "b(add)",
        ],
    ),
    edge(
        "parameters",
        &["()", "( a : f32[], %b.1 (s32[], token[]) )", "(a:f32[2]{0})"],
        &[
            "(a)",
            "(a:)",
            "(f32[])",
            "(a: f32[],)",
            "(% a: f32[])",
            "(1a: f32[])",
            "(a: b: f32[])",
            "a: f32[]",
        ],
    ),
];

/// Attributes of operations.
const ATTRIBUTES: &[Edge] = &[
    edge(
        "slices",
        &["{}", "{[0:1],[ -1 : 2 : 3 ]}"],
        &["{[0]}", "{[0:1:2:3]}", "{[0:1],}", "{0:1}", "[0:1]"],
    ),
    edge(
        "padding",
        &["", "0_1", "-1_2_3x0_0"],
        &["0", "0_", "0_1x", "0_1_2_3", "0 _1", "0_ 1", "0_1 x0_1", "x", "0_1x 0_1"],
    ),
    edge(
        "window",
        &["{}", "{size=3x-3 pad=0_1x0_1}", "{pad=1_1size=1}", "{ size= 1 }"],
        &[
            "{size=}",
            "{size=3x}",
            "{size=3 x3}",
            "{size=1,pad=0_0}",
            "{pad=0}",
            "{pad=0_0_0 size=1}",
            "{x=1}",
            "{size =1}",
            "size=1",
        ],
    ),
    edge(
        "dim_labels",
        &["b01f_01io->b01f", "bf_io->fb", "b?0f_0?io->?b0f"],
        &[
            "b_io->bf",
            "bf_i->bf",
            "bf_io->b",
            "bf_io",
            "b f_io->bf",
            "bf_io -> bf",
            "bx_io->bf",
            "bf_bf->bf",
            "bf_io->bf x",
            "",
        ],
    ),
    edge("precisions", &["{}", "{HIGH, default,Highest}"], &["{high,}", "{highx}", "high"]),
    edge(
        "sparsity_config",
        &["{}", "{lhs={sparsity=2x4,dimension=1 stride=1},rhs={idx=2}}", "{lhs={}rhs={}}"],
        &[
            "{lhs=}",
            "{,lhs={}}",
            "{lhs={sparsity=2}}",
            "{lhs={sparsity=2 x4}}",
            "{lhs={sparsity=2x 4}}",
            "{lhs={sparsity=2x4x8}}",
        ],
    ),
    edge(
        "contraction",
        &[
            "{() = ()}",
            "{(d0,-2*d1+3) += (d0) * (d1*2), d0 - d1 < -5, 3 < 4}",
            "{(d0) >= (d0) == (d0) ? (d0)}",
            "{(d0) *= (d0) + (d0)}",
            "{(d0) <= (3 * d0)}",
        ],
        &[
            "{(d0) (d0)}",
            "{(d0) == (d0)}",
            "{(d0) = (d0) * (d0) ? (d0)}",
            "{(d0) = (d0) == (d0) ? (d0) ? (d0)}",
            "{(d0) = (d0) *}",
            "{(d0) = (2*3)}",
            "{(d0) = (d0*d1)}",
            "{(d0) = (d 0)}",
            "{(d0) = (--d0)}",
            "{(d0) = (d0-)}",
            "{(d0) = (d0),}",
            "{(d0) = (d0), d0 < d1}",
            "{(d0) = (d0), d0 <= 1}",
            "{(d0,) = (d0)}",
            "{(d0) = (d0)",
        ],
    ),
    edge(
        "input_output_aliases",
        &["{}", "{ {0}: (1, {}, may-alias), {}:(0,{1},must-alias), {1}: (0, {}), }"],
        &[
            "{{0}: (1)}",
            "{{0}: (1, {}, alias)}",
            "{{0}: (1, {},)}",
            "{,}",
            "{{0} (1, {})}",
            "{{0}: (1, {}) {1}: (1, {})}",
        ],
    ),
    edge(
        "buffer_donors",
        &["{}", "{ (0, {}), (1, {0}), }"],
        &["{(0)}", "{(0, {}) (1, {})}", "{,}", "{(0,{},may-alias)}"],
    ),
    edge(
        "operand_aliases",
        &["{}", "{{0}: (1, {}), {}: (0,{1}),}"],
        &["{{0}: (1, {}, may-alias)}", "{{0}: 1}", "{,}"],
    ),
    edge(
        "statistics",
        &["{}", "{visualizing_index=-1,a=1.5,\"b c\"=.5}"],
        &[
            "{a=1}",
            "{visualizing_index=0,}",
            "{visualizing_index=1.5}",
            "{visualizing_index=0,a =1}",
            "{visualizing_index=0 a=1}",
        ],
    ),
    edge(
        "result_accuracy",
        &["{mode=DEFAULT}", "{mode=highest}", "{tolerance={}}", "{tolerance={atol=1e-3,rtol=0,ulps=2}}"],
        &[
            "{}",
            "{mode=high}",
            "{tolerance={atol=1,}}",
            "{tolerance={ulps=1.5}}",
            "{mode=default,tolerance={}}",
            "{mode =default}",
        ],
    ),
    edge(
        "metadata",
        &[
            "{}",
            r#"{,op_type="a",op_name='b' source_file="c"source_line=1,profile_type={1}stack_frame_id=2}"#,
        ],
        &[
            r#"{op_name="a",}"#,
            r#"{op_name="a",,op_type="b"}"#,
            "{,}",
            "{op_name=a}",
            "{name=\"a\"}",
            "{source_line=1.5}",
            "{op_name =\"a\"}",
        ],
    ),
    edge(
        "origin",
        &["{}", "{{}}", r#"{({"a" {0,1}},{ },())}"#, "{[ synthetic_call ]}"],
        &["{[call]}", "{\"a\"}", "{{a}}", "{{\"a\" 0}}", "{({},)}", "{{},{}}", "{({} {})}"],
    ),
    edge(
        "domain",
        &[
            r#"{kind="sharding", entry={replicated}, exit={manual}}"#,
            r#"{exit={}, entry={}, kind='sharding'}"#,
        ],
        &[
            "{}",
            r#"{kind="sharding", entry={replicated}, exit={manual},}"#,
            r#"{kind=sharding, entry={}, exit={}}"#,
        ],
    ),
];

/// Attributes of modules, shardings and tables.
const SHARDINGS: &[Edge] = &[
    edge(
        "entry_layout",
        &["{()->f32[]}", "{ (f32[2]{0}, token[]) -> (f32[]) }"],
        &["{f32[]->f32[]}", "{()}", "{() - > f32[]}", "{()->}", "()->f32[]"],
    ),
    edge("propagation_allowed", &["true", "{true,false}", "{}"], &["{true,}", "1", "true,false"]),
    edge(
        "origin_recoveries",
        &["{}", r#"{ {"a"} : {"b" {0}}, "m" {} : {} }"#],
        &[
            r#"{ {"a"} : {"b"}, }"#,
            r#"{ {"a"} }"#,
            r#"{ {"a"} : {"b"}, {"c"} : {} }"#,
            r#"{ {"a"} : {"b"}, m }"#,
        ],
    ),
    edge(
        "debug_attributes",
        &["{}", r#"{ {"x"}:({log_mode=default callback_id=1,partitioned=true,op_id=3,}{}), {}:() }"#],
        &[
            "{ {}:({log_mode=x}) }",
            "{ {}:{} }",
            "{ {}:({partitioned=1}) }",
            "{ {}:({op_id=true}) }",
            "{,}",
            "{ {}:(,) }",
        ],
    ),
    edge(
        "sharding",
        &[
            "{}",
            "{replicated}",
            "{maximal device = 3}",
            "{{manual}, {unknown shard_as -1}}",
            "{devices=[2,1]0,1}",
            "{devices=[2]<=[2]}",
            "{last_tile_dims={manual,replicated} devices=[1,2,2]<=[2,2]T(1,0)}",
            "{replicated metadata={{},{}}}",
            "{unreduced metadata={}}",
            "{mesh[]replicated}",
            "{mesh['x'=2] , [{'x'},{}]}",
            "{mesh['x'=2,\"y\"=4], device_ids=([8]), [{ ? },{'y':(2)2,?}], unreduced=max{'x'}}",
            "{mesh['x'=2], device_ids=(1,0) manual, metadata={}}",
            "{maximal_mesh[device_id=3], metadata={{}}}",
            "{mesh['x'=2], []}",
        ],
        &[
            "{replicated,manual}",
            "{replicatedmanual}",
            "{maximal device 0}",
            "{shard_as}",
            "{shard_as1 replicated}",
            "{devices=[]0,1}",
            "{devices=[2]<=[2]T(0)}",
            "{devices=[2,2]<=[2,2]}",
            "{devices=[2]0,}",
            "{devices=[2]<=[2,1]T()}",
            "{devices=[2]}",
            "{replicated metadata={{},}}",
            "{replicated last_tile_dims=manual}",
            "{{manual},}",
            "{{manual} {manual}}",
            "{{manual},{{manual}}}",
            "{mesh['x'=2]}",
            "{mesh[x=2], []}",
            "{mesh['x'=2],, []}",
            "{mesh['x'=2], [{'x'}], }",
            "{mesh['x'=2], [{?,'x'}]}",
            "{mesh['x'=2], [{'x' ?}]}",
            "{mesh['x'=2], [{'x':2}]}",
            "{mesh['x'=2], ['x']}",
            "{mesh['x'=2], [{}], unreduced=avg{}}",
            "{mesh['x'=2], [{}], replicated}",
            "{mesh['x'=2], device_ids=(), []}",
            "{mesh['x'=2], manual, replicated={}}",
            "{maximal_mesh[3]}",
            "replicated",
        ],
    ),
    edge(
        "replica_groups",
        &[
            "{}",
            "{{0,1},{}}",
            "[2,4] <= [4,2] T (1,0)",
            "[1,8]<=[8]",
            "mesh['x'=2], {'x'}",
            "mesh['x'=2]{'x'}",
            "mesh['x'=2], device_ids=([2]) {'x'}",
        ],
        &[
            "{0,1}",
            "[2]<=[2]",
            "[2,2,2]<=[8]",
            "[2,4]<=[4,2]",
            "[2,4]<=[8]T(0)",
            "[2,4]=[8]",
            "[2,4]<=[4,2]T()",
            "mesh['x'=2]",
            "mesh['x'=2], device_ids=([2]), {'x'}",
            "mesh['x'=2] [{'x'}]",
            "mesh['x'=2],, {'x'}",
        ],
    ),
    edge(
        "source_target_pairs",
        &["{}", "{{0,1},{1,0}}"],
        &["{{0}}", "{{0,1,2}}", "{{}}", "{{0,1},}", "{0,1}"],
    ),
    edge(
        "file_location",
        &["{file_name_id=1 function_name_id=1,line = 3 end_line=3 column=1 end_column=9,}"],
        &[
            "{file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9 x=1}",
            "{,}",
            "{line=1.5}",
            "{line}",
        ],
    ),
    edge(
        "stack_frame",
        &["{file_location_id=1parent_frame_id=-1}"],
        &["{file_location_id=1,,parent_frame_id=1}", "{id=1}"],
    ),
];

/// Returns a place in a module whose values have this rule.
fn target(rule: &str) -> Target {
    let all = Target::attributes().into_iter().chain(OTHERS);
    all.into_iter()
        .find(|target| target.rule() == rule)
        .unwrap_or_else(|| panic!("no value has the rule `{rule}`"))
}

#[test]
fn rules_and_readers_agree_on_edges() {
    let mut wrong = Vec::new();
    for edge in [WORDS, OPERATIONS, ATTRIBUTES, SHARDINGS].into_iter().flatten() {
        let (target, rule) = (target(edge.rule), rule(edge.rule).expect("a rule"));
        let accepted = edge.accepted.iter().map(|text| (text, true));
        for (text, is_accepted) in accepted.chain(edge.rejected.iter().map(|text| (text, false))) {
            let (read, is_match) = (target.read(text), matches(rule, text));
            if read.is_ok() != is_accepted || is_match != is_accepted {
                wrong.push(format!(
                    "{rule:?} `{text}`: reader {read:?}, rule {is_match}, expected {is_accepted}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rules_and_readers_agree_on_element_types() {
    let (shape, operation) = (Target::Shape, Target::Operation);
    let rules = [shape, operation].map(|target| rule(target.rule()).expect("a rule"));
    for element_type in ElementType::ALL {
        // The type `s1` has only 0 and -1.
        let (ty, one) = (element_type.name(), i32::from(!element_type.is_integer()));
        for (target, rule, text) in [
            (shape, rules[0], format!("{ty}[2]")),
            (operation, rules[1], format!("{ty}[2] add({ty}[2] a, b)")),
            (operation, rules[1], format!("{ty}[2] constant({{{one}, {one}}})")),
        ] {
            assert_eq!(target.read(&text), Ok(()), "{text}");
            assert!(matches(rule, &text), "{text}");
        }
        let text = format!("{ty}x[2]");
        assert!(shape.read(&text).is_err() && !matches(rules[0], &text), "{text}");
        let layout = format!("f32[2]{{0:#({ty})}}");
        assert_eq!(shape.read(&layout).is_ok(), matches(rules[0], &layout), "{layout}");
    }
}
