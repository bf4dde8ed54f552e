// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the machine sustains, for bench/limits.py: multiply-adds in registers, and reads of memory.
// Built for the host when it is measured.
#include <cstddef>
#include <cstdint>
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

#ifdef __AVX512F__
typedef float Vector __attribute__((vector_size(64)));
constexpr int chains = 24;
#else
typedef float Vector __attribute__((vector_size(32)));
constexpr int chains = 12;
#endif
constexpr int lanes = sizeof(Vector) / sizeof(float);

/// `steps` of `one` in each of independent chains, which fill the pipelines. Returns how many
/// floating-point operations that were, `each` in a step of a lane.
template <typename One>
static double inChains(int64_t steps, double each, One one) {
  Vector sums[chains] = {};
  for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 24
    for (int j = 0; j < chains; ++j)
      sums[j] = one(sums[j]);
#pragma GCC unroll 24
    for (int j = 0; j < chains; ++j)
      asm volatile("" : "+v"(sums[j])); // every step is made
  }
  return each * double(steps) * chains * lanes;
}

/// Multiply-adds of f32.
extern "C" double multiplyAdd(int64_t steps) {
  Vector x = {}, y = {};
  for (int lane = 0; lane < lanes; ++lane)
    x[lane] = 0.5f, y[lane] = 1.0f;
  return inChains(steps, 2, [&](Vector sum) { return sum * x + y; });
}

/// Of bf16, summed in f32: in pairs where there are instructions for that (tile registers are not
/// looked at).
extern "C" double multiplyAddBf16(int64_t steps) {
#ifdef __AVX512BF16__
  __m512bh x = {};
  return inChains(steps, 4, [&](Vector sum) { return Vector(_mm512_dpbf16_ps(sum, x, x)); });
#else
  return multiplyAdd(steps);
#endif
}

/// Reads `count` floats, from one end to the other.
extern "C" float readAll(const float *data, size_t count) {
  constexpr int streams = 8;
  Vector sums[streams] = {};
  auto *vectors = reinterpret_cast<const Vector *>(data);
  for (size_t i = 0; i + streams <= count / lanes; i += streams)
#pragma GCC unroll 8
    for (int j = 0; j < streams; ++j)
      sums[j] += vectors[i + j];
  float total = 0;
  for (Vector &sum : sums)
    total += sum[0];
  return total;
}
