// A program for several platforms, whose first argument is the number of the platform. As jax.export writes it; the results are those of jaxlib.
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='s32[] 0' \
// RUN:   --input='f32[1,4] {{-0.89, 0.62, 0.17, 0.85}}' \
// RUN:   --expect 'f32[1,4] {{0.22292829, 1.5810351, 1.1691823, 1.7512804}}'
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='s32[] 0' \
// RUN:   --input='f32[4,4] {{0.32, -0.05, 0.06, -0.1}, {-0.33, 0.21, -0.17, 0.64}, {0.74, -0.32, 0.38, -0.14}, {-0.51, 0.98, -0.52, 0.32}}' \
// RUN:   --expect 'f32[4,4] {{3.5118227, 3.6854334, 3.50312, 3.860457}, {3.675957, 3.9500208, 3.8308177, 3.9001665}, {4.3145666, 4.20846, 4.059964, 4.3145666}, {4.674288, 4.8304973, 4.3709207, 4.5971956}}'

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i32> {jax.global_constant = "_platform_index"}, %arg1: tensor<?x4xf32>) -> (tensor<?x4xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 4). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @_wrapped_jax_export_main(%arg0, %0, %arg1) : (tensor<i32>, tensor<i32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    return %2 : tensor<?x4xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "_platform_index"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<?x4xf32>) -> (tensor<?x4xf32>) {
    %c = stablehlo.constant dense<4> : tensor<1xi32>
    %0 = stablehlo.sine %arg2 : tensor<?x4xf32>
    %1 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %2 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %1, %3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
    %5 = stablehlo.add %0, %4 : tensor<?x4xf32>
    %6 = call @sort(%arg0, %arg1, %5) : (tensor<i32>, tensor<i32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    return %6 : tensor<?x4xf32>
  }
  func.func private @sort(%arg0: tensor<i32> {jax.global_constant = "_platform_index"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = "stablehlo.sort"(%arg2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %1 = stablehlo.compare EQ, %arg3, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %cst_0, %arg3 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.select %3, %cst, %2 : tensor<i1>, tensor<f32>
      %5 = stablehlo.compare EQ, %arg4, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.select %5, %cst_0, %arg4 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg4, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.select %7, %cst, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}
