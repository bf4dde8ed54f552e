# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every model: its name, builder, inputs, dynamic dimensions and tags.

Tags: `checked_in` models are in the repository, `extra` ones are made by `make models`, `full` are
the full-size ones for measuring.
"""

from . import basic, recurrent, transformer, vision
from .model import Model

MODELS = [
    Model("mlp_classifier", basic.Classifier, ["f32[B,28,28]"], dims={"B": (1, 64)},
          sizes=[{"B": 4}, {"B": 1}, {"B": 7}], verbatim=True),
    Model("toy_matmul", basic.Toy, ["f16[8,16]", "f16[32,16]", "f32[32]"], verbatim=True),
    Model("small_mlp", basic.SmallMlp, ["f32[5,16]"], verbatim=True),
    Model("cnn", vision.SmallCnn, ["f32[2,3,16,16]"], verbatim=True),
    Model("transformer_block", transformer.Block, ["f32[2,7,32]"], verbatim=True),
    Model("lstm", recurrent.Lstm, ["f32[5,2,8]"], verbatim=True),
]
