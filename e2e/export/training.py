# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses whose forward and backward graphs are exported together."""

import torch
from torch import nn
from torch.nn import functional as F

from . import graph_nets, recurrent, vision


class Loss(nn.Module):
    """A network and a criterion; the last argument is the target. Also returns the prediction."""

    def __init__(self, network: nn.Module, criterion):
        super().__init__()
        self.network = network
        self.criterion = criterion

    def forward(self, *inputs):
        prediction = self.network(*inputs[:-1])
        return self.criterion(prediction, inputs[-1]), prediction.detach()


class ClassifierStep(nn.Module):
    """28x28 images, flatten, linear, relu, cross entropy."""

    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.linear = nn.Linear(784, 10)

    def forward(self, x, target):
        return F.cross_entropy(F.relu(self.linear(self.flatten(x))), target)


def mse():
    return Loss(nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2)), F.mse_loss)


def cnn():
    """Batch norm in training mode: the running statistics are state."""
    return Loss(nn.Sequential(vision.conv_norm(3, 6, 3, nn.ReLU(inplace=True)), nn.MaxPool2d(2),
                              vision.conv_norm(6, 8, 3, nn.Hardswish()), nn.AvgPool2d(2), nn.Flatten(),
                              nn.Dropout(0.0), nn.Linear(32, 10)), F.cross_entropy)


def resnet():
    return Loss(vision.ResNet((1, 1), width=4, expansion=1, classes=5), F.cross_entropy)


class Attention(nn.Module):
    """Causal attention spelt out."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(12)
        self.qkv = nn.Linear(12, 36, bias=False)
        self.out = nn.Linear(12, 12)

    def forward(self, x, target):
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, 2, 6)).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-1, -2) / 6**0.5
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).flatten(2))
        return F.smooth_l1_loss(x, target)


class FusedAttention(nn.Module):
    """Attention by the fused operator, whose exported backward gets a wrong logsumexp."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24, bias=False)

    def forward(self, x, target):
        q, k, v = self.qkv(x).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4).unbind(0)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return F.mse_loss(out.transpose(1, 2).flatten(2), target)


class LanguageModel(nn.Module):
    """Embeddings, gelu and RMS norm under a loss that ignores the padding."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 12, padding_idx=0)
        self.up = nn.Linear(12, 16)
        self.norm = nn.RMSNorm(16, eps=1e-6)
        self.head = nn.Linear(16, 20, bias=False)

    def forward(self, ids):
        logits = self.head(self.norm(F.gelu(self.up(self.embedding(ids)), approximate="tanh")))
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0, label_smoothing=0.1)


class GcnLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = graph_nets.Gcn()

    def forward(self, x, edges, target):
        return F.nll_loss(self.network(x, edges), target)


class RnnLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = recurrent.Cells()

    def forward(self, x, target):
        return F.l1_loss(self.network(x)[0], target)


def autoencoder():
    class Autoencoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.encode = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.GELU(), nn.GroupNorm(2, 4))
            self.decode = nn.ConvTranspose2d(4, 1, 4, stride=2, padding=1)

        def forward(self, x):
            return F.binary_cross_entropy_with_logits(self.decode(self.encode(x)), torch.sigmoid(x))

    return Autoencoder()


class Distillation(nn.Module):
    """A student follows a frozen teacher: only the student has gradients."""

    def __init__(self):
        super().__init__()
        self.teacher = nn.Linear(8, 5).requires_grad_(False)
        self.student = nn.Sequential(nn.Linear(8, 6), nn.SiLU(), nn.LayerNorm(6), nn.Linear(6, 5))

    def forward(self, x):
        soft = F.softmax(self.teacher(x) / 2, dim=-1)
        return F.kl_div(F.log_softmax(self.student(x) / 2, dim=-1), soft, reduction="batchmean")
