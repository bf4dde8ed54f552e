#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `tilewright tune` finds in whole models, from the configurations of another kind of machine.

    bench/tune.py BUILD FOLDER [NAME ...] [--start=cpu:x86-64-v3] [--budget=30m] [--threads=N] [--json]

FOLDER has models as scripts/models.sh exports them, each with the inputs of its case. The search begins with what the
compiler chooses for the CPU that --start names, and ends with the comparison with its choice for this one. One row a
model: a call before, what is left of it, and what that is in terms of the compiler's choice; below 1 is faster.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HEAD = """\
module attributes {transform.with_named_sequence, tuning.version = 4 : i64, tuning.target = "cpu"} {
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


def fields(knobs, of_target):
    """The fields of a configuration, elements of lists together."""
    numbers, lists = {}, {}
    for knob in knobs:
        if knob["of_target"] != of_target:
            continue
        name, _, index = knob["name"].rpartition("_")
        if index.isdigit():
            lists.setdefault(name, {})[int(index)] = knob["value"]
        else:
            numbers[knob["name"]] = knob["value"]
    texts = [f"{name} = {value}" for name, value in numbers.items()]
    for name, elements in lists.items():
        texts.append(f"{name} = array<i64: {', '.join(str(elements[i]) for i in sorted(elements))}>")
    return ", ".join(texts)


def spec_of(spaces):
    """The configurations that kernels have, as a tuning spec."""
    text, pairs = HEAD, []
    for number, kernel in enumerate(spaces):
        target = ""
        if kernel["target"]:
            target = f", target = {{kind = \"{kernel['target']}\", {fields(kernel['knobs'], True)}}}"
        text += f"""\
  transform.named_sequence @kernel{number}(%kernel: !transform.any_op {{transform.readonly}})
      -> (!transform.any_op, !transform.any_param) {{
    transform.tuning.match.kernel %kernel {{signature = "{kernel['signature']}", number = {kernel['number']}}}
        : !transform.any_op
    %configuration = transform.param.constant {{
        kind = "{kernel['kind']}", {fields(kernel['knobs'], False)}{target}}} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }}
"""
        pairs.append(f"@kernel{number} -> @configure")
    return text + TAIL.replace("PAIRS", ", ".join(pairs))


def inputs_of(folder):
    """Of the first call of the model's case."""
    case = json.loads((folder / "case.json").read_text())
    inputs = case["cases"][0]["calls"][0]["inputs"]
    return [f"--input=@{folder / text[1:]}" if text.startswith("@") else f"--input={text}" for text in inputs]


def run(command):
    ended = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {ended.returncode}")
    return ended.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--start", default="cpu:x86-64-v3")
    parser.add_argument("--budget", default="30m")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tilewright = options.build / "bin/tilewright"
    results = []
    for folder in sorted(path for path in options.folder.iterdir() if (path / "case.json").exists()):
        if options.names and folder.name not in options.names:
            continue
        model = folder / f"{folder.name}.pt2"
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            spaces = json.loads(run([tilewright, "tune", model, "--space", "--json", "--count=0",
                                     f"--target={options.start}"]))["spaces"]
            (scratch / "start.mlir").write_text(spec_of(spaces))
            report = json.loads(run([tilewright, "tune", model, *inputs_of(folder), f"--budget={options.budget}",
                                     f"--threads={options.threads}", f"--tuning-spec={scratch / 'start.mlir'}", "-o",
                                     scratch / "found.mlir", "--json"]))
        results.append({"model": folder.name, **{key: report[key] for key in
                                                 ("start_us", "ratio", "ratio_of_compilers", "trials")}})
        if not options.json:
            ratio, compilers = report["ratio"], report["ratio_of_compilers"]
            print(f"{folder.name:16} {report['start_us']:10.0f} us  {ratio['median']:.3f} "
                  f"({ratio['low']:.3f} to {ratio['high']:.3f})  of the compiler's {compilers['median']:.3f} "
                  f"({compilers['low']:.3f} to {compilers['high']:.3f})  {report['trials']} trials", flush=True)
    if options.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
