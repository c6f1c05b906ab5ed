// A program for arguments of unknown sizes. The shapes come from the inputs or from an option.
// RUN: not hlo-opt %s 2>&1 | FileCheck %s --check-prefix=HOW
// RUN: not hlo-run %s 2>&1 | FileCheck %s --check-prefix=HOW
// RUN: hlo-opt %s --refine='f32[3,4],f32[3]' | FileCheck %s
// RUN: hlo-opt %s --refine='f32[3,4],f32[3]' --emit=stablehlo | FileCheck %s --check-prefix=STABLE
// RUN: hlo-run %s --refine='f32[3,4],f32[3]' --random-inputs -q --engine=both
// RUN: hlo-run %s --engine=both -q --input='f32[1,4] {{1,2,3,4}}' --input='f32[1] {5}' --expect 'f32[4] {5,10,15,20}'
// RUN: hlo-run %s --engine=both -q --input='f32[2,4] {{1,2,3,4},{0,1,0,1}}' --input='f32[2] {1,2}' --expect 'f32[4] {1,4,3,6}'
// RUN: not hlo-run %s --input='f32[2,4] {{1,2,3,4},{0,1,0,1}}' --input='f32[1] {1}' 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: not hlo-opt %s --refine='f32[3,5],f32[3]' 2>&1 | FileCheck %s --check-prefix=FIT
// RUN: not hlo-opt %s --refine='f32[3,4]' 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not hlo-opt %s --refine='f32[3,4],oops' 2>&1 | FileCheck %s --check-prefix=OOPS

// HOW: error{{.*}}: the sizes of the program's arguments are unknown: f32[?,4], f32[?]
// HOW: `--refine='f32[8,4],f32[8]'` gives the shapes of all arguments
// HOW: `hlo-run` takes them from its inputs

// CHECK: entry_computation_layout={(f32[3,4]{1,0}, f32[3]{0})->f32[4]{0}}
// CHECK-NOT: shape_assertion
// STABLE: func.func public @main(%arg0: tensor<3x4xf32>, %arg1: tensor<3xf32>) -> tensor<4xf32>
// ASSERT: the program does not take arguments of these sizes: 2 rows and 1 weights
// FIT: argument 0 is of type tensor<?x4xf32>, but f32[3,5] is given
// COUNT: it has 2 arguments, but 1 shapes are given
// OOPS: --refine
module @weighted {
  func.func public @main(%x: tensor<?x4xf32>, %w: tensor<?xf32>) -> tensor<4xf32> {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %m = stablehlo.get_dimension_size %w, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %same = stablehlo.compare EQ, %n, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%same, %n, %m) {error_message = "{0} rows and {1} weights", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %0 = stablehlo.dot_general %w, %x, contracting_dims = [0] x [0] : (tensor<?xf32>, tensor<?x4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
