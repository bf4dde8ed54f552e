// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "IR/Tile/Tile.h"
#include <optional>

namespace tw::target::nvidia {

/// A store of a tile that depends on sums: along which of its dimensions these have their rows and
/// columns. All others have the extent 1. Without columns it stores one number for each row.
struct SumsStore {
  tile::StoreOp store;
  unsigned rowDim = 0;
  std::optional<unsigned> columnDim = {};
};

} // namespace tw::target::nvidia
