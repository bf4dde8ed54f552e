# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tuning specs that are wrong in one place each, for make_inputs.py."""

FINE = """\
module attributes {transform.with_named_sequence, tuning.version = 4 : i64, tuning.target = "cpu"} {
  transform.named_sequence @few_rows(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %kernel {kind = "contraction"} : !transform.any_op
    transform.tuning.match.size %kernel "rows" most 6 : !transform.any_op
    %configuration = transform.param.constant {kind = "contraction", rows = 2} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @configure(%kernel: !transform.any_op {transform.readonly},
      %configuration: !transform.any_param {transform.readonly}) {
    transform.annotate %kernel "configuration" = %configuration : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @__transform_main(%kernels: !transform.any_op {transform.consumed}) {
    %matched = transform.foreach_match in %kernels @few_rows -> @configure : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
"""

# Name, what stands in FINE, what stands here.
CHANGES = [
    ("not_mlir", FINE, "{\"configurations\": []}"),
    ("other_module", FINE, "module {}\n"),
    ("later", "tuning.version = 4", "tuning.version = 9"),
    ("zero", "tuning.version = 4", "tuning.version = 0"),
    ("nvidia", "\"cpu\"", "\"nvidia\""),
    ("no_target", ", tuning.target = \"cpu\"", ""),
    ("unknown_attribute", "tuning.target", "tuning.targets"),
    ("no_entry", "@__transform_main", "@main"),
    ("entry_gives", "@__transform_main(%kernels: !transform.any_op {transform.consumed})",
     "@__transform_main()"),
    ("unknown_matcher", "match.size", "match.extent"),
    ("unknown_feature", "{kind = \"contraction\"} : ", "{colour = \"red\"} : "),
    ("unknown_dtype", "{kind = \"contraction\"} : ", "{dtypes = [\"f32\", \"float\"]} : "),
    ("text_feature", "{kind = \"contraction\"} : ", "{weight = \"yes\"} : "),
    ("unknown_kind", "{kind = \"contraction\"} : ", "{kind = \"matmul\"} : "),
    ("unknown_size", "\"rows\" most", "\"queries\" most"),
    ("no_size", "{kind = \"contraction\"} : !transform.any_op\n"
                "    transform.tuning.match.size %kernel \"rows\" most",
     "{weight = true} : !transform.any_op\n    transform.tuning.match.size %kernel \"lines\" most"),
    ("asks_nothing", "\"rows\" most 6", "\"rows\""),
    ("multiple_of_zero", "\"rows\" most 6", "\"rows\" multiple_of 0"),
    ("no_kind", "{kind = \"contraction\", rows", "{rows"),
    ("other_kind", "{kind = \"contraction\", rows", "{kind = \"matmul\", rows"),
    ("unknown_field", "rows = 2", "lines = 2"),
    ("text_field", "rows = 2", "rows = \"2\""),
    ("list_field", "rows = 2", "rows = array<i64: 2>"),
    ("wide_field", "rows = 2", "rows = 2 : i128"),
    ("fits_nothing", "rows = 2", "rows = 1000000"),
    ("negative_field", "rows = 2", "rows = -2"),
    ("negative_variant", "rows = 2", "rows = 2, variants = [{kind = \"contraction\", at_most = 4, columns = -16}]"),
    ("unknown_target", "\"cpu\"", "\"cpu:amx\""),
    ("text_target", "rows = 2", "rows = 2, target = \"cpu\""),
    ("text_variants", "rows = 2", "rows = 2, variants = 3"),
    ("variant_for_none", "rows = 2", "rows = 2, variants = [{kind = \"contraction\", at_most = 0}]"),
    ("variant_bound_misplaced", "rows = 2", "rows = 2, at_most = 4"),
    ("variant_twice", "rows = 2", "rows = 2, variants = [{kind = \"contraction\", at_most = 4}, "
                                  "{kind = \"contraction\", at_most = 4}]"),
    ("no_dictionary", "{kind = \"contraction\", rows = 2}", "2 : i64"),
    ("other_annotation", "\"configuration\" =", "\"config\" ="),
    ("prints", "    transform.annotate", "    transform.print %kernel : !transform.any_op\n    transform.annotate"),
    ("includes_itself", "    transform.annotate",
     "    transform.include @configure failures(propagate) (%kernel, %configuration) : "
     "(!transform.any_op, !transform.any_param) -> ()\n    transform.annotate"),
    ("matches_module", "foreach_match in", "foreach_match restrict_root in"),
    ("two_lists", "    transform.yield\n  }\n}",
     "    %again = transform.foreach_match in %matched @few_rows -> @configure : (!transform.any_op) -> !transform.any_op\n"
     "    transform.yield\n  }\n}"),
    ("action_matches", "    transform.annotate %kernel",
     "    transform.tuning.match.size %kernel \"rows\" most 6 : !transform.any_op\n    transform.annotate %kernel"),
    ("matcher_annotates", "    transform.yield %kernel, %conf",
     "    transform.annotate %kernel \"configuration\" = %configuration : !transform.any_op, !transform.any_param\n"
     "    transform.yield %kernel, %conf"),
    ("external", "  transform.named_sequence @__transform_main",
     "  transform.named_sequence private @elsewhere(!transform.any_op {transform.readonly})\n"
     "  transform.named_sequence @__transform_main"),
    ("deep", "rows = 2", "rows = " + "[" * 3000 + "]" * 3000),
]


def spec_files():
    files = [("fine.mlir", FINE.encode())]
    for name, old, new in CHANGES:
        assert old in FINE, name
        files.append((f"{name}.mlir", FINE.replace(old, new, 1).encode()))
    return files
