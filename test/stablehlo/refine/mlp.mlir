// A perceptron for any number of rows. As jax.export writes it; the results are those of jaxlib.
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[1,4] {{0.27, -0.46, -0.92, -0.97}}' \
// RUN:   --input='f32[4,8] {{0.63, 0.83, 0.21, 0.46, 0.09, 0.87, 0.63, -0.99}, {0.71, -0.93, 0.46, -0.65, 0.73, 0.08, -0.4, -0.15}, {-0.94, -0.75, 0.34, 0.29, 0.23, -0.23, 0.99, 0.96}, {0.37, 0.3, 0.38, -0.22, -0.73, 0.44, 0.05, -0.38}}' \
// RUN:   --input='f32[8] {-0.03, 0.78, 0.87, -0.28, 0.14, -0.36, 0.19, -0.32}' \
// RUN:   --input='f32[8,3] {{-0.22, 0.78, -0.55}, {0.25, -0.83, 0.67}, {0.57, -0.52, 0.75}, {-0.88, -0.33, -0.7}, {-0.1, 0.59, -0.54}, {-0.9, -0.19, -0.6}, {-0.82, 0.16, -0.4}, {0.34, -0.6, 0.88}}' \
// RUN:   --expect 'f32[1,3] {{0.295142, -1.1259229, 0.83794796}}'
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[8,4] {{-0.27, -0.79, 0.26, 0.85}, {-0.12, 0.91, -0.0, -0.15}, {0.24, 0.99, 0.9, -0.08}, {0.52, -0.01, 0.06, 0.57}, {-0.17, 0.47, 0.42, 0.86}, {-0.77, 0.46, 0.85, 0.94}, {-0.97, 0.73, 0.96, 0.91}, {-0.7, 0.95, 0.78, 0.64}}' \
// RUN:   --input='f32[4,8] {{-0.04, -0.54, 0.6, 0.85, -0.47, 0.08, -0.11, 0.86}, {-0.92, 0.46, 0.23, -0.94, 0.44, -0.97, 0.52, 0.03}, {0.86, -0.87, 0.68, -0.87, -0.31, -0.14, 0.93, 0.12}, {-0.48, -0.52, 0.78, -0.55, -0.75, -0.42, 0.17, 0.11}}' \
// RUN:   --input='f32[8] {0.62, 0.12, -0.42, -0.17, 0.64, 0.25, 0.92, -0.26}' \
// RUN:   --input='f32[8,3] {{0.11, 0.19, 0.7}, {-0.71, -0.19, 0.82}, {-0.91, 0.65, -0.17}, {0.66, -0.98, -0.27}, {-0.84, 0.31, -0.45}, {0.41, 0.89, -0.75}, {0.73, -0.88, -0.24}, {-0.14, -0.02, 0.95}}' \
// RUN:   --expect 'f32[8,3] {{0.98173, -0.0066459775, 0.13528001}, {-0.49154902, -0.96977496, -0.316853}, {0.5940169, -1.311787, -0.5256281}, {0.4246651, -0.52935404, 0.16807598}, {0.6503001, -1.0867901, -0.473216}, {0.97265816, -1.413642, -0.36848795}, {0.98461914, -1.608909, -0.612207}, {0.78239316, -1.5485551, -0.83044505}}'
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[5,4] {{0.55, -0.38, -0.46, 0.73}, {0.76, 0.02, -0.31, 0.99}, {-0.37, -0.63, 0.76, 0.62}, {0.34, 0.92, 0.85, 0.5}, {0.72, -0.51, -0.72, 0.34}}' \
// RUN:   --input='f32[4,8] {{0.43, -0.67, -0.21, 0.82, 0.12, 0.16, -0.61, 0.05}, {0.05, -0.82, 0.96, 0.14, -0.99, 0.55, 0.96, 0.18}, {-0.36, -0.62, 0.35, -0.61, 0.16, 0.2, 0.92, -0.86}, {-0.0, 0.49, -0.65, -0.22, -0.87, 0.45, -0.82, -0.21}}' \
// RUN:   --input='f32[8] {0.75, -0.06, 0.83, 0.53, 0.83, -0.75, -0.85, -0.86}' \
// RUN:   --input='f32[8,3] {{0.74, 0.27, -0.01}, {-0.67, 0.35, -0.36}, {0.42, -0.08, 0.01}, {0.58, -0.81, 0.16}, {-0.61, 0.62, -0.02}, {0.98, -0.63, 0.93}, {0.6, -0.04, 0.63}, {0.21, 0.31, 0.83}}' \
// RUN:   --expect 'f32[5,3] {{0.75006306, -0.00931102, -0.044313}, {1.4725509, -0.55988, 0.135462}, {-0.683502, 0.86660904, -0.214385}, {1.648044, -0.34505498, 0.37487304}, {0.8330351, 0.0018029213, 0.01703699}}'

module @jit_mlp attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x4xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<8xf32>, %arg3: tensor<8x3xf32>) -> (tensor<?x3xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 4). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @_wrapped_jax_export_main(%0, %arg0, %arg1, %arg2, %arg3) : (tensor<i32>, tensor<?x4xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
    return %2 : tensor<?x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x4xf32>, %arg2: tensor<4x8xf32>, %arg3: tensor<8xf32>, %arg4: tensor<8x3xf32>) -> (tensor<?x3xf32>) {
    %c = stablehlo.constant dense<8> : tensor<1xi32>
    %0 = stablehlo.dot_general %arg1, %arg2, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %1, %3, dims = [0, 1] : (tensor<1x8xf32>, tensor<2xi32>) -> tensor<?x8xf32>
    %5 = stablehlo.add %0, %4 : tensor<?x8xf32>
    %6 = call @relu(%arg0, %5) : (tensor<i32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %7 = stablehlo.dot_general %6, %arg4, contracting_dims = [1] x [0] : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
    return %7 : tensor<?x3xf32>
  }
  func.func private @relu(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %c = stablehlo.constant dense<8> : tensor<1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.concatenate %0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %cst, %1, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
    %3 = stablehlo.maximum %arg1, %2 : tensor<?x8xf32>
    return %3 : tensor<?x8xf32>
  }
}
