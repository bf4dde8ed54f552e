// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cpu target's kernels get where nothing else says it (docs/tuning.md).
module attributes {transform.with_named_sequence, tuning.target = "cpu", tuning.version = 4 : i64} {
  transform.named_sequence @__transform_main(%kernels: !transform.any_op {transform.consumed}) {
    transform.yield
  }
}
