# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The numeric case tables of operators; importing a module registers its families."""

from . import (backward, corners, direct, edges, elementwise, indexing, layout, linear, matrices, movement, network,
               positions, reductions, training)
from .family import FAMILIES

__all__ = ["FAMILIES", "backward", "corners", "direct", "edges", "elementwise", "indexing", "layout", "linear",
           "matrices", "movement", "network", "positions", "reductions", "training"]
