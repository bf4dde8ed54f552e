# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny models of transformers and others, inference and training through torch.compile, against eager PyTorch:
results, gradients, one graph where eager AOTAutograd has one, and nothing that runs eagerly without a reason.
A few by default; all with TW_ALL_MODELS=1."""
import contextlib
import copy
import os
import signal

import pytest
import torch
from functorch.compile import make_boxed_func
from torch import nn

from tilewright.torch import _backend, _private, backend

transformers = pytest.importorskip("transformers")

ALL = bool(os.environ.get("TW_ALL_MODELS"))
LAYERS = 2 if ALL else 1  # a second one is as the first, and torch's own tracing is what these tests wait for
TINY = {"hidden_size": 32, "num_hidden_layers": LAYERS, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 99}
# Else the first call writes it into the configuration, and the second one is traced again.
CLASSES = {"problem_type": "single_label_classification"}
VISION = {"hidden_size": 32, "num_hidden_layers": LAYERS, "num_attention_heads": 4, "intermediate_size": 64,
          "image_size": 32, "patch_size": 8}


def ids(batch, length=12, vocabulary=99):
    return torch.randint(3, vocabulary, (batch, length))


def text(batch):
    return {"input_ids": ids(batch), "labels": ids(batch)}


def images(batch):
    return {"pixel_values": torch.randn(batch, 3, 32, 32), "labels": torch.arange(batch) % 2}


MODELS = {}  # by name: a function that makes a model, and what makes its arguments for a batch


def model(function):
    MODELS[function.__name__] = lambda: function(transformers)
    return function


@model
def bert(t):
    return t.BertForSequenceClassification(t.BertConfig(**TINY, **CLASSES)), lambda b: {
        "input_ids": ids(b), "attention_mask": torch.ones(b, 12, dtype=torch.long), "labels": torch.arange(b) % 2}


@model
def gpt2(t):
    return t.GPT2LMHeadModel(t.GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=99, n_positions=64)), text


@model
def llama(t):
    return t.LlamaForCausalLM(t.LlamaConfig(**TINY, num_key_value_heads=2)), text


@model
def qwen2(t):
    return t.Qwen2ForCausalLM(t.Qwen2Config(**TINY, num_key_value_heads=2)), text


@model
def mixtral(t):
    return t.MixtralForCausalLM(t.MixtralConfig(**TINY, num_key_value_heads=2, num_local_experts=4)), text


@model
def t5(t):
    config = t.T5Config(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=99, decoder_start_token_id=0)
    return t.T5ForConditionalGeneration(config), text


@model
def vit(t):
    return t.ViTForImageClassification(t.ViTConfig(**VISION, **CLASSES)), images


@model
def resnet(t):
    config = t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16][:LAYERS], depths=[1, 1][:LAYERS], **CLASSES)
    return t.ResNetForImageClassification(config), images


@model
def convnext(t):
    config = t.ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2, **CLASSES)
    return t.ConvNextForImageClassification(config), images


@model
def segformer(t):
    config = t.SegformerConfig(num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[8, 16],
                               patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2],
                               decoder_hidden_size=16)
    return t.SegformerForImageClassification(config), images


@model
def swin(t):
    config = t.SwinConfig(image_size=32, patch_size=4, embed_dim=16, depths=[1, 1], num_heads=[2, 2], window_size=4,
                          **CLASSES)
    return t.SwinForImageClassification(config), images


@model
def whisper(t):
    config = t.WhisperConfig(d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
                             decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, vocab_size=99,
                             num_mel_bins=8, max_source_positions=16, max_target_positions=32, pad_token_id=0,
                             bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
    return t.WhisperForConditionalGeneration(config), lambda b: {
        "input_features": torch.randn(b, 8, 32), "decoder_input_ids": ids(b), "labels": ids(b)}


@model
def wav2vec2(t):
    config = t.Wav2Vec2Config(**TINY, conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3),
                              num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2, apply_spec_augment=False,
                              num_feat_extract_layers=2, layerdrop=0.0)
    return t.Wav2Vec2ForSequenceClassification(config), lambda b: {
        "input_values": torch.randn(b, 400), "labels": torch.arange(b) % 2}


@model
def clip(t):
    config = t.CLIPConfig(text_config={**TINY, "projection_dim": 16, "eos_token_id": 98},
                          vision_config={**VISION, "projection_dim": 16}, projection_dim=16)
    return t.CLIPModel(config), lambda b: {"input_ids": ids(b), "pixel_values": torch.randn(b, 3, 32, 32),
                                           "return_loss": True}


@model
def mamba(t):
    config = t.MambaConfig(hidden_size=32, num_hidden_layers=2, vocab_size=99, state_size=4, use_mambapy=False)
    return t.MambaForCausalLM(config), text


@model
def deberta(t):
    return t.DebertaV2ForSequenceClassification(t.DebertaV2Config(
        **TINY, **CLASSES, relative_attention=True, pos_att_type=["p2c", "c2p"], max_relative_positions=8)), lambda b: {
        "input_ids": ids(b), "labels": torch.arange(b) % 2}


@model
def dlrm(_):
    return Dlrm(), lambda b: {"dense": torch.randn(b, 6), "sparse": torch.randint(0, 20, (b, 3)), "labels": torch.rand(b)}


@model
def lora(_):
    return Lora(), lambda b: {"x": torch.randn(b, 16), "labels": torch.randn(b, 8)}


class Dlrm(nn.Module):
    """Embedding bags and a dense tower, crossed."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(20, 8, mode="sum") for _ in range(3))
        self.bottom = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(8 + 6, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, dense, sparse, labels):
        x = self.bottom(dense)
        parts = torch.stack([x] + [table(sparse[:, i:i + 1]) for i, table in enumerate(self.tables)], 1)
        crossed = torch.bmm(parts, parts.transpose(1, 2))
        i, j = torch.tril_indices(4, 4, -1)
        y = self.top(torch.cat([x, crossed[:, i, j]], 1)).squeeze(1)
        return {"loss": nn.functional.binary_cross_entropy_with_logits(y, labels), "logits": y}


