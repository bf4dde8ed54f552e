# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of models of the transformers library."""

import torch
from torch import nn
from torch.nn import functional as F

from . import transformers_models as hf


class Labelled(nn.Module):
    """Cross entropy of a model's logits; parameters without a gradient are frozen."""

    def __init__(self, model: nn.Module, frozen: tuple = ()):
        super().__init__()
        self.model = model
        for name, parameter in model.named_parameters():
            if any(part in name for part in frozen):
                parameter.requires_grad_(False)

    def forward(self, given, labels):
        logits = self.model(given).logits
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.flatten())


QUIET = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
ONE = {"num_hidden_layers": 1}


def bert():
    return Labelled(hf.build("BertForSequenceClassification", **hf.ENCODER | QUIET | ONE)())


def gpt2():
    options = hf.GPT2 | {"n_layer": 1, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    return Labelled(hf.build("GPT2LMHeadModel", **options)())


def llama():
    return Labelled(hf.build("LlamaForCausalLM", **hf.DECODER | ONE)())


def vit():
    return Labelled(hf.build("ViTForImageClassification", **hf.IMAGE | QUIET | ONE)())
