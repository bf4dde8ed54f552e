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
from torch import nn

from tilewright.torch import _backend, backend

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


def main_result(outputs):
    if "logits" in outputs:
        return outputs["logits"]
    return outputs["logits_per_image"]


def check_graphs(records):
    """Each graph of AOTAutograd has become one program, and nothing runs eagerly."""
    assert [line for record in records for line in record.eager] == []
    assert records and all(len(record.programs) <= 1 for record in records)


@pytest.mark.parametrize(("name", "dynamic"), cases("inference"))
def test_inference(name, dynamic, records):
    model, arguments = MODELS[name]()
    model.eval()
    compiled = torch.compile(model, backend=backend, dynamic=dynamic)
    with torch.no_grad():
        for batch in (2, 3) if dynamic else (2,):
            given = arguments(batch)
            torch.testing.assert_close(main_result(compiled(**given)), main_result(model(**given)), rtol=1e-4, atol=1e-4)
    check_graphs(records)


def compare_training(model, compiled, given_for_steps, records):
    """Losses, gradients, buffers and the generator, of steps with these arguments."""
    theirs = copy.deepcopy(model)
    for given in given_for_steps:
        state = torch.get_rng_state()
        loss = compiled(**given)["loss"]
        loss.backward()
        after = torch.get_rng_state()
        torch.set_rng_state(state)
        expected = theirs(**given)["loss"]
        expected.backward()
        assert torch.equal(after, torch.get_rng_state())
        torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-4)
    largest = max(p.grad.abs().max().item() for p in theirs.parameters() if p.grad is not None)
    for (key, a), b in zip(model.named_parameters(), theirs.parameters(), strict=True):
        assert (a.grad is None) == (b.grad is None), key
        if b.grad is not None:
            difference = (a.grad - b.grad).abs().max().item()
            assert difference <= 1e-3 * max(b.grad.abs().max().item(), 1e-2 * largest), key
    for (key, a), b in zip(model.named_buffers(), theirs.buffers(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4, msg=key)
    check_graphs(records)


@pytest.mark.parametrize(("name", "dynamic"), cases("training"))
def test_training(name, dynamic, records):
    model, arguments = MODELS[name]()
    model.train()
    steps = [arguments(batch) for batch in (2, 3 if dynamic else 2)]
    for tensor in (each for given in steps for each in given.values() if dynamic and isinstance(each, torch.Tensor)):
        torch._dynamo.maybe_mark_dynamic(tensor, 0)
    compare_training(model, torch.compile(model, backend=backend, dynamic=None if dynamic else False), steps, records)


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
    model, arguments = MODELS[name]()
    model.train()
    if name not in ENDLESS:
        with time_limit(900):
            compiled = torch.compile(model, backend=backend, dynamic=True)
            compare_training(model, compiled, [arguments(2), arguments(3)], records)
        return
    with pytest.raises(TimeIsUp), time_limit(120):
        torch.compile(model, backend="aot_eager", dynamic=True)(**arguments(2))["loss"].backward()
