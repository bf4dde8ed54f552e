#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes lib/IR/Torch/AtenSchemas.tsv: the schema of every PyTorch operator the torch dialect knows.

    python scripts/dump_aten_schemas.py lib/IR/Torch/AtenSchemas.tsv      # needs torch 2.13

One line per overload, sorted by name, four fields separated by tabs:
    name       without the leading "torch.": aten.add.Tensor
    flags      letters, see FLAGS and flags_of(); "-" when there are none
    arguments  "type name[=default]" separated by ";"; "*" starts the keyword-only ones and "..."
               ends a list that takes any number
    results    "type[ name]" separated by ";"
Types and aliasing keep PyTorch's own notation: Tensor(a!), Tensor?[], int[2].
"""
import ast
import sys

import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed::*

NAMESPACES = {"aten", "prim", "prims", "quantized", "quantized_decomposed"}

# Tags of PyTorch and the letter that stands for them.
FLAGS = {
    "nondeterministic_seeded": "s",
    "maybe_aliasing_or_mutating": "a",
    "core": "c",
    "pointwise": "p",
    "reduction": "r",
    "dynamic_output_shape": "d",
    "data_dependent_output": "D",
    "inplace_view": "i",
    "out": "o",
    "view_copy": "w",
}

# Schemas do not say that an operator exists for its effect alone.
SIDE_EFFECT = {
    "aten::_assert_async",
    "aten::_assert_scalar",
    "aten::sym_constrain_range",
    "aten::sym_constrain_range_for_size",
    "prims::_sink_tokens",
}

# Operators that other tools print in the torch dialect and that PyTorch alone does not register: prims::fma is Inductor's,
# and Dynamo puts it into graphs of optimizers for every backend.
EXTRA = """\
prims::fma(Tensor a, Tensor b, Tensor c) -> Tensor
torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, \
int pooled_width, int sampling_ratio, bool aligned) -> Tensor
torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, int pooled_height, \
int pooled_width) -> (Tensor, Tensor)
torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, \
int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, \
int offset_groups, bool use_mask) -> Tensor
valsem::aten.bernoulli.float(Tensor self, float p, Generator? generator) -> Tensor
onnx::rotary_embedding(Tensor input, Tensor position_ids, Tensor cos_cache, Tensor sin_cache, \
int interleaved, int is_packed_batching, int num_heads, int rotary_embedding_dim, float scale) \
-> Tensor
hop_flex_attention(Tensor query, Tensor key, Tensor value, float? scale, bool return_lse, \
bool return_max_scores) -> (Tensor output, Tensor? logsumexp, Tensor? max_scores)"""


def nesting(text):
    """Yields (position, character, depth before it) for the characters outside string literals."""
    depth, quote, i = 0, None, 0
    while i < len(text):
        c = text[i]
        if quote:
            if c == "\\":
                i += 1
            elif c == quote:
                quote = None
        elif c in "\"'":
            quote = c
        else:
            yield i, c, depth
            depth += (c in "([") - (c in ")]")
        i += 1


def split_top(text):
    """Splits at the commas that are outside brackets and string literals."""
    cuts = [-1] + [i for i, c, depth in nesting(text) if c == "," and depth == 0] + [len(text)]
    return [text[a + 1 : b].strip() for a, b in zip(cuts, cuts[1:]) if text[a + 1 : b].strip()]


def closing(text):
    """The position of the bracket that closes the first one in `text`."""
    return next(i for i, c, depth in nesting(text) if c in ")]" and depth == 1)


def parts(schema):
    """Splits the text of a schema into (name, arguments, results)."""
    name, rest = schema[: schema.index("(")], schema[schema.index("(") :]
    end = closing(rest)
    results = rest[end + 1 :].strip().removeprefix("-> ")
    tuple_of_results = results.startswith("(") and closing(results) == len(results) - 1
    return (name, split_top(rest[1:end]),
            split_top(results[1:-1]) if tuple_of_results else [results])


def check_defaults(schema, arguments):
    """The text must say what the schema object says; int[2] x=0 is the one known abbreviation."""
    plain = [a for a in arguments if a not in ("*", "...")]
    assert len(plain) == len(schema.arguments), str(schema)
    for text, argument in zip(plain, schema.arguments):
        if not argument.has_default_value():
            continue
        value = ast.literal_eval(text[text.index("=") + 1 :])
        expected = argument.default_value
        abbreviated = isinstance(expected, list) and expected == [value] * len(expected)
        assert value == expected or abbreviated, (str(schema), text, expected)


def flags_of(schema, tags):
    """m: writes to an argument; e: exists for its effect; v: a result aliases an argument;
    the other letters are FLAGS."""
    flags = ""
    if schema.is_mutable or any(a.is_write for a in schema.arguments):
        flags += "m"
    if schema.name in SIDE_EFFECT or (not schema.returns and not schema.is_mutable):
        flags += "e"
    if any(r.alias_info is not None and not r.is_write for r in schema.returns
           if hasattr(r, "alias_info")):
        flags += "v"
    return flags + "".join(letter for tag, letter in FLAGS.items() if tag in tags)


def row(name, flags, arguments, results):
    assert not any(";" in a or "\t" in a or "\n" in a for a in arguments + results), name
    return "\t".join([name, flags or "-", ";".join(arguments), ";".join(results)])


def registered_rows():
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.split("::")[0] not in NAMESPACES:
            continue
        _, arguments, results = parts(str(schema))
        check_defaults(schema, arguments)
        tags = torch._C._get_operation_overload(schema.name, schema.overload_name)[2]
        name = schema.name.replace("::", ".")
        if schema.overload_name:
            name += "." + schema.overload_name
        yield row(name, flags_of(schema, {str(t)[4:] for t in tags}), arguments, results)


def extra_rows():
    for text in EXTRA.splitlines():
        name, arguments, results = parts(text)
        yield row(name.replace("::", "."), "s" if "bernoulli" in name else "", arguments, results)


def main():
    rows = sorted([*registered_rows(), *extra_rows()], key=lambda r: r.split("\t")[0].encode())
    with open(sys.argv[1], "w") as out:
        out.write(f"# torch {torch.__version__.split('+')[0]}; made by scripts/dump_aten_schemas.py\n")
        out.writelines(r + "\n" for r in rows)
    print(f"{len(rows)} schemas")


if __name__ == "__main__":
    main()
