module attributes {transform.with_named_sequence, tuning.target = "cpu", tuning.version = 3 : i64} {
  transform.named_sequence @kernel0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "f32"], kind = "loops", number = 0 : i64, operations = ["embedding"], signature = "68cf8a289b84cd6c", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 768>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 21, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "f32"], kind = "loops", number = 0 : i64, operations = ["embedding"], signature = "7f781b99dfaa12e6", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 768>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 21, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "i64", "f32"], kind = "loops", operations = ["gather", "embedding"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1, 768>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 1, 21, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "i64", "i64", "f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["embedding", "embedding", "embedding", "add", "add", "layer_norm", "layer_norm", "layer_norm", "layer_norm", "layer_norm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 0>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 21, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 1 : i64, signature = "7560310fa24a3074", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 2304 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 768 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 5 : i64, columns = 24 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 32 : i64, rows = 4 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel5(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", number = 2 : i64, operations = ["linear"], signature = "7560310fa24a3074", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 2304 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 768>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 7, 3>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel6(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "i1", "f32"], kind = "attention", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 12 : !transform.any_op
    transform.tuning.match.size %arg0 "depth" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "keys" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "queries" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "width" equals 64 : !transform.any_op
    %0 = transform.param.constant {groups = 1 : i64, keys = 128 : i64, kind = "attention", queries = 64 : i64, query_programs = 1 : i64, split_keys = 0 : i64, split_parts = 0 : i64, transposed = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel7(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 768 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 768 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 2 : i64, columns = 24 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 32 : i64, rows = 4 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel8(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["linear", "add", "layer_norm", "layer_norm", "layer_norm", "layer_norm", "layer_norm"], signature = "03f59e959156694b", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 0>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 21, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel9(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 3072 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 768 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 5 : i64, columns = 24 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 32 : i64, rows = 4 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel10(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", operations = ["linear", "gelu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 3072 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1024>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 5, 3>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel11(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 768 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 3072 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 2 : i64, columns = 24 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 32 : i64, rows = 4 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel12(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["linear", "add", "layer_norm", "layer_norm", "layer_norm", "layer_norm", "layer_norm"], signature = "b91b70b634916f70", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 0>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 21, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel13(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "0c65e9f4c0cf89aa", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 2304 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 768 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 5 : i64, columns = 24 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 32 : i64, rows = 4 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel14(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["linear"], signature = "0c65e9f4c0cf89aa", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 2304 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 768>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 7, 3>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @configure(%arg0: !transform.any_op {transform.readonly}, %arg1: !transform.any_param {transform.readonly}) {
    transform.annotate %arg0 "configuration" = %arg1 : !transform.any_op, !transform.any_param
    transform.yield 
  }
  transform.named_sequence @kernel0_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "f32"], kind = "loops", operations = ["embedding"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 768>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 21, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel1_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "f32", "f32"], kind = "loops", operations = ["embedding"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 768>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 21, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel2_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64"], kind = "loops", operations = ["arange"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 128>, chunk = array<i64: 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel3_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "i64"], kind = "loops", operations = ["sub"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 1 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 0>, chunk = array<i64: 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel4_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "i64", "i64"], kind = "loops", operations = ["diff", "diff", "diff"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 0>, chunk = array<i64: 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel5_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "i64", "i64"], kind = "loops", operations = ["diff", "ne", "cumsum"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 0>, chunk = array<i64: 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel6_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "i64"], kind = "loops", operations = ["index", "index", "index", "index"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 128>, chunk = array<i64: 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel7_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["embedding", "add", "layer_norm", "layer_norm", "layer_norm", "layer_norm", "layer_norm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 0>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 10, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel8_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 2304 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 768 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 5 : i64, columns = 24 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 32 : i64, rows = 4 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel9_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", operations = ["addmm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 2304 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 768>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 7, 3>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel12_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["addmm"], signature = "d8055233e5be663f", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 768>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 21, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel13_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 0 : i64, operations = ["add", "layer_norm", "layer_norm", "layer_norm", "layer_norm", "layer_norm"], signature = "62a0eb325845cf7b", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 0>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 10, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel15(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", operations = ["addmm", "pow", "mul", "add", "mul", "tanh", "add", "mul", "mul"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 3072 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1024>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 5, 3>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel17(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["addmm"], signature = "89c80294d57b3482", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 768>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 21, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel18(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 0 : i64, operations = ["add", "layer_norm", "layer_norm", "layer_norm", "layer_norm", "layer_norm"], signature = "cffc6e1b7ef5f987", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 0>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 10, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel19(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["add", "layer_norm", "layer_norm", "layer_norm", "layer_norm", "layer_norm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 768 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 0>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 21, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel20(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 50257 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 768 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 10 : i64, columns = 24 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 32 : i64, rows = 4 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel0_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 112 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 112 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 7 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 16 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 1 : i64, width = 5 : i64, width_programs = 23 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel1_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 112 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 112 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 64 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 16, 64>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 2, 7, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel2_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32"], kind = "loops", operations = ["max_pool2d"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_3" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_4" equals 64 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 0, 0, 1, 14, 64>, chunk = array<i64: 0, 0, 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 1, 1, 4, 4, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel3_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 64 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 4 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 31 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel4_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "relu"], signature = "2b82867707e812fc", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 64 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 16, 64>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel5_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32"], kind = "winograd_weights", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 64 : !transform.any_op
    %0 = transform.param.constant {channels = 1 : i64, kind = "winograd_weights"} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel6_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 64 : i64, height = 7 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 0 : i64, width = 7 : i64, width_programs = 8 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel7_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 64 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 14, 64>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 4, 4, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel8_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "363c714b24b58f69", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 64 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 16 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 31 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel9_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 1 : i64, signature = "363c714b24b58f69", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 64 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 16 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 31 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel10_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "batch_norm", "add_", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 256 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 256>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 64, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel11_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 3 : i64, signature = "363c714b24b58f69", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 256 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 4 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 31 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel12_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 4 : i64, operations = ["batch_norm", "relu"], signature = "363c714b24b58f69", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 64 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 16, 64>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel13_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "0e6d9b0796f5cc3d", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 64 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 16 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 31 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel14_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "add_", "relu"], signature = "0e6d9b0796f5cc3d", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 256 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 256>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 64, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel15_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "0e6d9b0796f5cc3d", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 256 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 4 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 31 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel16(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "relu"], signature = "0e6d9b0796f5cc3d", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 64 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 16, 64>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel17_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "c130da17ff4990fa", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 64 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 16 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 31 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel18_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "add_", "relu"], signature = "c130da17ff4990fa", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 256 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 256>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 64, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel19_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 256 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 8 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 31 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel20_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 128 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 8, 128>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel21(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 16 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 0 : i64, packed = 1 : i64, width = 5 : i64, width_programs = 6 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel22(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "relu"], signature = "d953a30ae2b9175d", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 128 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 7, 128>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 4, 4, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel23(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 1 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 16 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 0 : i64, packed = 1 : i64, width = 5 : i64, width_programs = 6 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel24(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "5dcae8d30f61e384", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 128 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 8 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 27 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel25(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "batch_norm", "add_", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 512 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 512>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 32, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel26(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "5dcae8d30f61e384", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 512 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 2 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 27 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel27(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "relu"], signature = "5dcae8d30f61e384", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 128 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 8, 128>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel28(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32"], kind = "winograd_weights", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 128 : !transform.any_op
    %0 = transform.param.constant {channels = 1 : i64, kind = "winograd_weights"} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel29(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 64 : i64, height = 2 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 0 : i64, width = 14 : i64, width_programs = 2 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel30(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 2 : i64, operations = ["batch_norm", "relu"], signature = "71f9fe783f63f55f", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 128 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 7, 128>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 4, 4, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel31(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "d33679fbc581c3bb", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 128 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 8 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 27 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel32(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "add_", "relu"], signature = "d33679fbc581c3bb", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 512 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 512>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 32, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel33(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "d33679fbc581c3bb", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 512 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 2 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 27 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel34(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "relu"], signature = "d33679fbc581c3bb", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 128 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 8, 128>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel35(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "7378a5247f6c2f0c", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 128 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 8 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 27 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel36(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "add_", "relu"], signature = "7378a5247f6c2f0c", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 512 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 512>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 32, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel37(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 512 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 4 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 27 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel38(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 256 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 256>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 64, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel39(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 16 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 1 : i64, width = 5 : i64, width_programs = 3 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel40(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "relu"], signature = "784e0e44f70ceaab", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 256 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1, 256>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 4, 14, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel41(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 1 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 16 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 0 : i64, packed = 1 : i64, width = 5 : i64, width_programs = 3 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel42(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "23c0d83306aa957f", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 256 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 8 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 17 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel43(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "batch_norm", "add_", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 1024 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1024>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel44(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 1024 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 2 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 17 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel45(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 256 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 256>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 64, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel46(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32"], kind = "winograd_weights", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 256 : !transform.any_op
    %0 = transform.param.constant {channels = 1 : i64, kind = "winograd_weights"} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel47(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 128 : i64, column_programs = 1 : i64, columns = 64 : i64, height = 7 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 0 : i64, width = 7 : i64, width_programs = 2 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel48(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 2 : i64, operations = ["batch_norm", "relu"], signature = "5a43169e68525466", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 256 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1, 256>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 4, 14, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel49(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "7a8d4aeae46074c1", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 256 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 8 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 17 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel50(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "add_", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 1024 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1024>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel51(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 1024 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 4 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 17 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel52(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 512 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 512>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 32, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel53(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 16 : i64, height = 7 : i64, in_scratch = 1 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 1 : i64, width = 7 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel54(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "relu"], signature = "9b65c73ac2826b8a", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 512 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1, 512>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 4, 7, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel55(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 2048 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 1 : !transform.any_op
    %0 = transform.param.constant {channel_step = 512 : i64, column_programs = 1 : i64, columns = 16 : i64, height = 7 : i64, in_scratch = 1 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 1 : i64, width = 7 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel56(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "f493ffe799d9dd28", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 2048 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 512 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 8 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 10 : i64, rows = 5 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel57(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "batch_norm", "add_", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 2048 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1024>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 8, 2>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel58(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 2048 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 2 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 10 : i64, rows = 5 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel59(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 512 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 512>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 32, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel60(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 16 : i64, height = 7 : i64, in_scratch = 1 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 1 : i64, width = 7 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel61(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "relu"], signature = "bc5aa61064c54160", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 512 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1, 512>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 4, 7, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel62(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "6de5d4435528d222", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 2048 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 512 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 8 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 10 : i64, rows = 5 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel63(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "add_", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 2048 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1024>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 8, 2>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel64(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "1559e803b8140a8b", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 2048 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 512 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 8 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 10 : i64, rows = 5 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel65(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "add_", "relu"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 2048 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 49 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 16, 49>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 20, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel0_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 112 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 112 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 32 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 16 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 1 : i64, width = 5 : i64, width_programs = 23 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel1_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "hardtanh"], signature = "09e784b72e74c2b7", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 112 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 112 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 32 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 28, 32>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 4, 4, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel2_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 32 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 112 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 112 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 8 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 0 : i64, packed = 0 : i64, width = 8 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel3_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "hardtanh"], signature = "06f94915f29d6d2f", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 112 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 112 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 32 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 28, 32>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 4, 4, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel4_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 16 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 12544 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 32 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 32 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel5_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 12544 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 16 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 64, 16>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel6_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 96 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 12544 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 16 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 6 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 32 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel7_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "hardtanh"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 12544 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 96 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 10, 96>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 17, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel8_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 96 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 8 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 0 : i64, packed = 0 : i64, width = 8 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel9_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "hardtanh"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 96 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 10, 96>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 2, 6, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel10_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 24 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 96 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 24 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 47 : i64, rows = 4 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel11_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 24 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 42, 24>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel12_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "c7b4e484629b4ac5", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 144 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 24 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 9 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 31 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel13_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "hardtanh"], signature = "c7b4e484629b4ac5", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 144 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 7, 144>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel14_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 144 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 8 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 0 : i64, packed = 0 : i64, width = 8 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel15_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "hardtanh"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 56 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 144 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 7, 144>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 2, 8, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel16_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 24 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 144 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 24 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 47 : i64, rows = 4 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel17_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "add"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 24 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 42, 24>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel18_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "152dca93890ad4c1", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 144 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 24 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 9 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 31 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel19_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "hardtanh"], signature = "152dca93890ad4c1", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 3136 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 144 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 7, 144>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel20_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 144 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 8 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 0 : i64, packed = 0 : i64, width = 7 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel21_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "hardtanh"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 144 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 7, 144>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 4, 4, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel22_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 32 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 144 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 27 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel23_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 32 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 32, 32>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel24_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "db721f2fd279baa6", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 192 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 32 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 6 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 27 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel25_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "hardtanh"], signature = "db721f2fd279baa6", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 192 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 5, 192>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 17, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel26_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 192 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 8 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 0 : i64, packed = 0 : i64, width = 7 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel27_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "hardtanh"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 28 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 192 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 5, 192>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 2, 6, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel28_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "d04fc9d99b02fd54", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 32 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 192 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 27 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel29_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "add"], signature = "d04fc9d99b02fd54", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 32 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 32, 32>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel30_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "d04fc9d99b02fd54", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 192 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 32 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 6 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 27 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel31_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "hardtanh"], signature = "d04fc9d99b02fd54", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 192 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 5, 192>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 17, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel32_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "09aba474f5124083", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 32 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 192 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 27 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel33_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "add"], signature = "09aba474f5124083", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 32 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 32, 32>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 16, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel34_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "09aba474f5124083", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 192 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 32 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 6 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 27 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel35_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "hardtanh"], signature = "09aba474f5124083", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 784 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 192 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 5, 192>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 17, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel36_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 192 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 8 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 0 : i64, width = 7 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel37_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "hardtanh"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 192 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 5, 192>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 5, 3, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel38_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 192 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 17 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel39_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 64 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 16, 64>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 13, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel40_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "0aab3e8e2f0714d5", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 384 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 64 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 3 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 17 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel41_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "hardtanh"], signature = "0aab3e8e2f0714d5", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 384 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 384>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 42, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel42_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 384 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 8 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 0 : i64, width = 7 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel43_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "hardtanh"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 384 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1, 384>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 3, 14, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel44_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "cb90641b18aa45ad", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 384 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 8 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel45_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "add"], signature = "cb90641b18aa45ad", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 64 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 16, 64>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 13, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel46_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "cb90641b18aa45ad", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 384 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 64 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 3 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 17 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel47_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "hardtanh"], signature = "cb90641b18aa45ad", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 384 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 384>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 42, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel48_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "f97280b6978ed5fa", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 384 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 8 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel49_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "add"], signature = "f97280b6978ed5fa", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 64 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 16, 64>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 13, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel50_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "f97280b6978ed5fa", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 384 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 64 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 3 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 17 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel51_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "hardtanh"], signature = "f97280b6978ed5fa", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 384 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 384>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 42, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel52_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 96 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 384 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 8 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel53_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 96 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 10, 96>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 17, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel54_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "9a38f9ae2d4be82f", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 576 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 96 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 3 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 17 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel55_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "hardtanh"], signature = "9a38f9ae2d4be82f", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 576 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 576>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 28, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel56_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 576 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 8 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 0 : i64, width = 7 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel57_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "hardtanh"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 14 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 576 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1, 576>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 2, 14, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel58_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "fd5589ccb95f670d", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 96 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 576 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 8 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel59_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "add"], signature = "fd5589ccb95f670d", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 96 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 10, 96>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 17, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel60_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "fd5589ccb95f670d", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 576 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 96 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 3 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 17 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel61_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "hardtanh"], signature = "fd5589ccb95f670d", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 576 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 576>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 28, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel62_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "3266646de36a81cb", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 96 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 576 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 8 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel63_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["batch_norm", "add"], signature = "3266646de36a81cb", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 96 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 10, 96>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 17, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel64_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 2 : i64, signature = "3266646de36a81cb", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 576 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 96 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 3 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 17 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel65_0(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["batch_norm", "hardtanh"], signature = "3266646de36a81cb", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 196 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 576 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 576>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 28, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel66(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 576 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 2 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 8 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 0 : i64, width = 7 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel67(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "hardtanh"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 576 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1, 576>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 4, 7, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel68(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 160 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 576 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 10 : i64, rows = 5 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel69(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 160 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 6, 160>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 9, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel70(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 960 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 160 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 3 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 10 : i64, rows = 5 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel71(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "hardtanh"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 960 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 960>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 17, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel72(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "convolution", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "channels" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "dilation_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "groups" equals 960 : !transform.any_op
    transform.tuning.match.size %arg0 "output_0" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "output_1" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "outputs" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_0" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "stride_1" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "window_0" equals 3 : !transform.any_op
    transform.tuning.match.size %arg0 "window_1" equals 3 : !transform.any_op
    %0 = transform.param.constant {channel_step = 0 : i64, column_programs = 1 : i64, columns = 8 : i64, height = 1 : i64, in_scratch = 0 : i64, kind = "convolution", outputs_outermost = 1 : i64, packed = 0 : i64, width = 7 : i64, width_programs = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel73(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "hardtanh"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 7 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 960 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1, 960>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 2, 7, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel74(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 160 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 960 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 5 : i64, rows = 5 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel75(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "add"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 160 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 6, 160>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 9, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel76(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 320 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 960 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 10 : i64, rows = 5 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel77(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 320 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 320>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 49, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel78(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 1280 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 49 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 320 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 4 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 10 : i64, rows = 5 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel79(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["batch_norm", "hardtanh"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 1280 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 49 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 16, 49>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 20, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel0_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["layer_norm", "layer_norm", "layer_norm", "layer_norm", "layer_norm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 1280 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 0>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 12, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel1_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 3840 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 1280 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 16 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 29 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel2_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32"], kind = "attention", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 20 : !transform.any_op
    transform.tuning.match.size %arg0 "depth" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "keys" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "queries" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "width" equals 64 : !transform.any_op
    %0 = transform.param.constant {groups = 1 : i64, keys = 512 : i64, kind = "attention", queries = 128 : i64, query_programs = 1 : i64, split_keys = 0 : i64, split_parts = 0 : i64, transposed = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel3_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "93eb6fa5ec62aff8", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 1280 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 1280 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 16 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 29 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel4_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["linear", "add", "layer_norm", "layer_norm", "layer_norm", "layer_norm", "layer_norm"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 1280 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 0>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 6, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel5_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "52078232e62e127f", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 1280 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 1280 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 16 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 29 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel6_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 2560 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 77 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 2048 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 8 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 13 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel7_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "attention", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 20 : !transform.any_op
    transform.tuning.match.size %arg0 "depth" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "keys" equals 77 : !transform.any_op
    transform.tuning.match.size %arg0 "queries" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "width" equals 64 : !transform.any_op
    %0 = transform.param.constant {groups = 1 : i64, keys = 77 : i64, kind = "attention", queries = 256 : i64, query_programs = 1 : i64, split_keys = 0 : i64, split_parts = 0 : i64, transposed = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel8_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 10240 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 1280 : !transform.any_op
    %0 = transform.param.constant {column_parts = 2 : i64, column_programs = 8 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 29 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel9_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", operations = ["linear"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 10240 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1024>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 1, 10>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel10_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32"], kind = "loops", operations = ["gelu", "mul"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 5120 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 1024>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 3, 5>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel11_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 1280 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 5120 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 16 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 29 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel12_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32", "f32"], kind = "loops", operations = ["linear", "add"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 1024 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 1280 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 640>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 12, 2>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel0_4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 13 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 16 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 22 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel1_4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["linear", "relu"], signature = "24ee8d3c69695cbe", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 512 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 512>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 32, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel2_4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "9637bbd980ebf907", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 512 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 22 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel3_4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["linear", "relu"], signature = "9637bbd980ebf907", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 256 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 256>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 64, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel4_4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 256 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 11 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel5_4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "i64", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["linear", "relu", "embedding", "embedding", "embedding", "embedding", "embedding", "embedding", "embedding", "embedding", "embedding", "embedding", "stack", "stack", "stack", "stack", "stack", "stack", "stack", "stack", "stack", "stack", "stack"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 64 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 16, 64>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 1, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel6_4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["embedding", "embedding", "embedding", "embedding", "embedding", "embedding", "embedding", "embedding", "embedding", "embedding", "embedding", "embedding", "stack", "stack", "stack", "stack", "stack", "stack", "stack", "stack", "stack", "stack", "stack", "stack"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 64 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 16, 64>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 1, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel7_4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "f32", "f32", "f32", "f32", "f32", "f32"], kind = "loops", operations = ["embedding", "embedding", "embedding", "embedding", "stack", "stack", "stack", "stack"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 27 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 64 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 0, 64>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 1, 1, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel8_4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32"], kind = "contraction", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 27 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 27 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 64 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 27 : i64, k_block = 0 : i64, kind = "contraction", packed = 0 : i64, panels = 1 : i64, row_programs = 1 : i64, rows = 27 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 1 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel9_4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["i64", "f32", "f32"], kind = "loops", operations = ["index"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 351 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 351>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 46, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel10_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", operations = ["cat", "cat", "cat"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 64 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_2" equals 351 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 0, 0>, chunk = array<i64: 0, 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 39, 1, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel11_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 512 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 415 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 2 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 22 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel12_4(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", number = 3 : i64, operations = ["linear", "relu"], signature = "eaf24c6e8ab813f1", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 512 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 512>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 32, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel13_3(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", number = 0 : i64, signature = "20229811714f21ee", weight = true} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 256 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 512 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 1 : i64, columns = 16 : i64, k_block = 0 : i64, kind = "contraction", packed = 1 : i64, panels = 1 : i64, row_programs = 22 : i64, rows = 6 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel14_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", number = 1 : i64, operations = ["linear", "relu"], signature = "20229811714f21ee", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "dim_1" equals 256 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 1, 256>, chunk = array<i64: 0, 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 64, 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel15_2(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "contraction", weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "batch" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "columns" equals 128 : !transform.any_op
    transform.tuning.match.size %arg0 "rows" equals 1 : !transform.any_op
    transform.tuning.match.size %arg0 "sum" equals 256 : !transform.any_op
    %0 = transform.param.constant {column_parts = 1 : i64, column_programs = 32 : i64, columns = 8 : i64, k_block = 0 : i64, kind = "contraction", packed = 0 : i64, panels = 1 : i64, row_programs = 1 : i64, rows = 1 : i64, split_k = 0 : i64, split_parts = 0 : i64, target = {accumulators_in_memory = 0 : i64, interleaved = 0 : i64, kind = "cpu"}, vectorize_reduction = 1 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @kernel16_1(%arg0: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %arg0 {dtypes = ["f32", "f32", "f32"], kind = "loops", operations = ["linear"], weight = false} : !transform.any_op
    transform.tuning.match.size %arg0 "dim_0" equals 128 : !transform.any_op
    %0 = transform.param.constant {block = array<i64: 128>, chunk = array<i64: 0>, kind = "loops", parts = 1 : i64, programs = array<i64: 1>, split_parts = 0 : i64} -> !transform.any_param
    transform.yield %arg0, %0 : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @__transform_main(%arg0: !transform.any_op {transform.consumed}) {
    %updated_root = transform.foreach_match in %arg0 
        @kernel0 -> @configure, 
        @kernel1 -> @configure, 
        @kernel2 -> @configure, 
        @kernel3 -> @configure, 
        @kernel4 -> @configure, 
        @kernel5 -> @configure, 
        @kernel6 -> @configure, 
        @kernel7 -> @configure, 
        @kernel8 -> @configure, 
        @kernel9 -> @configure, 
        @kernel10 -> @configure, 
        @kernel11 -> @configure, 
        @kernel12 -> @configure, 
        @kernel13 -> @configure, 
        @kernel14 -> @configure, 
        @kernel0_0 -> @configure, 
        @kernel1_0 -> @configure, 
        @kernel2_0 -> @configure, 
        @kernel3_0 -> @configure, 
        @kernel4_0 -> @configure, 
        @kernel5_0 -> @configure, 
        @kernel6_0 -> @configure, 
        @kernel7_0 -> @configure, 
        @kernel8_0 -> @configure, 
        @kernel9_0 -> @configure, 
        @kernel12_0 -> @configure, 
        @kernel13_0 -> @configure, 
        @kernel15 -> @configure, 
        @kernel17 -> @configure, 
        @kernel18 -> @configure, 
        @kernel19 -> @configure, 
        @kernel20 -> @configure, 
        @kernel0_1 -> @configure, 
        @kernel1_1 -> @configure, 
        @kernel2_1 -> @configure, 
        @kernel3_1 -> @configure, 
        @kernel4_1 -> @configure, 
        @kernel5_1 -> @configure, 
        @kernel6_1 -> @configure, 
        @kernel7_1 -> @configure, 
        @kernel8_1 -> @configure, 
        @kernel9_1 -> @configure, 
        @kernel10_0 -> @configure, 
        @kernel11_0 -> @configure, 
        @kernel12_1 -> @configure, 
        @kernel13_1 -> @configure, 
        @kernel14_0 -> @configure, 
        @kernel15_0 -> @configure, 
        @kernel16 -> @configure, 
        @kernel17_0 -> @configure, 
        @kernel18_0 -> @configure, 
        @kernel19_0 -> @configure, 
        @kernel20_0 -> @configure, 
        @kernel21 -> @configure, 
        @kernel22 -> @configure, 
        @kernel23 -> @configure, 
        @kernel24 -> @configure, 
        @kernel25 -> @configure, 
        @kernel26 -> @configure, 
        @kernel27 -> @configure, 
        @kernel28 -> @configure, 
        @kernel29 -> @configure, 
        @kernel30 -> @configure, 
        @kernel31 -> @configure, 
        @kernel32 -> @configure, 
        @kernel33 -> @configure, 
        @kernel34 -> @configure, 
        @kernel35 -> @configure, 
        @kernel36 -> @configure, 
        @kernel37 -> @configure, 
        @kernel38 -> @configure, 
        @kernel39 -> @configure, 
        @kernel40 -> @configure, 
        @kernel41 -> @configure, 
        @kernel42 -> @configure, 
        @kernel43 -> @configure, 
        @kernel44 -> @configure, 
        @kernel45 -> @configure, 
        @kernel46 -> @configure, 
        @kernel47 -> @configure, 
        @kernel48 -> @configure, 
        @kernel49 -> @configure, 
        @kernel50 -> @configure, 
        @kernel51 -> @configure, 
        @kernel52 -> @configure, 
        @kernel53 -> @configure, 
        @kernel54 -> @configure, 
        @kernel55 -> @configure, 
        @kernel56 -> @configure, 
        @kernel57 -> @configure, 
        @kernel58 -> @configure, 
        @kernel59 -> @configure, 
        @kernel60 -> @configure, 
        @kernel61 -> @configure, 
        @kernel62 -> @configure, 
        @kernel63 -> @configure, 
        @kernel64 -> @configure, 
        @kernel65 -> @configure, 
        @kernel0_2 -> @configure, 
        @kernel1_2 -> @configure, 
        @kernel2_2 -> @configure, 
        @kernel3_2 -> @configure, 
        @kernel4_2 -> @configure, 
        @kernel5_2 -> @configure, 
        @kernel6_2 -> @configure, 
        @kernel7_2 -> @configure, 
        @kernel8_2 -> @configure, 
        @kernel9_2 -> @configure, 
        @kernel10_1 -> @configure, 
        @kernel11_1 -> @configure, 
        @kernel12_2 -> @configure, 
        @kernel13_2 -> @configure, 
        @kernel14_1 -> @configure, 
        @kernel15_1 -> @configure, 
        @kernel16_0 -> @configure, 
        @kernel17_1 -> @configure, 
        @kernel18_1 -> @configure, 
        @kernel19_1 -> @configure, 
        @kernel20_1 -> @configure, 
        @kernel21_0 -> @configure, 
        @kernel22_0 -> @configure, 
        @kernel23_0 -> @configure, 
        @kernel24_0 -> @configure, 
        @kernel25_0 -> @configure, 
        @kernel26_0 -> @configure, 
        @kernel27_0 -> @configure, 
        @kernel28_0 -> @configure, 
        @kernel29_0 -> @configure, 
        @kernel30_0 -> @configure, 
        @kernel31_0 -> @configure, 
        @kernel32_0 -> @configure, 
        @kernel33_0 -> @configure, 
        @kernel34_0 -> @configure, 
        @kernel35_0 -> @configure, 
        @kernel36_0 -> @configure, 
        @kernel37_0 -> @configure, 
        @kernel38_0 -> @configure, 
        @kernel39_0 -> @configure, 
        @kernel40_0 -> @configure, 
        @kernel41_0 -> @configure, 
        @kernel42_0 -> @configure, 
        @kernel43_0 -> @configure, 
        @kernel44_0 -> @configure, 
        @kernel45_0 -> @configure, 
        @kernel46_0 -> @configure, 
        @kernel47_0 -> @configure, 
        @kernel48_0 -> @configure, 
        @kernel49_0 -> @configure, 
        @kernel50_0 -> @configure, 
        @kernel51_0 -> @configure, 
        @kernel52_0 -> @configure, 
        @kernel53_0 -> @configure, 
        @kernel54_0 -> @configure, 
        @kernel55_0 -> @configure, 
        @kernel56_0 -> @configure, 
        @kernel57_0 -> @configure, 
        @kernel58_0 -> @configure, 
        @kernel59_0 -> @configure, 
        @kernel60_0 -> @configure, 
        @kernel61_0 -> @configure, 
        @kernel62_0 -> @configure, 
        @kernel63_0 -> @configure, 
        @kernel64_0 -> @configure, 
        @kernel65_0 -> @configure, 
        @kernel66 -> @configure, 
        @kernel67 -> @configure, 
        @kernel68 -> @configure, 
        @kernel69 -> @configure, 
        @kernel70 -> @configure, 
        @kernel71 -> @configure, 
        @kernel72 -> @configure, 
        @kernel73 -> @configure, 
        @kernel74 -> @configure, 
        @kernel75 -> @configure, 
        @kernel76 -> @configure, 
        @kernel77 -> @configure, 
        @kernel78 -> @configure, 
        @kernel79 -> @configure, 
        @kernel0_3 -> @configure, 
        @kernel1_3 -> @configure, 
        @kernel2_3 -> @configure, 
        @kernel3_3 -> @configure, 
        @kernel4_3 -> @configure, 
        @kernel5_3 -> @configure, 
        @kernel6_3 -> @configure, 
        @kernel7_3 -> @configure, 
        @kernel8_3 -> @configure, 
        @kernel9_3 -> @configure, 
        @kernel10_2 -> @configure, 
        @kernel11_2 -> @configure, 
        @kernel12_3 -> @configure, 
        @kernel0_4 -> @configure, 
        @kernel1_4 -> @configure, 
        @kernel2_4 -> @configure, 
        @kernel3_4 -> @configure, 
        @kernel4_4 -> @configure, 
        @kernel5_4 -> @configure, 
        @kernel6_4 -> @configure, 
        @kernel7_4 -> @configure, 
        @kernel8_4 -> @configure, 
        @kernel9_4 -> @configure, 
        @kernel10_3 -> @configure, 
        @kernel11_3 -> @configure, 
        @kernel12_4 -> @configure, 
        @kernel13_3 -> @configure, 
        @kernel14_2 -> @configure, 
        @kernel15_2 -> @configure, 
        @kernel16_1 -> @configure : (!transform.any_op) -> !transform.any_op
    transform.yield 
  }
}

