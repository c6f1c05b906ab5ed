// A custom call whose last operands list the sizes of its results. As jax.export writes it; the results are those of jaxlib.
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[1,3,3] {{{-0.29, -0.47, -0.76}, {-0.39, 0.99, 0.38}, {0.18, 0.6, 0.29}}}' \
// RUN:   --expect 'f32[1,3,3] {{{1.9704313, 0.0, 0.0}, {-0.32530946, 2.042247, 0.0}, {-0.2814612, 0.26560843, 1.823933}}}'
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[4,3,3] {{{-0.07, 0.03, -0.9}, {0.49, -0.29, 0.67}, {-0.17, 0.36, -0.13}}, {{-0.69, 0.04, 0.93}, {-0.51, -0.62, 0.69}, {-0.24, 0.02, 0.12}}, {{0.16, 0.61, -0.18}, {0.01, -0.83, 0.75}, {0.35, -0.33, -0.65}}, {{0.06, -0.65, -0.27}, {0.1, -0.02, 0.11}, {1.0, -0.57, -0.11}}}' \
// RUN:   --expect 'f32[4,3,3] {{{1.9534073, 0.0, 0.0}, {-0.33070418, 1.9140885, 0.0}, {0.07151606, -0.13121094, 1.7756884}}, {{2.0838907, 0.0, 0.0}, {0.46489963, 1.9759727, 0.0}, {0.13340431, 0.06618531, 1.7464887}}, {{1.8520529, 0.0, 0.0}, {-0.34540048, 2.0327811, 0.0}, {-0.015280349, -0.10595229, 1.9085178}}, {{1.8705615, 0.0, 0.0}, {-0.0057202084, 1.7385244, 0.0}, {0.24602237, 0.057926886, 2.067152}}}'

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3x3xf32>) -> (tensor<?x3x3xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3x3xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 3, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @_wrapped_jax_export_main(%0, %arg0) : (tensor<i32>, tensor<?x3x3xf32>) -> tensor<?x3x3xf32>
    return %2 : tensor<?x3x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x3x3xf32>) -> (tensor<?x3x3xf32>) {
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dot_general %arg1, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<?x3x3xf32>, tensor<?x3x3xf32>) -> tensor<?x3x3xf32>
    %1 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %2 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %4 = stablehlo.add %1, %3 : tensor<3x3xi32>
    %5 = stablehlo.compare EQ, %4, %2, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %6 = stablehlo.convert %5 : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<3x3xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<1x3x3xf32>
    %10 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.concatenate %10, %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %12 = stablehlo.dynamic_broadcast_in_dim %9, %11, dims = [0, 1, 2] : (tensor<1x3x3xf32>, tensor<3xi32>) -> tensor<?x3x3xf32>
    %13 = stablehlo.add %0, %12 : tensor<?x3x3xf32>
    %14 = call @cholesky(%arg0, %13) : (tensor<i32>, tensor<?x3x3xf32>) -> tensor<?x3x3xf32>
    return %14 : tensor<?x3x3xf32>
  }
  func.func private @cholesky(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x3x3xf32>) -> tensor<?x3x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<3> : tensor<1xi32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.transpose %arg1, dims = [0, 2, 1] : (tensor<?x3x3xf32>) -> tensor<?x3x3xf32>
    %1 = stablehlo.add %arg1, %0 : tensor<?x3x3xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c_2, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %cst_3, %3, dims = [] : (tensor<f32>, tensor<3xi32>) -> tensor<?x3x3xf32>
    %5 = stablehlo.divide %1, %4 : tensor<?x3x3xf32>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_2, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %8 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %9:2 = stablehlo.custom_call @lapack_spotrf_ffi(%5, %7, %8) {indices_of_shape_operands = dense<[1, 2]> : tensor<2xi64>, mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>]} : (tensor<?x3x3xf32>, tensor<3xi32>, tensor<1xi32>) -> (tensor<?x3x3xf32>, tensor<?xi32>)
    %10 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %c_1, %10, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %12 = stablehlo.compare EQ, %9#1, %11, SIGNED : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %13 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.concatenate %13, %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %15 = stablehlo.dynamic_broadcast_in_dim %12, %14, dims = [0] : (tensor<?xi1>, tensor<3xi32>) -> tensor<?x1x1xi1>
    %16 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.concatenate %16, %c_2, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %18 = stablehlo.dynamic_broadcast_in_dim %cst_0, %17, dims = [] : (tensor<f32>, tensor<3xi32>) -> tensor<?x3x3xf32>
    %19 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.concatenate %19, %c_2, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %21 = stablehlo.dynamic_broadcast_in_dim %15, %20, dims = [0, 1, 2] : (tensor<?x1x1xi1>, tensor<3xi32>) -> tensor<?x3x3xi1>
    %22 = stablehlo.select %21, %9#0, %18 : tensor<?x3x3xi1>, tensor<?x3x3xf32>
    %23 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %24 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %25 = stablehlo.add %23, %24 : tensor<3x3xi32>
    %26 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %27 = stablehlo.compare GE, %25, %26, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %28 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.concatenate %28, %c_2, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %30 = stablehlo.dynamic_broadcast_in_dim %27, %29, dims = [1, 2] : (tensor<3x3xi1>, tensor<3xi32>) -> tensor<?x3x3xi1>
    %31 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %32 = stablehlo.concatenate %31, %c_2, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %33 = stablehlo.dynamic_broadcast_in_dim %cst, %32, dims = [] : (tensor<f32>, tensor<3xi32>) -> tensor<?x3x3xf32>
    %34 = stablehlo.select %30, %22, %33 : tensor<?x3x3xi1>, tensor<?x3x3xf32>
    return %34 : tensor<?x3x3xf32>
  }
}
