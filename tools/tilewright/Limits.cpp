// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Limits.h"
#include "runtime/CpuFeatures.h"
#include <algorithm>
#include <barrier>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tw::cli {

namespace {

/// A loop of operations that fill the pipelines of one core.
struct Arithmetic {
  /// Makes `steps` steps. Returns how many floating-point operations these were.
  double (*run)(int64_t steps);
};

#if defined(__x86_64__)

constexpr int chains = 16; // as many as latency times width want, and registers hold

/// `steps` of `one` in each of independent chains.
#define TW_IN_CHAINS(type, zero, one)                                                              \
  type sums[chains];                                                                               \
  for (type &sum : sums)                                                                           \
    sum = zero;                                                                                    \
  for (int64_t i = 0; i < steps; ++i) {                                                            \
    _Pragma("GCC unroll 16") for (int j = 0; j < chains; ++j) sums[j] = one(sums[j]);              \
    _Pragma("GCC unroll 16") for (int j = 0; j < chains; ++j) asm volatile("" : "+v"(sums[j]));    \
  }

__attribute__((target("avx512f,avx512bf16"))) double dotsBf16(int64_t steps) {
  __m512bh x = {};
  auto one = [&](__m512 sum) __attribute__((target("avx512f,avx512bf16"))) {
    return _mm512_dpbf16_ps(sum, x, x);
  };
  TW_IN_CHAINS(__m512, _mm512_setzero_ps(), one)
  return 4.0 * 16 * chains * double(steps);
}

__attribute__((target("avx512f"))) double wideMultiplyAdds(int64_t steps) {
  __m512 x = _mm512_set1_ps(0.5f), y = _mm512_set1_ps(1);
  auto one = [&](__m512 sum)
                 __attribute__((target("avx512f"))) { return _mm512_fmadd_ps(sum, x, y); };
  TW_IN_CHAINS(__m512, y, one)
  return 2.0 * 16 * chains * double(steps);
}

__attribute__((target("avx2,fma"))) double multiplyAdds(int64_t steps) {
  // Twelve chains, the factor and the summand are in the sixteen registers.
  constexpr int chains = 12;
  __m256 x = _mm256_set1_ps(0.5f), y = _mm256_set1_ps(1);
  auto one = [&](__m256 sum)
                 __attribute__((target("avx2,fma"))) { return _mm256_fmadd_ps(sum, x, y); };
  TW_IN_CHAINS(__m256, y, one)
  return 2.0 * 8 * chains * double(steps);
}

/// Of 16 rows and 16 columns, 32 terms each, in four tiles of sums.
__attribute__((target("amx-tile,amx-bf16"))) double tileProducts(int64_t steps) {
  struct alignas(64) {
    uint8_t palette = 1, startRow = 0, reserved[14] = {};
    uint16_t rowBytes[16] = {};
    uint8_t rows[16] = {};
  } shape;
  for (int tile = 0; tile < 8; ++tile)
    shape.rowBytes[tile] = 64, shape.rows[tile] = 16;
  _tile_loadconfig(&shape);
  _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3);
  _tile_zero(4), _tile_zero(5), _tile_zero(6), _tile_zero(7);
  for (int64_t i = 0; i < steps; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return 4 * 2.0 * 16 * 16 * 32 * double(steps);
}

__attribute__((target("avx2"))) void readAllNarrow(const std::byte *data, int64_t bytes) {
  __m256i all[8] = {};
  for (int64_t at = 0; at + 256 <= bytes; at += 256)
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j)
      all[j] = _mm256_xor_si256(
          all[j], _mm256_loadu_si256(reinterpret_cast<const __m256i *>(data + at + 32 * j)));
  for (__m256i &one : all)
    asm volatile("" : "+x"(one));
}

