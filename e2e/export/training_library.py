# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of models of the transformers library."""

from torch import nn
from torch.nn import functional as F

from . import transformers_models as hf


class Labelled(nn.Module):
    """Cross entropy of a model's logits."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, given, labels):
        logits = self.model(given).logits
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.flatten())


QUIET = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
ONE = {"num_hidden_layers": 1}


def bert():
    return Labelled(hf.build("BertForSequenceClassification", **hf.ENCODER | QUIET | ONE)())


def llama():
    return Labelled(hf.build("LlamaForCausalLM", **hf.DECODER | ONE)())


def vit():
    return Labelled(hf.build("ViTForImageClassification", **hf.IMAGE | QUIET | ONE)())
