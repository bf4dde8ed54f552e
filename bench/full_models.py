# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of full size with random weights, and what they are called with. Nothing is downloaded."""
import pathlib
import sys

import torch
from torch import nn


class Logits(nn.Module):
    """A model's first result, without a dict of others."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *args):
        return self.model(*args)[0]


def mlp(*widths):
    """Linear layers with ReLUs between them."""
    layers = [nn.Linear(before, after) for before, after in zip(widths, widths[1:])]
    return [each for layer in layers for each in (nn.ReLU(), layer)][1:]


class Dlrm(nn.Module):
    """Recommendation: 26 tables of embeddings, two MLPs, products of all pairs."""

    def __init__(self, tables=26, rows=10000, width=64):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables))
        pairs = (tables + 1) * tables // 2
        self.bottom = nn.Sequential(*mlp(13, 512, 256, width), nn.ReLU())
        self.top = nn.Sequential(*mlp(width + pairs, 512, 256, 1))
        self.register_buffer("pairs", torch.tril_indices(tables + 1, tables + 1, -1))

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        parts = torch.stack([x] + [table(sparse[:, i:i + 1]) for i, table in enumerate(self.tables)], 1)
        crossed = torch.bmm(parts, parts.transpose(1, 2))
        return self.top(torch.cat([x, crossed[:, self.pairs[0], self.pairs[1]]], 1))


def tokens():
    return (torch.randint(3, 1000, (1, 128)),)


def bert():
    import transformers
    return Logits(transformers.BertModel(transformers.BertConfig())), tokens()


def gpt2():
    import transformers
    return Logits(transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False))), tokens()


def resnet():
    import transformers
    return Logits(transformers.ResNetModel(transformers.ResNetConfig())), (torch.randn(1, 3, 224, 224),)


def mobilenet():
    import transformers
    return Logits(transformers.MobileNetV2Model(transformers.MobileNetV2Config())), (torch.randn(1, 3, 224, 224),)


def dlrm(batch=128):
    return Dlrm(), (torch.randn(batch, 13), torch.randint(0, 10000, (batch, 26)))


def lstm():
    return Logits(nn.LSTM(512, 512, num_layers=2, batch_first=True)), (torch.randn(8, 64, 512),)


def sdxl_block():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
    from export import diffusion  # the modules that small models of the tests are made of

    block = diffusion.TransformerBlock(width=1280, heads=20, context=2048)
    return block, (torch.randn(1, 1024, 1280), torch.randn(1, 77, 2048))


MODELS = {"BERT-base": bert, "GPT-2": gpt2, "ResNet-50": resnet, "MobileNetV2": mobilenet, "DLRM": dlrm,
          "LSTM": lstm, "SDXL block": sdxl_block}


def model(name):
    """The module, in evaluation mode, and its inputs."""
    torch.manual_seed(0)
    module, inputs = MODELS[name]()
    return module.eval(), inputs
