module @control attributes {mhlo.frontend_attributes = {note = "a"}} {
  func.func public @main(%n: tensor<i32>, %x: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %half = stablehlo.constant dense<0.5> : tensor<4xf32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %y = stablehlo.multiply %x, %half : tensor<4xf32>
    %0:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<4xf32>
     cond {
      %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %t = "stablehlo.if"(%p) ({
        %u = stablehlo.add %s, %y : tensor<4xf32>
        stablehlo.return %u : tensor<4xf32>
      }, {
        stablehlo.return %half : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %t : tensor<i32>, tensor<4xf32>
    }
    %1:2 = "stablehlo.case"(%n) ({
      stablehlo.return %x, %y : tensor<4xf32>, tensor<4xf32>
    }, {
      %u = stablehlo.negate %0#1 : tensor<4xf32>
      stablehlo.return %u, %u : tensor<4xf32>, tensor<4xf32>
    }, {
      stablehlo.return %half, %half : tensor<4xf32>, tensor<4xf32>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
    %2 = func.call @twice(%1#0) : (tensor<4xf32>) -> tensor<4xf32>
    %3:2 = func.call @both(%2) {mhlo.frontend_attributes = {inlineable = "false"}} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %4:2 = stablehlo.optimization_barrier %3#0, %3#1 : tensor<4xf32>, tensor<4xf32>
    %5 = stablehlo.optimization_barrier %4#0 : tensor<4xf32>
    return %0#1, %0#0, %1#0, %1#1, %4#1, %5 : tensor<4xf32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @both(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %x : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @unused(%x: tensor<*xf32>) {
    return
  }
}
