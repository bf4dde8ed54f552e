// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores that a product makes itself, block by block of its result, instead of a loop over all of
// it behind the product. Before, as `printPlan` shows it:
//
//   %3 = tile.for %k = ... carry (%sum = %2 : tensor<256x32xf32>) {...}
//     %8 = tile.dot %6, %7, %sum : ...
//       pairs of bf16 in tile registers
//   tile.store %4, %out[%0, %1] : ...
//     vectors of 16 along dimension 1
//
// and after:
//
//   %3 = tile.for %k = ... carry (%sum = %2 : tensor<256x32xf32>) {...}
//     %8 = tile.dot %6, %7, %sum : ...
//       pairs of bf16 in tile registers
//       stores each block in the last trip, beside the steps of the next one
//         tile.store %4, %out[%0, %1] : ...
//           vectors of 16 along dimension 1
#pragma once
#include "Target/CPU/Plan/Scene.h"

namespace tw::target::cpu {

/// Moves `store`, which comes after `steps`, into the product that these end with; false where it
/// stays. The plan of a product that could have made it says why not.
bool moveIntoProduct(Scene &scene, std::vector<Step> &steps, Step &store);

} // namespace tw::target::cpu
