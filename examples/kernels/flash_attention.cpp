// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flash attention 2: one pass over the keys, in blocks, with a running maximum and sum of each row.
// `combine` joins what two parts of the keys gave, so that workers can share a long row of keys. A
// part that saw no key has the maximum -inf, and so weighs nothing; 0 in place of -inf keeps
// -inf - -inf, which is NaN, out of the exponents.
#include <tilewright/Kernel.h>
using namespace tw::kernel;

static Tile finite(Tile x) { return select(x == -inf, 0.0, x); }

static void attention(bool causal) {
  Symbol H("H"), M("M"), N("N"), D("D");
  int64_t BM = parameter("BM", 32), BN = parameter("BN", 64);
  Buffer q = input("q", f32, {H, M, D}), k = input("k", f32, {H, N, D});
  Buffer v = input("v", f32, {H, N, D}), o = output("o", f32, {H, M, D});
  Scalar scale = scalar("scale", f64);
  auto [h, m] = grid(H, ceilDiv(M, BM));

  Tile queries = keep(reshape(load(q, {h, m * BM, 0}, {1, BM, D}), {BM, D}) * scale);
  Tile rows = iota({BM, 1}, 0, i64, m * BM);
  Index blocks = ceilDiv(N, BN);
  if (causal) // keys after the block's last query are not looked at
    blocks = minimum(blocks, ceilDiv((m + 1) * BM, BN));

  auto block = [&](Index n, Tile most, Tile total, Tile acc) {
    Tile keys = reshape(load(k, {h, n * BN, 0}, {1, BN, D}), {BN, D});
    Tile values = reshape(load(v, {h, n * BN, 0}, {1, BN, D}), {BN, D});
    Tile columns = iota({1, BN}, 1, i64, n * BN);
    Tile seen = causal ? columns <= rows && columns < N : columns < N;
    Tile scores = select(seen, dot(queries, transpose(keys)), -inf);
    Tile next = maximum(most, max(scores, 1)), base = finite(next);
    Tile weights = exp(scores - base), fade = exp(most - base);
    return carry(next, total * fade + sum(weights, 1), dot(weights, values, acc * fade));
  };
  auto combine = [](Tile most1, Tile total1, Tile acc1, Tile most2, Tile total2, Tile acc2) {
    Tile most = maximum(most1, most2), base = finite(most);
    Tile fade1 = exp(most1 - base), fade2 = exp(most2 - base);
    return carry(most, total1 * fade1 + total2 * fade2, acc1 * fade1 + acc2 * fade2);
  };
  auto start = carry(full({BM, 1}, -inf, f32), zeros({BM, 1}, f32), zeros({BM, D}, f32));
  auto [most, total, acc] = forLoop(0, blocks, 1, start, block, combine);
  Tile result = acc / select(total == 0.0, 1.0, total); // 0 where there is no key at all
  store(o, {h, m * BM, 0}, reshape(result, {1, BM, D}));
}

TILEWRIGHT_KERNEL(flash_attention, "o = softmax(scale q k^T) v") { attention(false); }
TILEWRIGHT_KERNEL(causal_flash_attention, "the same, query i sees keys 0 to i") { attention(true); }
