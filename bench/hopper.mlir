// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks of kernels that were written by hand for Hopper before the compiler chose any, the fastest of those that were
// tried for each of these sizes. bench/tune_gpu.py asks what a search finds from here (--start).
module attributes {transform.with_named_sequence, tuning.target = "nvidia", tuning.version = 4 : i64} {
  // 4096^3: two warp groups in common.
  transform.named_sequence @square_4096(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %kernel {kind = "contraction"} : !transform.any_op
    transform.tuning.match.size %kernel "rows" equals 4096 : !transform.any_op
    transform.tuning.match.size %kernel "columns" equals 4096 : !transform.any_op
    transform.tuning.match.size %kernel "sum" equals 4096 : !transform.any_op
    %configuration = transform.param.constant {kind = "contraction", rows = 128, columns = 256, k_block = 64,
        target = {kind = "nvidia", ping_pong = 0, stages = 4, warp_groups = 2}} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
  // 8192^3: two warp groups in turns.
  transform.named_sequence @square_8192(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %kernel {kind = "contraction"} : !transform.any_op
    transform.tuning.match.size %kernel "rows" equals 8192 : !transform.any_op
    transform.tuning.match.size %kernel "columns" equals 8192 : !transform.any_op
    transform.tuning.match.size %kernel "sum" equals 8192 : !transform.any_op
    %configuration = transform.param.constant {kind = "contraction", rows = 128, columns = 192, k_block = 64,
        target = {kind = "nvidia", ping_pong = 1, stages = 5, warp_groups = 2}} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
  // Linear layers of transformers.
  transform.named_sequence @linear(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %kernel {kind = "contraction"} : !transform.any_op
    transform.tuning.match.size %kernel "rows" least 2048 : !transform.any_op
    %configuration = transform.param.constant {kind = "contraction", rows = 128, columns = 160, k_block = 64,
        target = {kind = "nvidia", ping_pong = 1, stages = 5, warp_groups = 2}} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
  // Attention of few keys, which stay in shared memory.
  transform.named_sequence @few_keys(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %kernel {kind = "attention"} : !transform.any_op
    transform.tuning.match.size %kernel "keys" most 80 : !transform.any_op
    %configuration = transform.param.constant {kind = "attention", queries = 128,
        target = {kind = "nvidia", late_trigger = 0, stages = 1, warp_groups = 2}} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
  // Head size 64: programs of 64 queries, of which some are dealt to three warp groups.
  transform.named_sequence @depth_64(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %kernel {kind = "attention"} : !transform.any_op
    transform.tuning.match.size %kernel "depth" equals 64 : !transform.any_op
    %configuration = transform.param.constant {kind = "attention", queries = 64, keys = 128, split_keys = 1,
        target = {kind = "nvidia", stages = 4, warp_groups = 3}} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
  // Head size 128: two warp groups of 64 queries each.
  transform.named_sequence @depth_128(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %kernel {kind = "attention"} : !transform.any_op
    transform.tuning.match.size %kernel "depth" equals 128 : !transform.any_op
    %configuration = transform.param.constant {kind = "attention", queries = 128, keys = 128, split_keys = 0,
        target = {kind = "nvidia", stages = 2, warp_groups = 2}} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @configure(%kernel: !transform.any_op {transform.readonly},
      %configuration: !transform.any_param {transform.readonly}) {
    transform.annotate %kernel "configuration" = %configuration : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @__transform_main(%kernels: !transform.any_op {transform.consumed}) {
    %matched = transform.foreach_match in %kernels
        @square_4096 -> @configure,
        @square_8192 -> @configure,
        @linear -> @configure,
        @few_keys -> @configure,
        @depth_64 -> @configure,
        @depth_128 -> @configure : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
