//! Programs in forms that XLA does not write: shardings on meshes, functions without an opcode, quantized
//! types, and omitted parts of the text.

use super::{entry_ops, module};
use hlo_ir::attr::{HloString, Sharding};
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::{Module, Op};

/// Returns the text of the shardings of the entry's instructions, for those that have one.
fn shardings(module: &Module) -> Vec<String> {
    let text = print_module(module, &PrintOptions::short());
    let of_line = |line: &str| {
        let (_, rest) = line.split_once("sharding=")?;
        Some(rest[..hlo_ir::attr::dict_end(rest.as_bytes())?].to_owned())
    };
    text.lines().filter_map(of_line).collect()
}

const MESH: &str = "sdy.mesh @m = <[\"x\"=2, \"y\"=4]>\n";

#[test]
fn shardings_by_axes_become_tiles() {
    let case = |sharding: &str| {
        let text = format!(
            "{MESH}func.func @main(%x: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@m, {sharding}>}}) -> tensor<8x8xf32> {{
                return %x : tensor<8x8xf32>
            }}"
        );
        shardings(&module(&text)).join(" ")
    };
    // The expected shardings are those of jaxlib's translation.
    assert_eq!(case("[{\"x\"}, {\"y\"}]"), "{devices=[2,4]<=[8]}");
    assert_eq!(case("[{\"y\"}, {}]"), "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}");
    assert_eq!(case("[{}, {\"x\", \"y\"}]"), "{devices=[1,8]<=[8]}");
    assert_eq!(case("[{}, {}]"), "{replicated}");
    assert_eq!(case("[{\"y\":(1)2}, {\"x\"}]"), "{devices=[2,2,2]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}");
    assert_eq!(case("[{\"x\"}, {}], unreduced={\"y\"}"), "{devices=[2,1,4]<=[8] last_tile_dims={unreduced}}");
}

/// Outside of a region with manual axes, a value is the sum of the devices' summands. Inside, each device has
/// an array of its own.
#[test]
fn summands_are_arrays_within_manual_computations() {
    let text = format!(
        "{MESH}func.func @main(%x: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{}}], unreduced={{\"x\"}}>}}) -> tensor<8xf32> {{
            %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{{}}], unreduced={{\"x\"}}>] out_shardings=[<@m, [{{}}], unreduced={{\"x\"}}>] manual_axes={{\"x\", \"y\"}} (%a: tensor<8xf32>) {{
                %1 = stablehlo.negate %a : tensor<8xf32>
                sdy.return %1 : tensor<8xf32>
            }} : (tensor<8xf32>) -> tensor<8xf32>
            return %0 : tensor<8xf32>
        }}"
    );
    let found = shardings(&module(&text));
    let (outside, inside) = ("{devices=[1,2,4]<=[8] last_tile_dims={unreduced, replicated}}", "{manual}");
    assert_eq!(found, [outside, outside, inside, inside, outside]);
}

#[test]
fn configurations_are_written_as_mlir_does() {
    let text = "func.func @main() {
        stablehlo.custom_call @f() {api_version = 4 : i32, has_side_effect = true, backend_config = {
            uplo = 76 : ui8, a = [true, \"x\\22y\\0A\"], \"b c\" = 0.1 : f64, e = 1.5 : f32, h = 1.0 : f16,
            n = 0x7FC00000 : f32, sizes = array<i64: 1, 2>, u}} : () -> ()
        return
    }";
    let module = module(text);
    let configs: Vec<&str> = module[module.entry()]
        .instructions()
        .iter()
        .filter(|&&i| matches!(module[i].op, Op::CustomCall(_)))
        .filter_map(|&i| module[i].common.as_ref()?.backend_config.as_str())
        .collect();
    let expected = "{a = [true, \"x\\22y\\0A\"], \"b c\" = 1.000000e-01 : f64, e = 1.500000e+00 : f32, \
        h = 1.000000e+00 : f16, n = 0x7FC00000 : f32, sizes = array<i64: 1, 2>, u, uplo = 76 : ui8}";
    assert_eq!(configs, [expected]);
}

