//! Diagnostics for programs that violate StableHLO's rules. `STABLEHLO_TESTS=DIR` names a folder with
//! StableHLO's own tests, `stablehlo/tests`. All but a few of the invalid programs in it must be reported.

use hlo_stablehlo::{import::import, text};

/// Returns the first diagnostic of a program.
fn report(program: &str) -> Option<String> {
    let errors = match text::parse(program) {
        Ok(tree) => import(&tree).err()?,
        Err(errors) => errors,
    };
    Some(errors.first()?.message.clone())
}

#[test]
fn rules_are_reported() {
    let q = "!quant.uniform<i8:f32, 1.0:17>";
    let cases: &[(&str, &str, &str)] = &[
        (
            "%a: tensor<f32>",
            "%0 = \"stablehlo.sqrt\"(%a) {result_accuracy = #stablehlo.result_accuracy<atol = 1.0, rtol = 0.0, ulps = 4, \
             mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>",
            "`result_accuracy` of mode HIGHEST has no tolerances",
        ),
        (
            "%p: tensor<i1>, %a: tensor<f32>",
            "%0 = \"stablehlo.if\"(%p) ({ stablehlo.return %a : tensor<f32> }, { stablehlo.return %a : tensor<f32> }) \
             : (tensor<i1>) -> tensor<i32>",
            "branch 0 gives (tensor<f32>), the operation (tensor<i32>) (C3)",
        ),
        (
            "%a: tensor<f32>, %b: tensor<i32>",
            "%0 = \"stablehlo.tuple\"(%a, %b) : (tensor<f32>, tensor<i32>) -> tuple<tensor<f32>>",
            "its result is of type tuple<tensor<f32>, tensor<i32>>, found tuple<tensor<f32>> (C1)",
        ),
        (
            "%a: tuple<tensor<f32>, tensor<i32>>",
            "%0 = \"stablehlo.get_tuple_element\"(%a) {index = 0 : i32} : (tuple<tensor<f32>, tensor<i32>>) -> tensor<i32>",
            "its result is of type tensor<f32>, found tensor<i32> (C2)",
        ),
        (
            "%a: tuple<tensor<f32>>",
            "%0 = \"stablehlo.get_tuple_element\"(%a) {index = 1 : i32} : (tuple<tensor<f32>>) -> tensor<i32>",
            "element 1 is none of tuple<tensor<f32>> (C1)",
        ),
        (
            "%a: tensor<?x?xf32>, %z: tensor<f32>",
            "%0 = \"stablehlo.reduce\"(%a, %z) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %1 = stablehlo.add %x, %y : tensor<f32> \
             stablehlo.return %1 : tensor<f32> }) {dimensions = array<i64: 1>} : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xi32>",
            "result 0 has elements of f32, as its region gives, found i32 (C8)",
        ),
        (
            "%a: tensor<?x?xf32>, %z: tensor<f32>",
            "%0 = \"stablehlo.reduce\"(%a, %z) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %1 = stablehlo.add %x, %y : tensor<f32> \
             stablehlo.return %1 : tensor<f32> }) {dimensions = array<i64: 1>} : (tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>",
            "its result is of sizes [?], found tensor<?x?xf32> (C7)",
        ),
        (
            "%a: tensor<f32>",
            "%0 = \"stablehlo.abs\"(%a) : (tensor<f32>) -> tensor<f64>",
            "its result has elements of f32, found f64",
        ),
        (
            "%a: tensor<3xi32>",
            "%0 = \"stablehlo.broadcast\"(%a) {broadcast_sizes = array<i64: 2>} : (tensor<3xi32>) -> tensor<1x3xi32>",
            "its result is of sizes [2, 3], found tensor<1x3xi32>",
        ),
        (
            "%t: !stablehlo.token",
            "%0:2 = \"stablehlo.recv\"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, \
             is_host_transfer = true} : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)",
            "a channel with the host is of type 3, found 1",
        ),
        (
            "%a: tensor<1x2x3xf32>",
            "\"stablehlo.custom_call\"(%a) {call_target_name = \"foo\", operand_layouts = [dense<[0, 1, 3]> : tensor<3xindex>], \
             result_layouts = []} : (tensor<1x2x3xf32>) -> ()",
            "the layout of operand 0, [0, 1, 3], is no order of the dimensions of tensor<1x2x3xf32>",
        ),
        (
            "%a: tensor<4xf32>",
            "%s = stablehlo.constant dense<[1, 4]> : tensor<2xi64>\n\
             %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<4xf32>, tensor<2xi64>) -> tensor<3x4xf32>",
            "its result is of sizes [1, 4], found tensor<3x4xf32> (C7)",
        ),
        (
            &format!("%a: tensor<2x{q}>"),
            &format!(
                "%0 = \"stablehlo.reshape\"(%a) : (tensor<2x{q}>) -> tensor<2x1x!quant.uniform<i8:f32, 2.0:17>>"
            ),
            "its result has the scales and zero points of its operand, found tensor<2x!quant.uniform<i8:f32, 1.000000e+00:17>> \
             and tensor<2x1x!quant.uniform<i8:f32, 2.000000e+00:17>> (C3)",
        ),
        (
            "%a: tensor<2x!quant.uniform<i8:f32:0, {0.1:-30, 0.1:-30}>>",
            "%0 = \"stablehlo.cosine\"(%a) : (tensor<2x!quant.uniform<i8:f32:0, {0.1:-30, 0.1:-30}>>) \
             -> tensor<2x!quant.uniform<i8:f32:0, {0.1:-30, 0.1:-30}>>",
            "it takes and gives numbers of one scale, found tensor<2x!quant.uniform<i8:f32:0",
        ),
    ];
    for (arguments, body, expected) in cases {
        let program = format!("func.func @main({arguments}) {{\n{body}\nreturn\n}}");
        let found = report(&program).unwrap_or_default();
        assert!(found.contains(expected), "{program}\n{found}");
    }
}

#[test]
fn what_is_expected_to_be_wrong_is_reported() {
    let Some(folder) = std::env::var_os("STABLEHLO_TESTS") else { return };
    let mut missed = Vec::new();
    let mut reported = 0;
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    for path in
        entries.map(|e| e.expect("an entry").path()).filter(|p| p.extension().is_some_and(|e| e == "mlir"))
    {
        let text = std::fs::read_to_string(&path).expect("a text");
        for (number, program) in text.split("// -----").enumerate() {
            if !program.contains("expected-error") {
                continue;
            }
            match report(program) {
                Some(_) => reported += 1,
                None => missed.push(format!("{}, program {number}", path.display())),
            }
        }
    }
    // Consequences for sizes that only have bounds are not checked.
    assert!(missed.len() * 100 < reported, "{reported} are reported; not: {}", missed.join("\n"));
}
