//! Programs of unknown sizes, refined for the shapes of their arguments.

use hlo_ir::{ElementType, Module, Op, Shape};
use hlo_stablehlo::import::{import, import_function};
use hlo_stablehlo::refine::{Argument, refine};
use hlo_stablehlo::text;

fn f32s(dims: &[i64]) -> Argument {
    Shape::array(ElementType::F32, dims.to_vec()).into()
}

fn refined(program: &str, arguments: &[Argument]) -> Result<Module, Vec<String>> {
    let tree = text::parse(program).unwrap_or_else(|diags| panic!("{diags:#?}"));
    let module = refine(&tree, None, arguments).and_then(|tree| import(&tree));
    module.map_err(|diags| diags.into_iter().map(|diag| diag.message).collect())
}

/// Returns the shape of the result of a program that is refined for the given arguments.
fn result(program: &str, arguments: &[Argument]) -> String {
    let module = refined(program, arguments).unwrap_or_else(|messages| panic!("{messages:#?}"));
    module[module[module.entry()].root()].shape.to_string()
}

/// Returns the only error message of a program that is refined for the given arguments.
fn message(program: &str, arguments: &[Argument]) -> String {
    match refined(program, arguments) {
        Err(messages) if messages.len() == 1 => messages[0].clone(),
        other => panic!("{other:#?}"),
    }
}

/// Returns a function of `%x: tensor<?x4xf32>` whose last operation defines `%r` with the given type.
fn of_rows(body: &str, ty: &str) -> String {
    format!(
        "func.func @main(%x: tensor<?x4xf32>) -> {ty} {{
            %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
            {body}
            return %r : {ty}
        }}"
    )
}

#[test]
fn sizes_follow_from_the_arguments() {
    let double = of_rows("%r = stablehlo.add %x, %x : tensor<?x4xf32>", "tensor<?x4xf32>");
    assert_eq!(result(&double, &[f32s(&[3, 4])]), "f32[3,4]");
    let flat = of_rows(
        "%four = stablehlo.constant dense<4> : tensor<i32>
         %m = stablehlo.multiply %n, %four : tensor<i32>
         %s = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
         %r = stablehlo.dynamic_reshape %x, %s : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>",
        "tensor<?xf32>",
    );
    assert_eq!(result(&flat, &[f32s(&[3, 4])]), "f32[12]");
    // Values that depend only on sizes are not computed at run time.
    let module = refined(&flat, &[f32s(&[3, 4])]).unwrap();
    assert_eq!(module[module.entry()].instructions().len(), 2);
    let transposed = of_rows(
        "%r = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x4xf32>) -> tensor<4x?xf32>",
        "tensor<4x?xf32>",
    );
    assert_eq!(result(&transposed, &[f32s(&[0, 4])]), "f32[4,0]");
}

#[test]
fn a_reduction_of_sizes_is_computed() {
    let product = of_rows(
        "%four = stablehlo.constant dense<4> : tensor<1xi32>
         %one = stablehlo.constant dense<1> : tensor<i32>
         %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
         %all = stablehlo.concatenate %s, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
         %p = stablehlo.reduce(%all init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
         %q = stablehlo.reshape %p : (tensor<i32>) -> tensor<1xi32>
         %r = stablehlo.dynamic_iota %q, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>",
        "tensor<?xi32>",
    );
    assert_eq!(result(&product, &[f32s(&[5, 4])]), "s32[20]");
}

#[test]
fn functions_are_copied_for_each_list_of_types() {
    let program = "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
        %0 = func.call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>
        %1 = func.call @f(%y) : (tensor<?xf32>) -> tensor<?xf32>
        %2 = func.call @f(%0) : (tensor<?xf32>) -> tensor<?xf32>
        return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
    }
    func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {
        %0 = stablehlo.negate %x : tensor<?xf32>
        return %0 : tensor<?xf32>
    }";
    let module = refined(program, &[f32s(&[2]), f32s(&[3])]).unwrap();
    assert_eq!(module[module[module.entry()].root()].shape.to_string(), "(f32[2], f32[3], f32[2])");
    assert_eq!(module.computations().count(), 3);
    let same = refined(program, &[f32s(&[2]), f32s(&[2])]).unwrap();
    assert_eq!(same.computations().count(), 2);
}

#[test]
fn a_known_branch_stands_for_the_operation() {
    let program = "func.func @main(%p: tensor<i32> {jax.global_constant = \"_platform_index\"}, %x: tensor<?xf32>) -> tensor<?xf32> {
        %0 = \"stablehlo.case\"(%p) ({
            %1 = stablehlo.negate %x : tensor<?xf32>
            stablehlo.return %1 : tensor<?xf32>
        }, {
            %1 = stablehlo.custom_call @of_another_platform(%x) : (tensor<?xf32>) -> tensor<?xf32>
            stablehlo.return %1 : tensor<?xf32>
        }) : (tensor<i32>) -> tensor<?xf32>
        return %0 : tensor<?xf32>
    }";
    let platform = |value| Argument { shape: Shape::scalar(ElementType::S32), value };
    let module = refined(program, &[platform(Some(0)), f32s(&[3])]).unwrap();
    assert!(matches!(module[module[module.entry()].root()].op, Op::Negate));
    let message = message(program, &[platform(None), f32s(&[3])]);
    assert_eq!(
        message,
        "`stablehlo.custom_call`: the sizes of result 0, tensor<?xf32>, do not follow from the shapes of the arguments"
    );
}