/// For algorithms with several products, JAX counts one component of each operand. The specification counts
/// all components.
#[test]
fn algorithms_of_several_products_have_a_name() {
    for (parts, products, name) in [
        (1, 1, "dot_bf16_bf16_f32"),
        (1, 3, "dot_bf16_bf16_f32_x3"),
        (2, 3, "dot_bf16_bf16_f32_x3"),
        (1, 6, "dot_bf16_bf16_f32_x6"),
        (3, 9, "dot_bf16_bf16_f32_x9"),
    ] {
        let text = format!(
            "func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {{
                %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = {parts}, rhs_component_count = {parts}, num_primitive_operations = {products}, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
                return %0 : tensor<2x2xf32>
            }}"
        );
        let text = print_module(&module(&text), &PrintOptions::short());
        assert!(text.contains(&format!("algorithm={name}")), "{text}");
    }
}

/// The attributes of `check.…` become attributes of a typed call.
#[test]
fn checks_are_custom_calls() {
    let module = module(
        "func.func @main(%x: tensor<2xf32>) {
            check.expect_eq_const %x, dense<1.0> : tensor<2xf32>
            check.expect_almost_eq_const %x, dense<1.0> : tensor<2xf32>, tolerance = 0.5
            check.expect_almost_eq %x, %x : tensor<2xf32>
            check.expect_close %x, %x, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
            return
        }",
    );
    let text = print_module(&module, &PrintOptions::short());
    for (target, config) in [
        ("check.expect_eq_const", "{}"),
        ("check.expect_almost_eq_const", "{tolerance = 0.5 : f64}"),
        ("check.expect_almost_eq", "{tolerance = 0.0001 : f64}"),
        ("check.expect_close", "{max_ulp_difference = 3 : ui64, min_ulp_difference = 0 : ui64}"),
    ] {
        let line = text.lines().find(|l| l.contains(&format!("custom_call_target=\"{target}\"")));
        let line = line.unwrap_or_else(|| panic!("no {target} in {text}"));
        assert!(
            line.contains("= () custom-call(") && line.contains(&format!("backend_config={config}")),
            "{line}"
        );
        assert!(line.contains("custom_call_has_side_effect=true"), "{line}");
    }
}

