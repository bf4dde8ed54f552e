// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/CpuFeatures.h"
#include <algorithm>
#include <charconv>
#include <functional>

namespace tw::target {
namespace {

/// A CPU has the features of those before it of its architecture, too.
struct Cpu {
  Architecture architecture;
  std::string_view name;
  std::vector<std::string_view> features;
  CpuCaches caches; // that CPUs with no more than these features have
};

/// Of CPUs before AVX-512.
constexpr CpuCaches small = {.secondLevel = 512 << 10};
constexpr CpuCaches medium = {.secondLevel = 1 << 20};
/// Of those with AMX.
constexpr CpuCaches large = {.secondLevel = 2 << 20};

const std::vector<Cpu> &cpus() {
  using enum Architecture;
  static const std::vector<Cpu> all = {
      {X86_64, "x86-64", {}, small},
      {X86_64, "x86-64-v2", {"cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"}, small},
      {X86_64, "x86-64-v3", {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}, small},
      {X86_64, "x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}, medium},
      {X86_64,
       "amx",
       {"avx512vnni", "avx512bf16", "avx512vbmi", "avx512vbmi2", "amx-tile", "amx-bf16",
        "amx-int8"},
       large},
      {AArch64, "aarch64", {}, medium},
  };
  return all;
}

} // namespace

using Has = std::function<bool(std::string_view)>;

static CpuFeatures ofX86(const Has &has) {
  CpuFeatures cpu;
  if (has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq"))
    cpu = {64, 32};
  else if (has("avx2") && has("fma"))
    cpu = {32, 16};
  if (cpu.vectorBytes == 64 && has("avx512bf16")) {
    cpu.bf16Dot = "llvm.x86.avx512bf16.dpbf16ps.512";
    cpu.roundToBf16 = "llvm.x86.avx512bf16.cvtneps2bf16.512";
  }
  cpu.hasBf16Tiles = cpu.vectorBytes == 64 && has("amx-tile") && has("amx-bf16");
  // Intel's cores since Sapphire Rapids, also where a virtual machine hides their tiles: cores
  // before them have no AVX-512 FP16, and AMD's up to Zen 5 none.
  if (cpu.hasBf16Tiles || (cpu.vectorBytes == 64 && has("avx512fp16"))) {
    cpu.streamAhead = 2048; // behind the page that is read, where they do not look by themselves
    cpu.streams = 4;
    cpu.hasSlowThirdLevel = true;
    cpu.panelRows = 128; // sums of 32 KB, in a first-level cache of 48
  } else if (cpu.bf16Dot) {
    cpu.pairStreamAhead = 2048, cpu.balancedPairRows = 7;
  }
  cpu.storeFence = "llvm.x86.sse.sfence";
  return cpu;
}

/// NEON.
static CpuFeatures ofAArch64(const Has &has) {
  CpuFeatures cpu{16, 32};
  if (has("bf16"))
    cpu.bf16Dot = "llvm.aarch64.neon.bfdot.v4f32.v8bf16";
  return cpu;
}

CpuFeatures CpuFeatures::of(const InstructionSet &set, const CpuCaches &caches) {
  Has has = [&](std::string_view name) {
    return std::ranges::find(set.features, name) != set.features.end();
  };
  CpuFeatures cpu = set.architecture == Architecture::AArch64 ? ofAArch64(has) : ofX86(has);
  cpu.caches = caches;
  return cpu;
}

RegisterBlock CpuFeatures::productBlock(int64_t bytes) const {
  // More than 8 rows meet in one set of an 8-way cache when a row is a power of two long.
  int64_t lanes = vectorBytes / bytes;
  if (vectorRegisters >= 32)
    return {6, 4 * lanes};
  return {6, 2 * lanes};
}

int64_t CpuFeatures::productRows(int64_t vectors) const {
  return vectorRegisters >= 32 && (vectors == 2 || vectors == 3) ? 8 : 6;
}

std::optional<RegisterBlock> CpuFeatures::pairTile() const {
  if (hasBf16Tiles)
    return RegisterBlock{32, 32};
  if (!bf16Dot)
    return std::nullopt;
  RegisterBlock block = productBlock(4);
  // AVX-512 takes elements of a from memory; else each row's is in a register, too.
  if (vectorBytes < 64)
    --block.rows;
  return block;
}

std::vector<std::string_view> cpuNames() {
  std::vector<std::string_view> names;
  for (const Cpu &cpu : cpus())
    names.push_back(cpu.name);
  return names;
}

static std::optional<NamedCpu> plainCpu(std::string_view name) {
  for (const Cpu &wanted : cpus()) {
    if (wanted.name != name)
      continue;
    NamedCpu named{{wanted.architecture, {}}, wanted.caches};
    for (const Cpu &cpu : cpus()) {
      if (cpu.architecture == wanted.architecture)
        named.set.features.insert(named.set.features.end(), cpu.features.begin(),
                                  cpu.features.end());
      if (&cpu == &wanted)
        return named;
    }
  }
  return std::nullopt;
}

/// "512K" or "2M"; nothing for other texts, and sizes that no cache has.
static std::optional<int64_t> bytesOf(std::string_view size) {
  constexpr int64_t leastKilobytes = 4, mostKilobytes = 1 << 20;
  int64_t number = 0;
  auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), number);
  std::string_view unit(end, size.data() + size.size());
  if (error != std::errc() || number < 1 || number > mostKilobytes || (unit != "K" && unit != "M"))
    return std::nullopt;
  int64_t kilobytes = unit == "M" ? number << 10 : number;
  if (kilobytes < leastKilobytes || kilobytes > mostKilobytes)
    return std::nullopt;
  return kilobytes << 10;
}

/// What follows a CPU's name: a feature, or the size of a cache. False for anything else.
static bool add(NamedCpu &cpu, std::string_view word) {
  if (constexpr std::string_view size = "l2="; word.starts_with(size)) {
    std::optional<int64_t> bytes = bytesOf(word.substr(size.size()));
    cpu.caches.secondLevel = bytes.value_or(0);
    return bytes.has_value();
  }
  if (std::ranges::find(usefulFeatures(cpu.set.architecture), word) ==
      usefulFeatures(cpu.set.architecture).end())
    return false;
  if (std::ranges::find(cpu.set.features, word) == cpu.set.features.end())
    cpu.set.features.emplace_back(word);
  return true;
}

std::optional<NamedCpu> namedCpu(std::string_view name) {
  size_t end = name.find('+');
  std::optional<NamedCpu> cpu = plainCpu(name.substr(0, end));
  while (cpu && end != name.npos) {
    size_t begin = end + 1;
    end = name.find('+', begin);
    if (!add(*cpu, name.substr(begin, end - begin)))
      return std::nullopt;
  }
  return cpu;
}

} // namespace tw::target
