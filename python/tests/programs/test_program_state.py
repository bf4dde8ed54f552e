# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs write to: inputs that the model changes, and state between calls."""
import copy
import subprocess
import sys

import numpy as np
import torch

import tilewright


class Counter(torch.nn.Module):
    """Writes to its input, and counts."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x, cache):
        self.count.add_(x)
        cache.add_(1)
        return x + self.count


def test_mutation_and_state(refusal):
    program = tilewright.compile(Counter(), (torch.ones(3), torch.zeros(3)))
    assert [value.mutated for value in program.inputs] == [False, True]
    cache = torch.zeros(3)
    program(torch.ones(3), cache)
    y = program(torch.ones(3), cache)
    assert torch.equal(y, torch.full((3,), 3.0)) and torch.equal(cache, torch.full((3,), 2.0))
    assert list(program.state) == ["count"] and "count" in program.state and len(program.state) == 1
    assert torch.equal(program.state["count"], torch.full((3,), 2.0))
    program.state["count"] = np.array([5, 6, 7], np.float32)
    assert program(torch.zeros(3), cache).tolist() == [5, 6, 7]
    program.state.reset("count")
    assert program.state["count"].tolist() == [0, 0, 0]
    with refusal("TW-RUNTIME-0015", "count", "none"):
        program.state["none"]
    with refusal("TW-RUNTIME-0015"):
        program.state.reset("none")
    with refusal("TW-RUNTIME-0014", "f32[3]", "f32[4]"):
        program.state["count"] = torch.zeros(4)
    with refusal("TW-RUNTIME-0014", "f64"):
        program.state["count"] = torch.zeros(3, dtype=torch.float64)
    with refusal("TW-PYTHON-0001", 'the new value of state "count" is a list', "the program keeps f32[3]"):
        program.state["count"] = [0.0, 0.0, 0.0]


def test_state_is_of_the_library_that_is_asked_for(tmp_path):
    """Also where nobody has imported it."""
    tilewright.compile(Counter(), (torch.ones(3), torch.zeros(3))).save(tmp_path / "counter.so")
    out = subprocess.run([sys.executable, "-c", f"""if True:
        import sys, tilewright
        before = "torch" in sys.modules
        program = tilewright.load({str(tmp_path / "counter.so")!r}, library="torch")
        print(before, type(program.state["count"]).__module__)
    """], capture_output=True, text=True, check=True)
    assert out.stdout == "False torch\n"


def test_memory_that_cannot_be_written(refusal):
    program = tilewright.compile(Counter(), (torch.ones(3), torch.zeros(3)))
    x = torch.ones(3)
    locked = np.zeros(3, np.float32)
    locked.flags.writeable = False
    with refusal("TW-PYTHON-0004", "cache", "read-only"):
        program(x, locked)
    for cache in (torch.zeros(6)[::2], torch.zeros(1).expand(3), np.zeros(6, np.float32)[::2]):
        with refusal("TW-PYTHON-0004", "cache", "not contiguous"):
            program(x, cache)
    memory = torch.zeros(5)
    with refusal("TW-PYTHON-0004", '"', "overlaps other memory"):
        program(memory[:3], memory[2:])


def test_autograd_hears_of_what_programs_write(refusal):
    program = tilewright.compile(Counter(), (torch.ones(3), torch.zeros(3)))
    for cache in (torch.ones(3), torch.nn.Parameter(torch.ones(3), False)):
        weight = torch.full((3,), 2.0, requires_grad=True)
        product = (weight * cache).sum()  # whose gradient needs what `cache` is now
        version = cache._version
        program(torch.ones(3), cache)
        assert cache._version == version + 1 and cache.tolist() == [2, 2, 2]
        try:
            product.backward()
        except RuntimeError as error:
            assert "modified by an inplace operation" in str(error)
        else:
            raise AssertionError("the gradient is that of what has been overwritten")
    leaf = torch.ones(3, requires_grad=True)
    for tensor in (leaf, leaf * 2):
        with refusal("TW-PYTHON-0004", "cache", "requires a gradient"):
            program(torch.ones(3), tensor)
    with torch.no_grad():
        program(torch.ones(3), leaf)
    assert leaf.tolist() == [2, 2, 2] and leaf._version == 1
    with torch.inference_mode():
        cache = torch.ones(3)  # which counts no versions
        program(torch.ones(3), cache)
    assert cache.tolist() == [2, 2, 2]
    # Memory for a result is written, too.
    out = torch.empty(3)
    program(torch.ones(3), torch.zeros(3), **{program.outputs[0].name: out})
    assert out._version == 1
    with refusal("TW-PYTHON-0004", program.outputs[0].name, "requires a gradient"):
        program(torch.ones(3), torch.zeros(3), **{program.outputs[0].name: torch.empty(3, requires_grad=True)})


class StackedCaches(torch.nn.Module):
    """Keys and values of several layers are one tensor."""

    def __init__(self):
        super().__init__()
        self.register_buffer("caches", torch.randn(3, 2, 2, 4, 32, 16))

    def forward(self, x, position):
        for layer in range(3):
            self.caches[layer, 0].index_copy_(2, position, x)
            self.caches[layer, 1].index_copy_(2, position, 2 * x)
            x = torch.nn.functional.scaled_dot_product_attention(x, self.caches[layer, 0], self.caches[layer, 1])
        return x, self.caches[1, 0].sum(), self.caches[0][:, 1]


def test_stacked_caches_are_updated_and_read_in_place():
    model = StackedCaches()
    inputs = [(torch.randn(2, 4, 1, 16), torch.tensor([step])) for step in (3, 4, 31)]
    program = tilewright.compile(torch.export.export(copy.deepcopy(model), inputs[0]), threads=2)
    assert "state caches is updated in place" in str(program.report)
    for given in inputs:
        for ours, theirs in zip(program(*given), model(*given)):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(program.state["caches"], model.caches, rtol=1e-4, atol=1e-5)
    assert program._memory()[0] < model.caches.nbytes / 3  # no layer of them is copied
