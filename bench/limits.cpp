// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the machine sustains, for bench/limits.py: multiply-adds in registers, and reads of memory.
// Built for the host when it is measured.
#include <cstddef>
#include <cstdint>
#if defined(__AVX512BF16__) || defined(__AMX_BF16__)
#include <immintrin.h>
#endif
#ifdef __AMX_BF16__
#include <sys/syscall.h>
#include <unistd.h>
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

#ifdef __AMX_BF16__
/// Products of tiles of 16 x 32 and 32 x 16 elements, in four chains; 0 where the system denies
/// them.
static double tileProducts(int64_t steps) {
  constexpr long requestPermission = 0x1023, tileData = 18; // arch_prctl's
  if (syscall(SYS_arch_prctl, requestPermission, tileData) != 0)
    return 0;
  struct {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } configuration;
  _tile_loadconfig(&configuration);
  for (int64_t i = 0; i < steps; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return 2.0 * 16 * 16 * 32 * 4 * double(steps);
}
#endif

/// Of bf16, summed in f32: in tile registers or in pairs where there are instructions for that.
extern "C" double multiplyAddBf16(int64_t steps) {
#ifdef __AMX_BF16__
  if (double done = tileProducts(steps / 8))
    return done;
#endif
#ifdef __AVX512BF16__
  __m512bh x = {};
  return inChains(steps, 4, [&](Vector sum) { return Vector(_mm512_dpbf16_ps(sum, x, x)); });
#else
  return multiplyAdd(steps);
#endif
}

/// Reads `count` floats, from one end to the other, `times` times.
extern "C" float readAll(const float *data, size_t count, int64_t times) {
  constexpr int streams = 8;
  Vector sums[streams] = {};
  auto *vectors = reinterpret_cast<const Vector *>(data);
  for (int64_t time = 0; time < times; ++time) {
    for (size_t i = 0; i + streams <= count / lanes; i += streams)
#pragma GCC unroll 8
      for (int j = 0; j < streams; ++j)
        sums[j] += vectors[i + j];
    asm volatile("" ::: "memory"); // every one is made
  }
  float total = 0;
  for (Vector &sum : sums)
    total += sum[0];
  return total;
}
