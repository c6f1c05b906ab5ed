// The gradient of a loss. As jax.export writes it; the results are those of jaxlib.
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[4,3] {{0.35, 0.9, 0.62}, {0.4, 0.72, -0.33}, {-0.28, -0.98, 0.39}, {0.72, -0.16, 0.77}}' \
// RUN:   --input='f32[1,4] {{0.65, 0.53, -0.27, 0.58}}' \
// RUN:   --input='f32[1,3] {{0.23, 0.91, -0.71}}' \
// RUN:   --expect 'f32[4,3] {{0.10099129, -0.014062822, 0.39006168}, {0.082346745, -0.011466608, 0.3180503}, {-0.04195023, 0.00584148, -0.16202563}, {0.0901153, -0.012548365, 0.34805503}}'
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[4,3] {{0.59, -0.12, -0.49}, {-0.94, 0.86, -0.92}, {0.73, -0.24, 0.79}, {-0.37, 0.33, -0.27}}' \
// RUN:   --input='f32[6,4] {{-0.33, 0.29, 0.55, -0.72}, {-0.83, -0.52, -0.71, -0.51}, {0.85, 0.81, 0.24, 0.81}, {-0.41, -0.81, -0.27, 0.76}, {-0.94, 0.75, -0.08, 0.49}, {0.05, -0.82, 0.47, -0.74}}' \
// RUN:   --input='f32[6,3] {{0.89, 0.02, 0.29}, {-0.97, -0.73, 0.63}, {-0.88, -0.92, -0.83}, {-0.65, 0.5, 0.33}, {0.58, 0.52, -0.87}, {-0.51, 0.86, 0.07}}' \
// RUN:   --expect 'f32[4,3] {{0.010689702, 0.07407836, -0.035843406}, {-0.12642424, 0.18695337, 0.017688217}, {-0.07790945, -0.021811504, 0.025286691}, {0.07958244, 0.06174641, 0.0120209325}}'

module @jit_loss attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>, %arg1: tensor<?x4xf32>, %arg2: tensor<?x3xf32>) -> (tensor<4x3xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg2, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[1].shape = (b, 4),args[2].shape = (b, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[1].shape[0] (= {0}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare EQ, %1, %0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[2].shape[0] (= {0}) and the specification 'b' (= {1}). Using the following polymorphic shapes specifications: args[1].shape = (b, 4),args[2].shape = (b, 3). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[1].shape[0] (= {1}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4 = call @_wrapped_jax_export_main(%0, %arg0, %arg1, %arg2) : (tensor<i32>, tensor<4x3xf32>, tensor<?x4xf32>, tensor<?x3xf32>) -> tensor<4x3xf32>
    return %4 : tensor<4x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<4x3xf32>, %arg2: tensor<?x4xf32>, %arg3: tensor<?x3xf32>) -> (tensor<4x3xf32>) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
    %1 = stablehlo.tanh %0 : tensor<?x3xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %cst_1, %3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %5 = stablehlo.subtract %4, %1 : tensor<?x3xf32>
    %6 = stablehlo.subtract %1, %arg3 : tensor<?x3xf32>
    %7 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.concatenate %7, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %9 = stablehlo.dynamic_broadcast_in_dim %cst, %8, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %10 = stablehlo.multiply %9, %6 : tensor<?x3xf32>
    %11 = stablehlo.convert %arg0 : tensor<i32>
    %12 = stablehlo.multiply %11, %c_0 : tensor<i32>
    %13 = stablehlo.convert %12 : (tensor<i32>) -> tensor<f32>
    %14 = stablehlo.divide %cst_1, %13 : tensor<f32>
    %15 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %15, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %17 = stablehlo.dynamic_broadcast_in_dim %14, %16, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %18 = stablehlo.multiply %17, %10 : tensor<?x3xf32>
    %19 = stablehlo.multiply %18, %5 : tensor<?x3xf32>
    %20 = stablehlo.multiply %19, %1 : tensor<?x3xf32>
    %21 = stablehlo.add %19, %20 : tensor<?x3xf32>
    %22 = stablehlo.dot_general %21, %arg2, contracting_dims = [0] x [0] : (tensor<?x3xf32>, tensor<?x4xf32>) -> tensor<3x4xf32>
    %23 = stablehlo.transpose %22, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    return %23 : tensor<4x3xf32>
  }
}
