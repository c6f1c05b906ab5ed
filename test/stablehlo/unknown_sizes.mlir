// Sizes that are not known are called so.
// RUN: not hlo-opt %s 2>&1 | FileCheck %s

// CHECK: error: `chlo.broadcast_add`: the sizes of its result, f32[?,?], are not known
// CHECK: error: `chlo.constant_like`: the sizes of its result, f32[?], are not known
// CHECK-NOT: 9223372036854775808
func.func @main(%a: tensor<?xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %0 = chlo.broadcast_add %a, %b : (tensor<?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = "chlo.constant_like"(%a) { value = 1.0 : f32 } : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?xf32>
}
