# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""variant.py NAME OUT: e2e/models/small_mlp changed in one way that no model there shows."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "errors"))
import make_pt2  # noqa: E402


def expand(weight):
    """Every row is the second one."""
    meta = weight["tensor_meta"]
    meta["strides"][0] = {"as_int": 0}
    meta["storage_offset"] = {"as_int": 16}


def customise(node):
    node["target"] = "torch.ops.mylib.smooth.default"


def return_texts(document):
    """None first, and a text last."""
    module = document["graph_module"]
    graph, signature = module["graph"], module["signature"]
    for place, value in (0, {"as_none": True}), (2, {"as_string": "fine"}):
        graph["outputs"].insert(place, value)
        signature["output_specs"].insert(place, {"user_output": {"arg": value}})


VARIANTS = {"expanded": lambda: make_pt2.weight(expand), "custom": lambda: make_pt2.node(customise, index=1),
            "fixed": lambda: make_pt2.edited(make_pt2.MODEL, return_texts)}
pathlib.Path(sys.argv[2]).write_bytes(VARIANTS[sys.argv[1]]())
