// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights whose values only calls give: their storage is no range of a file, but a tensor that the
// program is handed. Until Graph/Preparation.h makes arguments of them they are tw.weight like all
// others, so that whatever lays out, packs or evaluates weights takes them, too.
#pragma once
#include "IR/Graph/Graph.h"

namespace tw::graph {

/// What such a weight says instead of a file: its storage is the weight number `offset` of the
/// model, row-major,
constexpr llvm::StringLiteral givenWeight = "<given>";
/// or the result number `offset` of the preparation.
constexpr llvm::StringLiteral preparedWeight = "<prepared>";

inline bool isGivenByCalls(WeightAttr weight) {
  llvm::StringRef file = weight.getFile().getValue();
  return file == givenWeight || file == preparedWeight;
}

} // namespace tw::graph
