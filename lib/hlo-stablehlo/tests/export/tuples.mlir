module @tuples attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<i1>>>) -> (tensor<2xf32>, tuple<tensor<i32>>, tuple<tensor<i32>, tensor<i1>>, tensor<3xi1>) {
    %0 = stablehlo.get_tuple_element %arg0[0] : (tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<i1>>>) -> tensor<2xf32>
    %1 = stablehlo.get_tuple_element %arg0[1] : (tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<i1>>>) -> tuple<tensor<i32>, tensor<i1>>
    %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<i32>, tensor<i1>>) -> tensor<i32>
    %3 = stablehlo.get_tuple_element %1[1] : (tuple<tensor<i32>, tensor<i1>>) -> tensor<i1>
    %4:2 = stablehlo.optimization_barrier %2, %3 : tensor<i32>, tensor<i1>
    %c = stablehlo.constant dense<[true, true, false]> : tensor<3xi1>
    %5 = stablehlo.tuple %2 : tuple<tensor<i32>>
    %6 = stablehlo.tuple %4#0, %4#1 : tuple<tensor<i32>, tensor<i1>>
    return %0, %5, %6, %c : tensor<2xf32>, tuple<tensor<i32>>, tuple<tensor<i32>, tensor<i1>>, tensor<3xi1>
  }
}
