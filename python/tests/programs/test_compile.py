# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tilewright.compile: kernels that a model calls, and what is no model."""
import os
import subprocess
import threading
from pathlib import Path

import pytest
import torch

import tilewright
from compare import close

TOOL = Path(os.path.realpath(Path(tilewright.__file__).parent / "lib")).parent / "bin" / "tilewright"


@pytest.mark.skipif(not TOOL.exists(), reason="an installed package has neither the tool nor a C++ compiler")
def test_kernels_as_text_and_file(refusal):
    source = Path(__file__).parents[3] / "examples" / "kernels" / "softmax.cpp"

    @torch.library.custom_op("twtest::softmax", mutates_args=())
    def softmax(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, 1)

    softmax.register_fake(torch.empty_like)

    class Head(torch.nn.Module):
        def forward(self, x):
            return torch.ops.twtest.softmax(x * 2)

    x = torch.randn(3, 20)
    with refusal("TW-LOWER-0001", "twtest.softmax", "kernel"):
        tilewright.compile(Head(), (x,))
    program = tilewright.compile(Head(), (x,), kernels=[source])
    close(program(x), torch.softmax(x * 2, 1))
    text = subprocess.run([TOOL, "kernel", "print", source], capture_output=True, text=True, check=True).stdout
    close(tilewright.compile(Head(), (x,), kernels=[text])(x), torch.softmax(x * 2, 1))
    with pytest.raises(tilewright.Error) as error:
        tilewright.compile(Head(), (x,), kernels=["no kernel\n"])
    assert "kernel text 1" in error.value.text


def test_an_architecture_without_code_generator_is_unsupported(tmp_path):
    """A compiler that holds LLVM, as the wheel's, makes code of its own architecture alone; others make it of all."""
    path = tmp_path / "relu.so"
    try:
        tilewright.compile_to_file(torch.nn.ReLU(), path, (torch.ones(4),), target="cpu:aarch64")
    except tilewright.UnsupportedError as error:
        assert error.code == "TW-PROGRAM-0009" and "aarch64" in error.message, error.text
        assert not path.exists()
    else:
        assert path.exists()


def test_what_cannot_be_compiled(refusal, tmp_path):
    with refusal("TW-PYTHON-0007", "is no model"):
        tilewright.compile(3, (1,))
    with refusal("TW-PYTHON-0007", "example_inputs"):
        tilewright.compile(torch.nn.ReLU())
    with refusal("TW-PYTHON-0005", "a kernel is an int", "functions with @tk.kernel"):
        tilewright.compile(torch.nn.ReLU(), (torch.ones(1),), kernels=[3])
    with refusal("TW-PYTHON-0005", "give a list"):
        tilewright.compile(torch.nn.ReLU(), (torch.ones(1),), kernels="softmax.cpp")
    with refusal("TW-PYTHON-0005", "threads"):
        tilewright.compile(torch.nn.ReLU(), (torch.ones(1),), threads=-1)
    with refusal("TW-DRIVER-0003", "tf32", "target cpu", "nvidia:sm_90a"):
        tilewright.compile(torch.nn.ReLU(), (torch.ones(1),), precision="tf32")
    for precision in ("fp4", None, 32):
        with refusal("TW-PYTHON-0005", "precision is", '"tf32"'):
            tilewright.compile(torch.nn.ReLU(), (torch.ones(1),), precision=precision)
    with refusal("TW-IO-0001", "none.pt2"):
        tilewright.compile(str(tmp_path / "none.pt2"))

    class Branches(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with refusal("TW-PYTHON-0007", "Branches") as refused:
        tilewright.compile(Branches(), (torch.ones(3),))
    assert refused.error.__cause__ is not None

    class Complex(torch.nn.Module):
        def forward(self, x):
            return torch.fft.fft(x).abs()

    with refusal("TW-LOWER-0001", "_fft", "test_compile.py", kind=NotImplementedError) as refused:
        tilewright.compile(Complex(), (torch.ones(4),))
    assert refused.error.help
    with refusal("TW-DRIVER-0002", "gpu"):
        tilewright.compile(torch.nn.ReLU(), (torch.ones(1),), target="gpu")


def test_a_target_that_is_no_text(refusal):
    with refusal("TW-PYTHON-0005", "target is 5"):
        tilewright.compile(torch.nn.ReLU(), (torch.randn(2, 3),), target=5)


def test_products_of_operands_rounded_to_bf16():
    torch.manual_seed(0)
    linear = torch.nn.Linear(64, 33).eval()
    x = torch.randn(5, 64)
    y = tilewright.compile(linear, (x,), precision="bf16")(x)
    with torch.no_grad():
        wanted = x.bfloat16().float() @ linear.weight.bfloat16().float().T + linear.bias
        assert torch.allclose(y, wanted, rtol=1e-5, atol=1e-5)
        assert not torch.allclose(y, linear(x), rtol=1e-5, atol=1e-5)


def test_modules_are_exported_in_several_threads():
    """torch.export traces with what all threads share, as torch.compile does, which may run beside it."""
    modules = [torch.nn.Sequential(torch.nn.Linear(8, 8 + i), torch.nn.ReLU(), torch.nn.Linear(8 + i, 4)) for i in range(4)]
    other = torch.compile(lambda x: torch.cosh(x) * 2, backend="aot_eager")
    failed = []

    def work(i):
        try:
            x = torch.randn(3, 8)
            torch.testing.assert_close(tilewright.compile(modules[i], (x,))(x), modules[i](x), rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(other(x[:i + 1]), x[:i + 1].cosh() * 2)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed[0]
