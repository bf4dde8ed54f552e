// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/CpuFeatures.h"
#include <algorithm>

namespace tw::target {
namespace {

/// A CPU has the features of the one before it, too.
struct Cpu {
  std::string_view name;
  std::vector<std::string_view> features;
};

const std::vector<Cpu> &cpus() {
  static const std::vector<Cpu> all = {
      {"x86-64", {}},
      {"x86-64-v2", {"cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"}},
      {"x86-64-v3", {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}},
      {"x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
      {"amx",
       {"avx512vnni", "avx512bf16", "avx512vbmi", "avx512vbmi2", "amx-tile", "amx-bf16",
        "amx-int8"}},
  };
  return all;
}

} // namespace

CpuFeatures CpuFeatures::fromNames(std::span<const std::string> names) {
  auto has = [&](std::string_view wanted) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return (name.starts_with('+') ? name.substr(1) : name) == wanted;
    });
  };
  CpuFeatures cpu;
  if (has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq"))
    cpu = {64, 32};
  else if (has("avx2") && has("fma"))
    cpu = {32, 16};
  cpu.hasBf16Dot = cpu.vectorBytes == 64 && has("avx512bf16");
  cpu.hasBf16Tiles = cpu.vectorBytes == 64 && has("amx-tile") && has("amx-bf16");
  return cpu;
}

RegisterBlock CpuFeatures::productBlock(int64_t bytes) const {
  // More than 8 rows meet in one set of an 8-way cache when a row is a power of two long.
  int64_t lanes = vectorBytes / bytes;
  if (vectorRegisters >= 32)
    return {6, 4 * lanes};
  return {6, 2 * lanes};
}

std::optional<RegisterBlock> CpuFeatures::pairTile() const {
  if (hasBf16Tiles)
    return RegisterBlock{32, 32};
  return hasBf16Dot ? std::optional(productBlock(4)) : std::nullopt;
}

std::vector<std::string_view> cpuNames() {
  std::vector<std::string_view> names;
  for (const Cpu &cpu : cpus())
    names.push_back(cpu.name);
  return names;
}

std::optional<std::vector<std::string>> featuresOfCpu(std::string_view name) {
  std::vector<std::string> features;
  for (const Cpu &cpu : cpus()) {
    features.insert(features.end(), cpu.features.begin(), cpu.features.end());
    if (cpu.name == name)
      return features;
  }
  return std::nullopt;
}

} // namespace tw::target
