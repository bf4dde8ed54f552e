// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of one query to many keys, as when text is written word by word. There are only as many
// programs as heads, so it is `combine` that gives each worker something to do.
#include <tilewright/Kernel.h>
using namespace tw::kernel;

static Tile finite(Tile x) { return select(x == -inf, 0.0, x); }

TILEWRIGHT_KERNEL(decode_attention, "o = softmax(scale q k^T) v for one query of each head") {
  int64_t H = parameter("H", 8), D = parameter("D", 64), BN = parameter("BN", 128);
  Symbol N("N");
  Buffer q = input("q", f32, {H, D}), k = input("k", f32, {H, N, D});
  Buffer v = input("v", f32, {H, N, D}), o = output("o", f32, {H, D});
  Scalar scale = scalar("scale", f64);
  auto [h] = grid(H);

  Tile query = load(q, {h, 0}, {1, D}) * scale;
  auto block = [&](Index n, Tile most, Tile total, Tile acc) {
    Tile keys = reshape(load(k, {h, n * BN, 0}, {1, BN, D}), {BN, D});
    Tile values = reshape(load(v, {h, n * BN, 0}, {1, BN, D}), {BN, D});
    Tile scores = select(iota({1, BN}, 1, i64, n * BN) < N, dot(query, transpose(keys)), -inf);
    Tile next = maximum(most, max(scores, 1)), base = finite(next);
    Tile weights = exp(scores - base), fade = exp(most - base);
    return carry(next, total * fade + sum(weights, 1), dot(weights, values, acc * fade));
  };
  auto combine = [](Tile most1, Tile total1, Tile acc1, Tile most2, Tile total2, Tile acc2) {
    Tile most = maximum(most1, most2), base = finite(most);
    Tile fade1 = exp(most1 - base), fade2 = exp(most2 - base);
    return carry(most, total1 * fade1 + total2 * fade2, acc1 * fade1 + acc2 * fade2);
  };
  auto start = carry(full({1, 1}, -inf, f32), zeros({1, 1}, f32), zeros({1, D}, f32));
  auto [most, total, acc] = forLoop(0, ceilDiv(N, BN), 1, start, block, combine);
  store(o, {h, 0}, acc / select(total == 0.0, 1.0, total)); // 0 where there is no key at all
}
