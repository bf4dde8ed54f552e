# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The configurations that `tilewright tune --space --json` lists, as a tuning spec: for any model with the same kernels."""
import collections
import json

HEAD = """\
module attributes {transform.with_named_sequence, tuning.version = 4 : i64, tuning.target = "cpu"} {
"""
SEQUENCE = """\
  transform.named_sequence @NAME(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %kernel {FEATURES} : !transform.any_op
SIZES    %configuration = transform.param.constant {FIELDS} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
"""
TAIL = """\
  transform.named_sequence @configure(%kernel: !transform.any_op {transform.readonly},
      %configuration: !transform.any_param {transform.readonly}) {
    transform.annotate %kernel "configuration" = %configuration : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @__transform_main(%kernels: !transform.any_op {transform.consumed}) {
    %matched = transform.foreach_match in %kernels PAIRS : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
"""


def fields(kernel, of_target):
    """The fields of a configuration, elements of lists together."""
    numbers, lists = {}, collections.defaultdict(dict)
    for knob in kernel["knobs"]:
        if knob["of_target"] != of_target:
            continue
        if "list" in knob:
            lists[knob["list"]][knob["index"]] = knob["value"]
        else:
            numbers[knob["name"]] = knob["value"]
    texts = [f"{name} = {value}" for name, value in numbers.items()]
    texts += [f"{name} = array<i64: {', '.join(str(elements[i]) for i in sorted(elements))}>" for name, elements in lists.items()]
    return ", ".join(texts)


def matched(kernel):
    """What tells the kernel from others: features, and sizes."""
    own = kernel["features"]
    features = f"kind = \"{kernel['kind']}\", dtypes = {json.dumps(own['dtypes'])}, weight = {json.dumps(own['weight'])}"
    if kernel["kind"] == "loops":
        features += f", operations = {json.dumps(own['operations'])}"
    sizes = [f"    transform.tuning.match.size %kernel \"{name}\" {f'equals {least}' if least == most else f'least {least} most {most}'}"
             " : !transform.any_op\n" for name, (least, most) in own["sizes"].items()]
    return features, "".join(sizes)


def spec_of(spaces):
    """Kernels with the same features and sizes are told apart by the signatures of their dispatches."""
    counts = collections.Counter(map(matched, spaces))
    text, pairs = HEAD, []
    for number, kernel in enumerate(spaces):
        features, sizes = matched(kernel)
        if counts[features, sizes] > 1:
            features += f", signature = \"{kernel['signature']}\", number = {kernel['number']}"
        target = f", target = {{kind = \"{kernel['target']}\", {fields(kernel, True)}}}" if kernel["target"] else ""
        text += (SEQUENCE.replace("NAME", f"kernel{number}").replace("FEATURES", features).replace("SIZES", sizes)
                 .replace("FIELDS", f"kind = \"{kernel['kind']}\", {fields(kernel, False)}{target}"))
        pairs.append(f"@kernel{number} -> @configure")
    return text + TAIL.replace("PAIRS", ", ".join(pairs))
