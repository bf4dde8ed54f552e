# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training through torch.compile: losses, gradients and buffers, as in eager PyTorch."""
import copy
import logging

import pytest
import torch
from torch import nn

from compare import check_training, mlp
import tilewright.torch
from tilewright.torch import backend

pytestmark = pytest.mark.usefixtures("fresh")


def test_training():
    check_training(mlp(), torch.randn(4, 16))
    check_training(mlp(), torch.randn(4, 16), steps=3, dynamic=True)


def test_dropout_in_training():
    check_training(nn.Sequential(nn.Linear(16, 32), nn.Dropout(0.3), nn.Linear(32, 8), nn.Dropout(0.5)),
                   torch.randn(4, 16), steps=3)


def test_batch_norm():
    check_training(nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(),
                                 nn.Linear(8 * 36, 4)), torch.randn(4, 3, 8, 8), steps=3, tolerance=1e-3)


def test_autocast():
    net = mlp()

    def f(x):
        with torch.autocast("cpu", torch.bfloat16):
            return net(x).float().square().mean()

    x = torch.randn(4, 16)
    ours = torch.compile(f, backend=backend, fullgraph=True)(x)
    ours.backward()
    got = [parameter.grad.clone() for parameter in net.parameters()]
    net.zero_grad()
    expected = f(x)
    expected.backward()
    torch.testing.assert_close(ours, expected, rtol=2e-2, atol=1e-2)
    for a, parameter in zip(got, net.parameters()):
        torch.testing.assert_close(a, parameter.grad, rtol=5e-2, atol=1e-2)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("norm", [nn.BatchNorm2d(8), nn.InstanceNorm2d(8, track_running_stats=True)], ids=["batch", "instance"])
def test_running_statistics_of_few_bits(norm, dtype):
    """PyTorch traces them as f32."""
    norm, x = norm.to(dtype), torch.randn(4, 8, 6, 6, dtype=dtype, requires_grad=True)
    theirs, y = copy.deepcopy(norm), x.detach().clone().requires_grad_()
    for _ in range(2):
        ours, expected = torch.compile(norm, backend=backend, fullgraph=True)(x), theirs(y)
        ours.tanh().sum().backward()
        expected.tanh().sum().backward()
        torch.testing.assert_close(ours, expected, rtol=2e-2, atol=2e-2)
        torch.testing.assert_close(x.grad, y.grad, rtol=5e-2, atol=5e-2)
    torch.testing.assert_close(norm.state_dict(), theirs.state_dict(), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("norm", [nn.GroupNorm(4, 8), nn.GroupNorm(2, 8, affine=False), nn.RMSNorm(6), nn.BatchNorm2d(8),
                                  nn.InstanceNorm2d(8, affine=True), nn.LayerNorm(6), nn.LayerNorm((6, 6), bias=False),
                                  nn.LayerNorm(6, elementwise_affine=False)],
                         ids=["group", "plain group", "rms", "batch", "instance", "layer", "layer without bias", "plain layer"])
def test_normalisations_of_bf16(norm):
    """With parameters of f32, as autocast leaves them: there PyTorch traces other dtypes than its own kernels give. Of a
    mean that is far from 0, bf16 would have little of the deviation left."""
    theirs, x = copy.deepcopy(norm), (torch.randn(4, 8, 6, 6) + 20).requires_grad_()
    other = copy.deepcopy(norm)
    said = tilewright.torch.explain(lambda x: other(x.bfloat16()), x)
    assert not said.eager, said
    weights = torch.randn(x.shape)
    ours = torch.compile(lambda x: norm(x.bfloat16()).float().tanh(), backend=backend, fullgraph=True)(x)
    (ours * weights).sum().backward()
    got, x.grad = x.grad, None
    expected = theirs(x.bfloat16()).float().tanh()
    (expected * weights).sum().backward()
    pairs = [(ours, expected), (got, x.grad), *zip((each.grad for each in norm.parameters()),
                                                   (each.grad for each in theirs.parameters()), strict=True),
             *zip(norm.buffers(), theirs.buffers(), strict=True)]
    for a, b in pairs:
        torch.testing.assert_close(a, b, rtol=2e-2, atol=3e-2 * b.abs().max().item())


def test_activation_checkpointing():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = mlp(), nn.Linear(8, 4)

        def forward(self, x):
            return self.b(torch.utils.checkpoint.checkpoint(self.a, x, use_reentrant=False))

    check_training(Net(), torch.randn(4, 16))


def test_several_backward_calls():
    net = mlp()
    theirs = copy.deepcopy(net)
    compiled = torch.compile(net, backend=backend)
    x = torch.randn(4, 16)
    for module in (compiled, theirs):
        y = module(x)
        y.sum().backward(retain_graph=True)
        y.square().sum().backward()
        module(x[:4]).mean().backward()  # accumulation
    for a, b in zip(net.parameters(), theirs.parameters()):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-5)