class Lora(nn.Module):
    """A frozen layer with a trained product of low rank beside it."""

    def __init__(self):
        super().__init__()
        self.base = nn.Linear(16, 8).requires_grad_(False)
        self.a, self.b = nn.Parameter(torch.randn(16, 2) * 0.1), nn.Parameter(torch.zeros(2, 8))

    def forward(self, x, labels):
        y = self.base(x) + nn.functional.dropout(x, 0.1, self.training) @ self.a @ self.b
        return {"loss": nn.functional.mse_loss(y, labels), "logits": y}


# By default each way is tested with one or two of three kinds of models.
DEFAULT = {"inference": [("bert", True), ("resnet", False), ("lora", True)],
           "training": [("bert", False), ("resnet", True), ("lora", True)]}
ALL_CASES = [(name, dynamic) for name in MODELS for dynamic in (False, True)]


def cases(kind):
    """Models with sizes that are static, or dynamic along the batch."""
    return [pytest.param(name, dynamic, id=f"{name}-{'dynamic' if dynamic else 'static'}")
            for name, dynamic in (ALL_CASES if ALL else DEFAULT[kind])]


pytestmark = pytest.mark.usefixtures("fresh")


@pytest.fixture
def records(monkeypatch):
    """What is said of each graph that is compiled."""
    seen, compile_graph = [], _backend.compile_graph
    monkeypatch.setattr(_backend, "compile_graph", lambda *rest: compile_graph(*rest[:3], seen.append, *rest[4:]))
    return seen


def named_tensors(value, name="", seen=()):
    """All tensors of a model's results, by where they are: in containers, and in objects such as caches of keys and values."""
    if isinstance(value, torch.Tensor):
        yield name, value
        return
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (list, tuple)):
        parts = enumerate(value)
    else:
        parts = vars(value).items() if type(value).__module__.startswith("transformers.cache") else ()
    if id(value) not in seen:
        for key, part in parts:
            yield from named_tensors(part, f"{name}.{key}", (*seen, id(value)))


def compare_results(got, expected, tolerance=1e-4):
    """Each tensor: its value, dtype and strides."""
    ours, theirs = dict(named_tensors(got)), dict(named_tensors(expected))
    assert ours.keys() == theirs.keys() and len(theirs) > 0
    for name, a in ours.items():
        b = theirs[name]
        assert a.stride() == b.stride(), f"{name}: {list(a.shape)} with strides {a.stride()}, and eager {b.stride()}"
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance, msg=lambda text: f"{name}: {text}")  # noqa: B023


def graphs_of_aot_eager(run):
    """The kinds of graphs that AOTAutograd makes for eager PyTorch of what run(backend) compiles and calls."""
    kinds = []

    def compiler(kind):
        return lambda graph, _: kinds.append(kind) or make_boxed_func(graph.forward)

    torch._dynamo.reset()
    run(_private.aot_autograd(fw_compiler=compiler("forward"), bw_compiler=compiler("backward"),
                              inference_compiler=compiler("inference"), partition_fn=_private.min_cut(),
                              keep_inference_input_mutations=True))
    return kinds


# Models of which Dynamo makes several graphs, with every backend: it cuts them, or the first call writes into what it guards.
SEVERAL_GRAPHS = {"gpt2", "segformer", "wav2vec2"}


def check_graphs(name, records, run):
    """Each graph that AOTAutograd makes for eager PyTorch, of which run(backend) tells where all is tested, has become one
    program, and nothing runs eagerly; all batches share it, but for the models that are listed."""
    assert [line for record in records for line in record.eager] == []
    assert all(len(record.programs) <= 1 for record in records)
    kinds = [record.kind for record in records]
    if name not in SEVERAL_GRAPHS:
        assert kinds == (["inference"] if kinds[0] == "inference" else ["forward", "backward"])
    if ALL:
        assert kinds == graphs_of_aot_eager(run)