__attribute__((target("avx512f"))) void readAllWide(const std::byte *data, int64_t bytes) {
  __m512i all[4] = {};
  for (int64_t at = 0; at + 256 <= bytes; at += 256)
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
      all[j] = _mm512_xor_si512(all[j], _mm512_loadu_si512(data + at + 64 * j));
  for (__m512i &one : all)
    asm volatile("" : "+v"(one));
}

bool has(const char *name) { return rt::hasCpuFeature(name); }

Arithmetic arithmetic32() {
  if (has("avx512f"))
    return {wideMultiplyAdds};
  return {has("avx2") && has("fma") ? multiplyAdds : nullptr};
}

Arithmetic arithmetic16() {
  if (rt::requireInstructionSet({Architecture::X86_64, {"amx-tile", "amx-bf16"}}))
    return {tileProducts};
  return has("avx512bf16") ? Arithmetic{dotsBf16} : arithmetic32();
}

/// Reads memory from one end to the other; null where nothing is known of the CPU.
auto reader() -> void (*)(const std::byte *, int64_t) {
  if (has("avx512f"))
    return readAllWide;
  return has("avx2") ? readAllNarrow : nullptr;
}

#else // elsewhere nothing is measured: there has been no machine to try it on

Arithmetic arithmetic32() { return {nullptr}; }
Arithmetic arithmetic16() { return {nullptr}; }
auto reader() -> void (*)(const std::byte *, int64_t) { return nullptr; }

#endif

using Clock = std::chrono::steady_clock;

/// Runs `work` on each thread at once, several times, and gives the fastest time in seconds.
double fastest(int threads, const std::function<void(int)> &work) {
  constexpr int samples = 4;
  std::barrier<> start(threads), end(threads);
  double least = 1e9;
  auto run = [&](int thread) {
    for (int i = 0; i < samples; ++i) {
      start.arrive_and_wait();
      auto begin = Clock::now();
      work(thread);
      end.arrive_and_wait();
      if (thread == 0)
        least = std::min(least, std::chrono::duration<double>(Clock::now() - begin).count());
    }
  };
  std::vector<std::jthread> others;
  for (int i = 1; i < threads; ++i)
    others.emplace_back(run, i);
  run(0);
  return least;
}

double measureFlops(int threads, Arithmetic arithmetic) {
  if (!arithmetic.run)
    return 0;
  constexpr int64_t steps = 200'000;
  std::vector<double> done(static_cast<size_t>(threads));
  double time = fastest(
      threads, [&](int thread) { done[static_cast<size_t>(thread)] = arithmetic.run(steps); });
  double all = 0;
  for (double one : done)
    all += one;
  return all / time;
}

} // namespace

Limits measureLimits(int threads) {
  return {threads, measureFlops(threads, arithmetic32()), measureFlops(threads, arithmetic16())};
}

double measureRead(int threads, int64_t bytes) {
  constexpr int64_t least = int64_t(64) << 20, most = int64_t(1) << 30; // read by a sample
  constexpr int64_t unit = 256, smallest = 16 * 1024;                   // of a thread
  auto readAll = reader();
  if (!readAll)
    return 0;
  int64_t part = std::max(std::min(bytes, most) / threads, smallest) / unit * unit;
  int64_t times = std::max<int64_t>(1, least / (part * threads));
  // Whole cache lines: a vector that begins in the middle of one takes two loads.
  constexpr size_t line = 64;
  size_t space = static_cast<size_t>(part * threads) + line;
  std::vector<std::byte> all(space, std::byte(1));
  void *first = all.data();
  auto *data = static_cast<std::byte *>(std::align(line, space - line, first, space));
  double time = fastest(threads, [&](int thread) {
    for (int64_t i = 0; i < times; ++i)
      readAll(data + thread * part, part);
  });
  return double(part * threads * times) / time;
}

double Limits::flopsOf(std::string_view type) const {
  if (type == "bf16")
    return flops16;
  if (type == "f64")
    return flops32 / 2;
  return type == "f32" || type == "f16" ? flops32 : 0;
}

} // namespace tw::cli
