module attributes {transform.with_named_sequence, tuning.version = 4 : i64, tuning.target = "nvidia"} {
  transform.named_sequence @any_product(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %kernel {kind = "contraction"} : !transform.any_op
    %configuration = transform.param.constant {kind = "contraction", rows = 128} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @configure(%kernel: !transform.any_op {transform.readonly},
      %configuration: !transform.any_param {transform.readonly}) {
    transform.annotate %kernel "configuration" = %configuration : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @__transform_main(%kernels: !transform.any_op {transform.consumed}) {
    %matched = transform.foreach_match in %kernels @any_product -> @configure : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