#[test]
fn manual_regions_are_cut_out_and_put_back() {
    let text = format!(
        "{MESH}func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {{
            %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{{\"x\"}}, {{\"y\"}}]>] out_shardings=[<@m, [{{\"x\"}}, {{\"y\"}}]>] manual_axes={{\"x\"}} (%a: tensor<4x8xf32>) {{
                %1 = sdy.sharding_constraint %a <@m, [{{}}, {{\"y\"}}]> : tensor<4x8xf32>
                sdy.return %1 : tensor<4x8xf32>
            }} : (tensor<8x8xf32>) -> tensor<8x8xf32>
            return %0 : tensor<8x8xf32>
        }}"
    );
    let module = module(&text);
    let calls: Vec<(String, String)> = entry_ops(&module)
        .into_iter()
        .filter_map(|i| match &module[i].op {
            Op::CustomCall(a) => {
                Some((a.custom_call_target.to_text().into_owned(), module[i].shape.to_string()))
            }
            _ => None,
        })
        .collect();
    let expected = [
        ("Sharding", "f32[8,8]"),
        ("SPMDFullToShardShape", "f32[4,8]"),
        ("Sharding", "f32[4,8]"),
        ("Sharding", "f32[4,8]"),
        ("SPMDShardToFullShape", "f32[8,8]"),
    ];
    assert_eq!(calls, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    let manual = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={manual}}";
    assert_eq!(shardings(&module), ["{devices=[2,4]<=[8]}", manual, manual, manual, "{devices=[2,4]<=[8]}"]);
}

#[test]
fn places_become_metadata_and_frames() {
    let text = "func.func @main(%x: tensor<f32> loc(\"a/b.c\")) -> tensor<f32> {
        %0 = stablehlo.negate %x : tensor<f32> loc(#named)
        %1 = stablehlo.abs %0 : tensor<f32> loc(\"g.py\":7:8)
        return %1 : tensor<f32>
    }
    #inner = loc(\"f\"(\"f.py\":3:5 to :9))
    #outer = loc(\"main\"(\"main.py\":1:2))
    #stack = loc(callsite(#inner at #outer))
    #named = loc(\"jit(f)/neg\"(#stack))";
    let module = module(text);
    let metadata: Vec<_> = module[module.entry()]
        .instructions()
        .iter()
        .filter_map(|&i| Some(module[i].common.as_ref()?.metadata.clone()))
        .collect();
    let [x, negate, abs] = &metadata[..] else { panic!("{metadata:?}") };
    assert_eq!(x.op_name, "a/b.c");
    assert_eq!((negate.op_name.clone(), negate.stack_frame_id), (HloString::from("jit(f)/neg"), 2));
    assert_eq!((abs.source_file.clone(), abs.source_line), (HloString::from("g.py"), 7));
    let negate = entry_ops(&module)[0];
    let line = hlo_ir::SourceFrames::of(&module).line(negate);
    assert_eq!(line.as_deref(), Some("f.py:3:5 in f, called from main.py:1:2 in main"));
    // The name of the parameter is the last part of the argument's name.
    let parameter = module.parameters(module.entry())[0];
    assert!(module[parameter].name.starts_with("b.c."), "{}", module[parameter].name);
}

#[test]
fn layouts_and_memory_are_in_the_header() {
    let text = "func.func @main(%x: tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}, %y: tensor<2xf32> {mhlo.memory_kind = \"pinned_host\"}) -> (tensor<2x3xf32> {mhlo.layout_mode = \"default\"}) {
        return %x : tensor<2x3xf32>
    }";
    let text = print_module(&module(text), &PrintOptions::default());
    assert!(
        text.contains("entry_computation_layout={(f32[2,3]{0,1}, f32[2]{0:S(5)})->f32[2,3]{1,0}}"),
        "{text}"
    );
}

#[test]
fn who_chooses_the_layouts_of_results_is_in_the_header() {
    let text = "func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32> {mhlo.layout_mode = \"auto\"}, tensor<2x3xf32>) {
        return %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
    }";
    let text = print_module(&module(text), &PrintOptions::default());
    assert!(text.contains("frontend_attributes={out_layout_modes={auto;default}}"), "{text}");
}

#[test]
fn sizes_as_operands_become_attributes() {
    let text = "func.func @main(%x: tensor<1x4xf32>, %n: tensor<2xi64>) -> (tensor<3x4xf32>, tensor<2x2xi32>, tensor<4x1xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<3x6xf32>) {
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] : (tensor<1x4xf32>, tensor<2xi64>) -> tensor<3x4xf32>
        %1 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<2xi64>) -> tensor<2x2xi32>
        %2 = stablehlo.dynamic_reshape %x, %n : (tensor<1x4xf32>, tensor<2xi64>) -> tensor<4x1xf32>
        %a = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
        %b = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
        %c = stablehlo.constant dense<1> : tensor<2xi64>
        %3 = stablehlo.real_dynamic_slice %x, %a, %b, %c : (tensor<1x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x2xf32>
        %4 = stablehlo.real_dynamic_slice %x, %n, %n, %c : (tensor<1x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x2xf32>
        %d = stablehlo.constant dense<0> : tensor<2xi64>
        %5 = stablehlo.dynamic_pad %x, %zero, %c, %c, %d : (tensor<1x4xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x6xf32>
        return %0, %1, %2, %3, %4, %5 : tensor<3x4xf32>, tensor<2x2xi32>, tensor<4x1xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<3x6xf32>
    }";
    let module = module(text);
    let names: Vec<&str> = entry_ops(&module).into_iter().map(|i| module[i].op.name()).collect();
    let expected = [
        "reshape",
        "broadcast",
        "iota",
        "reshape",
        "slice",
        "slice",
        "reshape",
        "slice",
        "reshape",
        "dynamic-slice",
    ];
    assert_eq!(names[..expected.len()], expected);
    assert_eq!(names[expected.len()..], ["constant", "pad", "tuple"]);
}

#[test]
fn an_early_version_had_operations_of_its_own() {
    let text = "func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %i: tensor<5xi32>) -> (tensor<4x2xf32>, tensor<3xf32>, tensor<5x3xf32>, tensor<6x2x3xf32>) {
        %0 = \"stablehlo.einsum\"(%a, %b) {einsum_config = \"ij,jk->ki\"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
        %1 = \"stablehlo.unary_einsum\"(%a) {einsum_config = \"ij->j\"} : (tensor<2x3xf32>) -> tensor<3xf32>
        %2 = \"stablehlo.torch_index_select\"(%a, %i) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<5xi32>) -> tensor<5x3xf32>
        %3 = \"stablehlo.broadcast\"(%a) {broadcast_sizes = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6x2x3xf32>
        return %0, %1, %2, %3 : tensor<4x2xf32>, tensor<3xf32>, tensor<5x3xf32>, tensor<6x2x3xf32>
    }";
    let module = module(text);
    let names: Vec<&str> = entry_ops(&module).into_iter().map(|i| module[i].op.name()).collect();
    assert_eq!(names, ["dot", "transpose", "constant", "reduce", "gather", "broadcast", "tuple"]);
}

