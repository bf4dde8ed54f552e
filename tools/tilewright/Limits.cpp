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

/// Reads memory from one end to the other, or rows of it; null where nothing is known of the CPU.
struct Reader {
  void (*all)(const std::byte *data, int64_t bytes) = nullptr;
  void (*rows)(const std::byte *data, const uint32_t *rows, int64_t count) = nullptr;
};

constexpr size_t lineBytes = 64; // of the caches
constexpr int64_t ahead = 16;    // rows that are requested: more lines than a core can wait for

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

template <int bytes>
using Bits [[gnu::vector_size(bytes), gnu::aligned(1), gnu::may_alias]] = uint64_t;
using Narrow = Bits<32>;
using Wide = Bits<64>;

/// Bytes that are read in a step.
constexpr int64_t unit = lookupBytes;

/// What has been read, in registers, so that it is used.
template <typename Vector>
struct Read {
  static constexpr int64_t count = unit / int64_t(sizeof(Vector));
  Vector all[count] = {};
  [[gnu::always_inline]] void add(const std::byte *data) {
#pragma GCC unroll 8
    for (int64_t j = 0; j < count; ++j)
      all[j] ^= reinterpret_cast<const Vector *>(data)[j];
  }
  [[gnu::always_inline]] void use() { asm volatile("" : : "r"(all) : "memory"); }
};

/// From one end to the other.
template <typename Vector>
[[gnu::always_inline]] inline void readAll(const std::byte *data, int64_t bytes) {
  Read<Vector> read;
  for (int64_t at = 0; at + unit <= bytes; at += unit)
    read.add(data + at);
  read.use();
}

/// Rows with these numbers; behind the last one stand `ahead` more, which are only requested.
template <typename Vector>
[[gnu::always_inline]] inline void readRows(const std::byte *data, const uint32_t *rows,
                                            int64_t count) {
  Read<Vector> read;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t at = 0; at < unit; at += int64_t(lineBytes))
      __builtin_prefetch(data + unit * rows[i + ahead] + at);
    read.add(data + unit * rows[i]);
  }
  read.use();
}

__attribute__((target("avx2"))) void readAllNarrow(const std::byte *data, int64_t bytes) {
  readAll<Narrow>(data, bytes);
}
__attribute__((target("avx512f"))) void readAllWide(const std::byte *data, int64_t bytes) {
  readAll<Wide>(data, bytes);
}
__attribute__((target("avx2"))) void readRowsNarrow(const std::byte *data, const uint32_t *rows,
                                                    int64_t count) {
  readRows<Narrow>(data, rows, count);
}
__attribute__((target("avx512f"))) void readRowsWide(const std::byte *data, const uint32_t *rows,
                                                     int64_t count) {
  readRows<Wide>(data, rows, count);
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

Reader reader() {
  if (has("avx512f"))
    return {readAllWide, readRowsWide};
  return has("avx2") ? Reader{readAllNarrow, readRowsNarrow} : Reader{};
}

#else // elsewhere nothing is measured: there has been no machine to try it on

Arithmetic arithmetic32() { return {nullptr}; }
Arithmetic arithmetic16() { return {nullptr}; }
Reader reader() { return {}; }

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

/// Memory that begins with a cache line: a vector that begins in the middle of one takes two loads.
struct Lines {
  explicit Lines(size_t bytes) : all(bytes + lineBytes, std::byte(1)) {
    size_t space = all.size();
    void *first = all.data();
    data = static_cast<std::byte *>(std::align(lineBytes, bytes, first, space));
  }
  std::vector<std::byte> all;
  std::byte *data;
};

/// Numbers below `end` in no order, the same ones each time.
std::vector<uint32_t> randomRows(int64_t count, int64_t end) {
  std::vector<uint32_t> rows(static_cast<size_t>(count));
  uint64_t state = 1;
  for (uint32_t &row : rows) {
    state =
        state * 6364136223846793005u + 1442695040888963407u; // Knuth's, of which high bits are good
    row = uint32_t((state >> 32) * uint64_t(end) >> 32);
  }
  return rows;
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
  double flops32 = measureFlops(threads, arithmetic32());
  // Some CPUs multiply bf16 faster when it has been widened, which takes no time beside products.
  return {threads, flops32, std::max(flops32, measureFlops(threads, arithmetic16()))};
}

double measureRead(int threads, int64_t bytes) {
  constexpr int64_t least = int64_t(64) << 20, most = int64_t(1) << 30; // read by a sample
  constexpr int64_t unit = lookupBytes, smallest = 16 * 1024;           // of a thread
  Reader read = reader();
  if (!read.all)
    return 0;
  int64_t part = std::max(std::min(bytes, most) / threads, smallest) / unit * unit;
  int64_t times = std::max<int64_t>(1, least / (part * threads));
  Lines lines(static_cast<size_t>(part * threads));
  double time = fastest(threads, [&](int thread) {
    for (int64_t i = 0; i < times; ++i)
      read.all(lines.data + thread * part, part);
  });
  return double(part * threads * times) / time;
}

double measureLookups(int threads, int64_t bytes) {
  constexpr int64_t most = int64_t(1) << 30, sample = (int64_t(32) << 20) / lookupBytes;
  constexpr int64_t scattered = int64_t(64) << 20; // over more pages than are translated at once
  Reader read = reader();
  if (!read.rows)
    return 0;
  bytes = std::min(bytes, most);
  Lines table(static_cast<size_t>(std::max(bytes, scattered)));
  int64_t part = std::max<int64_t>(1, bytes / lookupBytes / threads); // rows of a thread
  int64_t once = std::min(part, sample / threads), times = sample / threads / once;
  std::vector<uint32_t> rows =
      randomRows(part * threads + ahead, std::max(bytes, scattered) / lookupBytes);
  std::vector<int64_t> next(static_cast<size_t>(threads)); // a sample goes on where the last ended
  double time = fastest(threads, [&](int thread) {
    int64_t &at = next[static_cast<size_t>(thread)];
    for (int64_t i = 0; i < times; ++i) {
      at = at + once > part ? 0 : at;
      read.rows(table.data, rows.data() + thread * part + at, once);
      at += once;
    }
  });
  return double(lookupBytes * once * times * threads) / time;
}

double Limits::flopsOf(std::string_view type) const {
  if (type == "bf16")
    return flops16;
  if (type == "f64")
    return flops32 / 2;
  return type == "f32" || type == "f16" ? flops32 : 0;
}

} // namespace tw::cli
