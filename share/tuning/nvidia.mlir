// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the nvidia target's kernels get where nothing else says it: found by bench/tune_gpu.py (docs/tuning.md).
module attributes {transform.with_named_sequence, tuning.target = "nvidia", tuning.version = 4 : i64} {
  transform.named_sequence @attention_f16_batch20_depth64_keys4096_queries4096_width64(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) attributes {tuning.measured = {compiler = "tilewright 0.1.0", date = "2026-11-25", kernel = "k0", machine = "NVIDIA H100 80GB HBM3", model = "attention_20x4096_d64.pt2", operations = "scaled_dot_product_attention", ratio = [0.956, 0.887, 0.969], start_us = 203.6 : f64}} {
    transform.tuning.match.kernel %arg0 {dtypes = ["f16", "f16", "f16", "f16"], kind = "attention", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 20 : !transform.any_op
    transform.tuning.match.size %arg0 "depth" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "keys" equals 4096 : !transform.any_op
    transform.tuning.match.size %arg0 "queries" equals 4096 : !transform.any_op
    transform.tuning.match.size %arg0 "width" equals 64 : !transform.any_op
    %0 = transform.param.constant {groups = 1 : i64, keys = 128 : i64, kind = "attention", queries = 64 : i64, query_programs = 2 : i64, split_keys = 1 : i64, split_parts = 1 : i64, target = {kind = "nvidia", ping_pong = 0 : i64, stages = 3 : i64, warp_groups = 3 : i64}, transposed = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @configure(%arg0: !transform.any_op {transform.readonly}, %arg1: !transform.any_param {transform.readonly}) {
    transform.annotate %arg0 "configuration" = %arg1 : !transform.any_op, !transform.any_param
    transform.yield 
  }
  transform.named_sequence @contraction_bf16_columns4096_rows4096_sum4096(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) attributes {tuning.measured = {compiler = "tilewright 0.1.0", date = "2026-11-28", kernel = "k0_0", machine = "NVIDIA H100 80GB HBM3", model = "bf16_4096x4096x4096.pt2", operations = "linear", ratio = [0.993, 0.993, 0.993], start_us = 172.6 : f64}} {
    transform.tuning.match.kernel %arg0 {dtypes = ["bf16", "bf16", "f32"], kind = "contraction"} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 4096 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 4096 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 4096 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 256 : i64, k_block = 64 : i64, kind = "contraction", packed = 0 : i64, panels = 1 : i64, row_programs = 16 : i64, rows = 128 : i64, split_k = 0 : i64, target = {kind = "nvidia", ping_pong = 0 : i64, stages = 4 : i64, warp_groups = 2 : i64}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @contraction_bf16_columns8192_rows8192_sum8192(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) attributes {tuning.measured = {compiler = "tilewright 0.1.0", date = "2026-11-28", kernel = "k0_0", machine = "NVIDIA H100 80GB HBM3", model = "bf16_8192x8192x8192.pt2", operations = "linear", ratio = [0.991, 0.990, 0.992], start_us = 1350.1 : f64}} {
    transform.tuning.match.kernel %arg0 {dtypes = ["bf16", "bf16", "f32"], kind = "contraction"} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 8192 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 8192 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 8192 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 192 : i64, k_block = 64 : i64, kind = "contraction", packed = 0 : i64, panels = 1 : i64, row_programs = 12 : i64, rows = 128 : i64, split_k = 0 : i64, target = {kind = "nvidia", ping_pong = 1 : i64, stages = 5 : i64, warp_groups = 2 : i64}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @contraction_f16_columns640_rows8192_sum2560(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) attributes {tuning.measured = {compiler = "tilewright 0.1.0", date = "2026-11-25", kernel = "k0_0", machine = "NVIDIA H200", model = "f16_8192x640x2560.pt2", operations = "linear", ratio = [0.863, 0.840, 0.976], start_us = 54.9 : f64}} {
    transform.tuning.match.kernel %arg0 {dtypes = ["f16", "f16", "f32"], kind = "contraction"} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 640 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 8192 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 2560 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 160 : i64, k_block = 64 : i64, kind = "contraction", packed = 0 : i64, panels = 1 : i64, row_programs = 7 : i64, rows = 128 : i64, split_k = 0 : i64, target = {kind = "nvidia", ping_pong = 1 : i64, stages = 5 : i64, warp_groups = 2 : i64}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @contraction_f16_columns1280_rows2048_sum1280(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) attributes {tuning.measured = {compiler = "tilewright 0.1.0", date = "2026-11-25", kernel = "k0_0", machine = "NVIDIA H200", model = "f16_2048x1280x1280.pt2", operations = "linear", ratio = [0.951, 0.911, 0.989], start_us = 13.5 : f64}} {
    transform.tuning.match.kernel %arg0 {dtypes = ["f16", "f16", "f32"], kind = "contraction"} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 1280 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 2048 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 1280 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 160 : i64, k_block = 64 : i64, kind = "contraction", packed = 0 : i64, panels = 1 : i64, row_programs = 8 : i64, rows = 128 : i64, split_k = 0 : i64, target = {kind = "nvidia", ping_pong = 0 : i64, stages = 4 : i64, warp_groups = 2 : i64}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @__transform_main(%arg0: !transform.any_op {transform.consumed}) {
    %updated_root = transform.foreach_match in %arg0 
        @attention_f16_batch20_depth64_keys4096_queries4096_width64 -> @configure, 
        @contraction_bf16_columns4096_rows4096_sum4096 -> @configure, 
        @contraction_bf16_columns8192_rows8192_sum8192 -> @configure, 
        @contraction_f16_columns640_rows8192_sum2560 -> @configure, 
        @contraction_f16_columns1280_rows2048_sum1280 -> @configure : (!transform.any_op) -> !transform.any_op
    transform.yield 
  }
}
