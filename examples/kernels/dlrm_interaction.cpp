// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interaction of DLRM: from F vectors of D features, of which the first is the dense output,
// the dense output itself and then the products of all pairs, the lower triangle row by row.
#include <tilewright/Kernel.h>
using namespace tw::kernel;

TILEWRIGHT_KERNEL(dlrm_interaction, "y = [x[0], x[i] . x[j] for j < i], for each of a batch") {
  Symbol B("B"), F("F", {.min = 1}), D("D");
  Buffer x = input("x", f32, {B, F, D});
  Buffer y = output("y", f32, {B, D + floorDiv(F * (F - 1), 2)});
  auto [b] = grid(B);
  Tile vectors = reshape(load(x, {b, 0, 0}, {1, F, D}), {F, D});
  Tile products = dot(vectors, transpose(vectors));
  Tile i = iota({F, 1}, 0), j = iota({1, F}, 1);
  store(y, {b, 0}, reshape(load(x, {b, 0, 0}, {1, 1, D}), {1, D}));
  scatter(y, {b, D + i * (i - 1) / 2 + j}, products, {.mask = j < i});
}
