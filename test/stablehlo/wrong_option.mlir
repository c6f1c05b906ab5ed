// An option that applies only to other forms is rejected.
// RUN: not hlo-opt %s --emit=hlo --target=1.0.0 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not hlo-opt %s --format 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not hlo-opt %s --from=hlo 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not hlo-opt %s --arg=3 2>&1 | FileCheck %s --check-prefix=ARG
// TARGET: --target needs --emit=vhlo
// FORMAT: expected HLO text, found what looks like {{.*}}MLIR
// ARG: --arg is for files of Tile, and this is StableHLO
module @m {
  func.func @main(%x: tensor<f32>) -> tensor<f32> {
    return %x : tensor<f32>
  }
}
