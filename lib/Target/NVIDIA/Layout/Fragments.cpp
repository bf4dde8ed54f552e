// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Layout/Fragments.h"

namespace tw::target::nvidia {

Layout strided(int64_t count, int64_t threads) {
  return {{count}, {{(count + threads - 1) / threads, 0, threads}}, {{threads, 0, 1}}};
}

Layout blocks(int64_t rows, int64_t columns, int64_t blockRows, int64_t blockColumns) {
  int64_t across = columns / blockColumns, down = rows / blockRows;
  return {{rows, columns},
          {{blockColumns, 1, across}, {blockRows, 0, 1}},
          {{across, 1, 1}, {down, 0, blockRows}}};
}

// Both fragments are made of 8 x 8 pieces: four threads have a row, two elements each.

Layout wgmmaSums(int64_t columns) {
  return {{64, columns},
          {{2, 1, 1}, {2, 0, 8}, {columns / 8, 1, 8}},
          {{4, 1, 2}, {8, 0, 1}, {4, 0, 16}}};
}

Layout wgmmaLeft() {
  return {{64, 16}, {{2, 1, 1}, {2, 0, 8}, {2, 1, 8}}, {{4, 1, 2}, {8, 0, 1}, {4, 0, 16}}};
}

} // namespace tw::target::nvidia
