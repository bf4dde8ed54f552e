# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported programs that somebody has changed, as their graphs may be: what torch.export writes into none is refused."""
import pytest
import torch

import tilewright

aten = torch.ops.aten


class Exponential(torch.nn.Module):
    def forward(self, x):
        return x.exp()


class Sizes(torch.nn.Module):
    def forward(self, x):
        return x + torch.ops.tilewright_changed_test.sizes(x)[0]


def attribute(module, graph, y):
    module.number = 3
    number = graph.get_attr("number")
    number.meta["val"] = 3
    return graph.call_function(aten.add.Tensor, (y, number))


def whole_list(_, graph, y):
    parts = graph.call_function(aten.split.Tensor, (y, 2))
    parts.meta["val"] = [y.meta["val"][:2]] * 2
    return graph.call_function(aten.cat.default, (parts,))


def complex_number(_, graph, y):
    number = graph.call_function(aten.item.default, (y,))
    number.meta["val"] = 2j
    return graph.call_function(aten.mul.Tensor, (y, number))


def module_call(module, graph, y):
    module.add_submodule("act", torch.nn.ReLU())
    return graph.call_module("act", (y,))


CHANGES = {
    "a call of the method relu": lambda _, graph, y: graph.call_method("relu", (y,)),
    "a call of the module act": module_call,
    "a call of torch.relu": lambda _, graph, y: graph.call_function(torch.relu, (y,)),
    "an attribute that is a int": attribute,
    "an argument that is a list": whole_list,
    "a constant that is a range": lambda _, graph, y: graph.call_function(aten.add.Tensor, (y, range(3))),
    "a value that is a complex": complex_number,
    "an integer beyond 64 bits": lambda _, graph, y: graph.call_function(aten.add.Tensor, (y, 2**63)),
}


@pytest.mark.parametrize("said", CHANGES)
def test_what_cannot_be_written(said, refusal):
    exported = torch.export.export(Exponential(), (torch.ones(4),))
    graph = exported.graph_module.graph
    end = graph.output_node()
    y = end.args[0][0]
    with graph.inserting_before(end):
        new = CHANGES[said](exported.graph_module, graph, y)
    new.meta = dict(y.meta)
    end.replace_input_with(y, new)
    exported.graph_signature.output_specs[0].arg.name = new.name
    with refusal("TW-PYTHON-0007", f"ExportedProgram has {said} in it", "write that part of the model in another way"):
        tilewright.compile(exported)


def test_generators(refusal):
    """Which torch.export takes, as objects of their own kind."""
    module = Exponential()
    module.forward = lambda x: x + torch.rand(4, generator=torch.Generator())
    with refusal("TW-PYTHON-0007", "Exponential has a constant that is a CustomObjArgument in it"):
        tilewright.compile(module, (torch.ones(4),))


def test_results_that_are_lists_of_numbers(refusal):
    with torch.library._scoped_library("tilewright_changed_test", "FRAGMENT") as library:
        library.define("sizes(Tensor x) -> int[]")
        for key in ("CPU", "Meta"):
            library.impl("sizes", lambda x: [1, 2], key)
        with refusal("TW-PYTHON-0007", "Sizes has a result that is a list of something else than tensors in it"):
            tilewright.compile(Sizes(), (torch.ones(4),))
