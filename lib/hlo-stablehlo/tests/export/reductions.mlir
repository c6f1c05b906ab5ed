module @reductions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi32>, %arg2: tensor<1x2xf32>, %arg3: tensor<3xf32>) -> (tuple<tensor<2xf32>, tensor<2xi32>>, tensor<2x2xf32>, tensor<2x3xf32>, tuple<tensor<2x3xf32>, tensor<2x3xi32>>, tensor<2x3xf32>, tuple<tensor<2x3xf32>, tensor<3xf32>>, tuple<tensor<2x2xf32>, tensor<2x2xi32>>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %0:2 = stablehlo.reduce(%arg0 init: %cst), (%arg1 init: %c) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
      %10 = stablehlo.compare GT, %arg4, %arg6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %11 = stablehlo.select %10, %arg4, %arg6 : tensor<i1>, tensor<f32>
      %12 = stablehlo.select %10, %arg5, %arg7 : tensor<i1>, tensor<i32>
      stablehlo.return %11, %12 : tensor<f32>, tensor<i32>
    }
    %1 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %10 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
    %2 = "stablehlo.select_and_scatter"(%arg0, %arg2, %cst) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %10 = stablehlo.compare GE, %arg4, %arg5, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    }, {
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %10 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<f32>) -> tensor<2x3xf32>
    %3:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<i32>, %arg7: tensor<i32>):
      %10 = stablehlo.compare LT, %arg4, %arg5, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    }) : (tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    %4 = "stablehlo.map"(%arg0, %arg0) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %10 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %5:2 = chlo.scan(%arg0) inits (%arg3) dimension=0  attributes {is_associative = false} {
    ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
      %10 = stablehlo.add %input, %carry : tensor<3xf32>
      stablehlo.return %10, %10 : tensor<3xf32>, tensor<3xf32>
    } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
    %6 = stablehlo.tuple %0#0, %0#1 : tuple<tensor<2xf32>, tensor<2xi32>>
    %7 = stablehlo.tuple %3#0, %3#1 : tuple<tensor<2x3xf32>, tensor<2x3xi32>>
    %8 = stablehlo.tuple %5#0, %5#1 : tuple<tensor<2x3xf32>, tensor<3xf32>>
    %9 = stablehlo.tuple %values, %indices : tuple<tensor<2x2xf32>, tensor<2x2xi32>>
    return %6, %1, %2, %7, %4, %8, %9 : tuple<tensor<2xf32>, tensor<2xi32>>, tensor<2x2xf32>, tensor<2x3xf32>, tuple<tensor<2x3xf32>, tensor<2x3xi32>>, tensor<2x3xf32>, tuple<tensor<2x3xf32>, tensor<3xf32>>, tuple<tensor<2x2xf32>, tensor<2x2xi32>>
  }
}
