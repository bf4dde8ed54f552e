# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent networks."""

import torch
from torch import nn
from torch.nn import functional as F


class Recurrent(nn.Module):
    """All outputs and the final state of one of torch.nn's recurrent layers."""

    def __init__(self, kind=nn.LSTM, **options):
        super().__init__()
        self.layer = kind(8, 12, **options)

    def forward(self, x):
        return self.layer(x)


def gru():
    return Recurrent(nn.GRU, batch_first=True)


class WideGru(nn.Module):
    """Hidden states of several vectors, for batches of any size."""

    def __init__(self):
        super().__init__()
        self.layer = nn.GRU(4, 64)

    def forward(self, x):
        return self.layer(x)


def rnn_tanh():
    return Recurrent(nn.RNN, num_layers=2, bias=False)


def rnn_relu():
    return Recurrent(nn.RNN, nonlinearity="relu", bidirectional=True)


def lstm_deep():
    return Recurrent(nn.LSTM, num_layers=2, bidirectional=True, batch_first=True)


def gru_deep():
    return Recurrent(nn.GRU, num_layers=2, bidirectional=True)


def lstm_sequence():
    return Recurrent(nn.LSTM, bidirectional=True, batch_first=True)


def lstm_projected():
    return Recurrent(nn.LSTM, num_layers=2, bidirectional=True, proj_size=5)


class WithState(nn.Module):
    """The initial state is an input."""

    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(6, 10)

    def forward(self, x, h, c):
        out, (h, c) = self.layer(x, (h, c))
        return out[-1], h, c


class LastStates(nn.Module):
    """What is computed from an LSTM's last states, whose sizes torch before 2.13 records wrongly."""

    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(3, 4, num_layers=2, bias=False)
        self.head = nn.Linear(4, 2, bias=False)

    def forward(self, x):
        _, (h, c) = self.layer(x)
        return self.head(h[-1]).relu_(), c - h


class Tagger(nn.Module):
    """Embedding, a bidirectional LSTM and scores for each word."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 12, bidirectional=True, batch_first=True)
        self.head = nn.Linear(24, 5)

    def forward(self, words):
        out, _ = self.lstm(self.embedding(words))
        scores = F.log_softmax(self.head(out), dim=-1)
        return scores, scores.argmax(-1)


class Cells(nn.Module):
    """Cells in a Python loop, which export unrolls."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTMCell(5, 7)
        self.gru = nn.GRUCell(7, 6)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[1], 7)
        g = x.new_zeros(x.shape[1], 6)
        for step in x.unbind(0):
            h, c = self.lstm(step, (h, c))
            g = self.gru(h, g)
        return g, c


class AttentiveDecoder(nn.Module):
    """A GRU whose outputs attend to an encoder's with additive attention."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(6, 10, bidirectional=True, batch_first=True)
        self.decoder = nn.GRU(4, 10, batch_first=True)
        self.query, self.key, self.score = nn.Linear(10, 8), nn.Linear(20, 8), nn.Linear(8, 1)
        self.out = nn.Linear(30, 9)

    def forward(self, source, target):
        memory, last = self.encoder(source)
        states, _ = self.decoder(target, last.mean(dim=0, keepdim=True))
        energy = torch.tanh(self.query(states)[:, :, None] + self.key(memory)[:, None])
        weights = self.score(energy).squeeze(-1).softmax(-1)
        return self.out(torch.cat([states, weights @ memory], dim=-1)), weights


class StreamingGru(nn.Module):
    """The hidden state is kept between calls."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 6)
        self.register_buffer("hidden", torch.zeros(1, 6))

    def forward(self, x):
        self.hidden.copy_(self.cell(x, self.hidden))
        return self.hidden * 2