#[test]
fn quantized_numbers_are_computed_with_as_what_they_stand_for() {
    let text = "func.func @main(%x: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>) {
        %0 = stablehlo.add %x, %x : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
        %1 = stablehlo.reshape %0 : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>
        return %0, %1 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<1x2x!quant.uniform<i8:f32, 0.5:3>>
    }";
    let module = module(text);
    let names: Vec<&str> = entry_ops(&module)
        .into_iter()
        .map(|i| module[i].op.name())
        .filter(|name| !matches!(*name, "constant" | "broadcast"))
        .collect();
    let expected = [
        "convert",
        "subtract",
        "multiply",
        "add",
        "divide",
        "add",
        "clamp",
        "round-nearest-even",
        "convert",
        "reshape",
        "tuple",
    ];
    assert_eq!(names, expected);
    assert_eq!(module.entry_shapes().1.to_string(), "(s8[2], s8[1,2])");
}

#[test]
fn the_root_of_a_sharded_function_says_so() {
    let text = "func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32> {mhlo.sharding = \"{devices=[8]<=[8]}\"}) { return %x : tensor<8xf32> }";
    let module = module(text);
    let root = module[module.entry()].root();
    assert!(matches!(module[root].op, Op::GetTupleElement(_)));
    assert!(matches!(module[root].sharding(), Some(Sharding::Single(_))));
}

#[test]
fn what_hlo_lacks_for_complex_numbers_is_made_of_others() {
    let text = "func.func @main(%a: tensor<2xcomplex<f32>>, %b: tensor<2xcomplex<f32>>) -> (tensor<2xf32>, tensor<2xi32>, tensor<2xcomplex<f64>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) {
        %0 = stablehlo.convert %a : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
        %1 = stablehlo.convert %a : (tensor<2xcomplex<f32>>) -> tensor<2xi32>
        %2 = stablehlo.convert %a : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f64>>
        %3 = stablehlo.cbrt %a : tensor<2xcomplex<f32>>
        %4 = stablehlo.maximum %a, %b : tensor<2xcomplex<f32>>
        return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xi32>, tensor<2xcomplex<f64>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>
    }";
    let module = module(text);
    let names: Vec<&str> = entry_ops(&module).into_iter().map(|i| module[i].op.name()).collect();
    let conversions = ["real", "real", "convert", "convert"];
    let root = ["constant", "broadcast", "power"];
    let largest =
        ["real", "real", "imag", "imag", "compare", "compare", "compare", "and", "or", "select", "tuple"];
    assert_eq!(names, [&conversions[..], &root, &largest].concat());
}