#[test]
fn assertions_are_checked_and_removed() {
    let even = of_rows(
        "%two = stablehlo.constant dense<2> : tensor<i32>
         %zero = stablehlo.constant dense<0> : tensor<i32>
         %m = stablehlo.remainder %n, %two : tensor<i32>
         %c = stablehlo.compare EQ, %m, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
         stablehlo.custom_call @shape_assertion(%c, %n) {error_message = \"b = {0} is odd\", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
         %r = stablehlo.negate %x : tensor<?x4xf32>",
        "tensor<?x4xf32>",
    );
    assert_eq!(result(&even, &[f32s(&[2, 4])]), "f32[2,4]");
    assert_eq!(
        message(&even, &[f32s(&[3, 4])]),
        "`stablehlo.custom_call`: the program does not take arguments of these sizes: b = 3 is odd"
    );
}

#[test]
fn messages_show_integers() {
    let check = |template: &str, expected: &str| {
        let refused = of_rows(
            &format!(
                "%b = stablehlo.constant dense<7> : tensor<i32>
                 %d = stablehlo.constant dense<-1> : tensor<i32>
                 %c = stablehlo.constant dense<false> : tensor<i1>
                 stablehlo.custom_call @shape_assertion(%c, %b, %d) {{error_message = \"{template}\", has_side_effect = true}} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
                 %r = stablehlo.negate %x : tensor<?x4xf32>"
            ),
            "tensor<?x4xf32>",
        );
        let start = "`stablehlo.custom_call`: the program does not take arguments of these sizes: ";
        assert_eq!(message(&refused, &[f32s(&[3, 4])]), format!("{start}{expected}"));
    };
    check("b = {0}, c = {1} (= {0})", "b = 7, c = -1 (= 7)");
    check("{{0}} {2} {x} {0:5} {", "{0}} {2} {x} 7 {");
    check("", "");
}

#[test]
fn arguments_have_to_fit() {
    let double = of_rows("%r = stablehlo.add %x, %x : tensor<?x4xf32>", "tensor<?x4xf32>");
    for (argument, shape) in [
        (f32s(&[3, 5]), "f32[3,5]"),
        (f32s(&[3]), "f32[3]"),
        (Shape::array(ElementType::F64, [3, 4]).into(), "f64[3,4]"),
        (Shape::Token.into(), "token[]"),
    ] {
        assert_eq!(
            message(&double, &[argument]),
            format!("`func.func`: argument 0 is of type tensor<?x4xf32>, but {shape} is given")
        );
    }
    assert_eq!(message(&double, &[]), "`func.func`: it has 1 arguments, but 0 shapes are given");
}

#[test]
fn what_does_not_follow_from_sizes_is_refused() {
    let program = "func.func @main(%x: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
        %0 = stablehlo.dynamic_reshape %x, %n : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
        return %0 : tensor<?xf32>
    }";
    let n = Shape::array(ElementType::S32, [1]).into();
    assert_eq!(
        message(program, &[f32s(&[2]), n]),
        "`stablehlo.dynamic_reshape`: the sizes of its result, f32[?], are neither known nor do they have bounds"
    );
    let recursive = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
        %0 = func.call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>
        return %0 : tensor<?xf32>
    }
    func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> {
        %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        %1 = func.call @f(%0) : (tensor<?xf32>) -> tensor<?xf32>
        return %1 : tensor<?xf32>
    }";
    assert_eq!(
        message(recursive, &[f32s(&[2])]),
        "`func.call`: `f` calls itself, by way of this: HLO has no recursion"
    );
}

#[test]
fn the_functions_of_one_call_are_bounded() {
    // Each function calls the next one twice, with arguments of two sizes.
    let mut program = String::from(
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n%0 = func.call @f0(%x) : (tensor<?xf32>) -> tensor<?xf32>\nreturn %0 : tensor<?xf32>\n}\n",
    );
    for n in 0..20 {
        let next = if n == 19 { "stablehlo.negate".to_owned() } else { format!("func.call @f{}", n + 1) };
        let call = |x: &str| match n {
            19 => format!("{next} {x} : tensor<?xf32>"),
            _ => format!("{next}({x}) : (tensor<?xf32>) -> tensor<?xf32>"),
        };
        program += &format!(
            "func.func private @f{n}(%x: tensor<?xf32>) -> tensor<?xf32> {{
                %c = stablehlo.constant dense<{}.0> : tensor<{}xf32>
                %0 = {}
                %1 = stablehlo.concatenate %x, %c, dim = 0 : (tensor<?xf32>, tensor<{}xf32>) -> tensor<?xf32>
                %2 = {}
                return %2 : tensor<?xf32>
            }}\n",
            n,
            1 << n,
            call("%x"),
            1 << n,
            call("%1"),
        );
    }
    let message = message(&program, &[f32s(&[1])]);
    assert!(message.ends_with("the program needs more than 4096 functions for these sizes"), "{message}");
}

#[test]
fn a_function_is_chosen_by_its_name() {
    let two = "func.func @f() { return } func.func @g(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";
    let tree = text::parse(two).unwrap();
    let module = import_function(&tree, Some("g")).unwrap();
    assert_eq!(module[module[module.entry()].root()].shape.to_string(), "f32[2]");
    let diags = import_function(&tree, Some("h")).unwrap_err();
    assert_eq!(diags[0].message, "`builtin.module`: it has no function `h`");
    assert_eq!(diags[0].notes, ["its functions: f, g; `--fn=NAME` chooses one"]);
}