@pytest.mark.parametrize(("name", "dynamic"), cases("inference"))
def test_inference(name, dynamic, records):
    """One graph serves all batches where they are open."""
    model, arguments = MODELS[name]()
    model.eval()
    batches, pristine = [arguments(batch) for batch in ((2, 3, 5) if dynamic else (2, 2))], copy.deepcopy(model)

    def run(backend):
        compiled = torch.compile(copy.deepcopy(pristine), backend=backend, dynamic=dynamic)
        with torch.no_grad():
            return [compiled(**given) for given in batches]

    got = run(backend)
    with torch.no_grad():
        for ours, given in zip(got, batches, strict=True):
            compare_results(ours, model(**given))
    check_graphs(name, records, run)


def error_of_gradients(model, exact):
    """Of all of them together, as a part of them."""
    pairs = [(a.grad, b.grad) for a, b in zip(model.parameters(), exact.parameters(), strict=True) if b.grad is not None]
    return (sum((a - b).square().sum() for a, b in pairs) / sum(b.square().sum() for _, b in pairs)).sqrt().item()


def compare_gradients(model, theirs, tolerance):
    """Values and strides; the largest of all counts where those of one parameter are next to nothing."""
    largest = max(p.grad.abs().max().item() for p in theirs.parameters() if p.grad is not None)
    for (key, a), b in zip(model.named_parameters(), theirs.parameters(), strict=True):
        assert (a.grad is None) == (b.grad is None), key
        if b.grad is not None:
            difference = (a.grad - b.grad).abs().max().item()
            assert difference <= tolerance * max(b.grad.abs().max().item(), 1e-2 * largest), (key, difference)
            assert a.grad.stride() == b.grad.stride(), key


def compare_training(name, dynamic, batches, records, tolerance=1e-4, autocast=False):
    """Results, gradients, buffers and the generator, of a step for each batch. `dynamic` is "batch" where that alone is
    open."""
    model, arguments = MODELS[name]()
    model.train()
    steps, pristine, theirs = [arguments(batch) for batch in batches], copy.deepcopy(model), copy.deepcopy(model)

    def compiled(model, backend):
        for tensor in (each for given in steps for each in given.values()
                       if dynamic == "batch" and isinstance(each, torch.Tensor)):
            torch._dynamo.maybe_mark_dynamic(tensor, 0)
        return torch.compile(model, backend=backend, dynamic=None if dynamic == "batch" else dynamic)

    def step(function, given, autocast=autocast):
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            results = function(**given)
        results["loss"].backward()
        return results

    mine = compiled(model, backend)
    for given in steps:
        state = torch.get_rng_state()
        got = step(mine, given)
        after = torch.get_rng_state()
        torch.set_rng_state(state)
        expected = step(theirs, given)
        assert torch.equal(after, torch.get_rng_state())
        compare_results(got, expected, tolerance)
    if autocast:  # each rounding differs by 0.4 %: all together are no worse than eager PyTorch's
        torch.set_rng_state(state)
        exact = copy.deepcopy(pristine)
        step(exact, given, autocast=False)
        assert error_of_gradients(model, exact) <= 1.6 * error_of_gradients(theirs, exact)
        assert [p.grad is None or p.grad.stride() for p in model.parameters()] == [
            p.grad is None or p.grad.stride() for p in theirs.parameters()]
    else:
        compare_gradients(model, theirs, 1e-3)
    for (key, a), b in zip(model.named_buffers(), theirs.buffers(), strict=True):
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance, msg=key)

    def run(backend):
        function = compiled(pristine, backend)
        for given in steps:
            step(function, given)

    check_graphs(name, records, run)


@pytest.mark.parametrize(("name", "dynamic"), cases("training"))
def test_training(name, dynamic, records):
    compare_training(name, "batch" if dynamic else False, (2, 3 if dynamic else 2), records)


@pytest.mark.parametrize("name", list(MODELS) if ALL else ["bert", "lora"])
def test_training_in_mixed_precision(name, records):
    """With autocast to bf16."""
    compare_training(name, False, (2,), records, tolerance=2e-2, autocast=True)


class TimeIsUp(BaseException):
    """No Exception: torch would take that for the model's."""


@contextlib.contextmanager
def time_limit(seconds):
    """TimeIsUp in the block after so many seconds."""
    def stop(*_):
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# Models for whose training with all sizes open torch itself finds no end: AOTAutograd simplifies sizes in sympy
# (ShapeEnv.simplify), more than 20 minutes for swin.
ENDLESS = {"swin"}


@pytest.mark.parametrize("name", list(MODELS) if ALL else ["lora"])
def test_training_with_all_sizes_open(name, records):
    if name not in ENDLESS:
        with time_limit(900):
            compare_training(name, True, (2, 3), records)
        return
    model, arguments = MODELS[name]()
    model.train()
    with pytest.raises(TimeIsUp), time_limit(120):
        torch.compile(model, backend="aot_eager", dynamic=True)(**arguments(2))["loss"].backward()