def test_optimizer():
    net = mlp()
    theirs = copy.deepcopy(net)
    x, target = torch.randn(8, 16), torch.randint(0, 8, (8,))
    losses = []
    for module in (torch.compile(net, backend=backend), theirs):
        optimizer = torch.optim.Adam(module.parameters(), 1e-2)
        for _ in range(5):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(module(x), target)
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.parametrize("is_whole", [False, True], ids=["model", "step"])
def test_scaled_losses(is_whole, caplog):
    """f16 autocast with a GradScaler, of which the third step overflows: the model compiled, or the whole step."""
    def train(wrap_model, wrap_step):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.ReLU(), nn.Linear(32, 8))
        optimizer = torch.optim.AdamW(net.parameters(), 1e-2)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
        fast = wrap_model(net)

        def step(x, y):
            with torch.autocast("cpu", torch.float16):
                loss = nn.functional.mse_loss(fast(x), y)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            return loss.detach(), norm, scaler.get_scale()

        step = wrap_step(step)
        seen = [step(torch.randn(4, 16) * (1e6 if number == 2 else 1), torch.randn(4, 8)) for number in range(5)]
        return seen, [parameter.detach() for parameter in net.parameters()]

    def compiled(f):
        return torch.compile(f, backend=backend)

    def left(f):
        return f

    caplog.set_level(logging.INFO, "tilewright.torch")
    ours = train(left if is_whole else compiled, compiled if is_whole else left)
    theirs = train(left, left)
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-3, equal_nan=True)
    scales = [scale for _, _, scale in ours[0]]
    assert scales == [1024.0, 2048.0, 1024.0, 1024.0, 2048.0]
    assert [record.getMessage() for record in caplog.records if record.name == "tilewright.torch"] == []


@pytest.mark.parametrize(("kind", "options"), [
    (torch.optim.SGD, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}), (torch.optim.Adam, {"amsgrad": True}),
    (torch.optim.AdamW, {}), (torch.optim.NAdam, {}), (torch.optim.Adamax, {}), (torch.optim.Adadelta, {}),
    (torch.optim.Adagrad, {}), (torch.optim.RMSprop, {"centered": True}), (torch.optim.Rprop, {})],
    ids=lambda value: getattr(value, "__name__", ""))
def test_compiled_steps_of_optimizers(kind, options):
    net = mlp()
    theirs, x = copy.deepcopy(net), torch.randn(4, 16)
    mine, eager = (kind(module.parameters(), lr=1e-2, **options) for module in (net, theirs))
    step = torch.compile(mine.step, backend=backend)
    for _ in range(3):
        for module, optimizer, forward in ((net, mine, step), (theirs, eager, eager.step)):
            optimizer.zero_grad()
            module(x).square().sum().backward()
            forward()
    torch.testing.assert_close(list(net.parameters()), list(theirs.parameters()), rtol=1e-4, atol=1e-5)
    assert tilewright.torch.explain(mine.step).eager == []
