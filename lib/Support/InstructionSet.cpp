// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/InstructionSet.h"
#include <elf.h>

namespace tw {
namespace {

constexpr std::string_view x86Features[] = {
    "sse3",         "ssse3",
    "sse4.1",       "sse4.2",
    "popcnt",       "cx16",
    "sahf",         "lzcnt",
    "bmi",          "bmi2",
    "movbe",        "avx",
    "f16c",         "fma",
    "avx2",         "avxvnni",
    "avx512f",      "avx512cd",
    "avx512bw",     "avx512dq",
    "avx512vl",     "avx512vbmi",
    "avx512vbmi2",  "avx512vnni",
    "avx512bitalg", "avx512vpopcntdq",
    "avx512bf16",   "avx512fp16",
    "amx-tile",     "amx-bf16",
    "amx-int8",
};

constexpr std::string_view armFeatures[] = {
    "lse", "rdm", "fullfp16", "dotprod", "bf16", "i8mm", "sve",
};

struct Row {
  Architecture architecture;
  std::string_view name;
  uint16_t elfMachine;
  std::span<const std::string_view> features;
};

constexpr Row rows[] = {
    {Architecture::X86_64, "x86-64", EM_X86_64, x86Features},
    {Architecture::AArch64, "aarch64", EM_AARCH64, armFeatures},
};

const Row &rowOf(Architecture architecture) { return rows[static_cast<size_t>(architecture)]; }

static_assert(rows[0].architecture == Architecture::X86_64 &&
              rows[1].architecture == Architecture::AArch64);

} // namespace

std::string_view nameOf(Architecture architecture) { return rowOf(architecture).name; }

uint16_t elfMachineOf(Architecture architecture) { return rowOf(architecture).elfMachine; }

std::optional<Architecture> architectureOfElf(uint16_t machine) {
  for (const Row &row : rows)
    if (row.elfMachine == machine)
      return row.architecture;
  return std::nullopt;
}

std::span<const std::string_view> usefulFeatures(Architecture architecture) {
  return rowOf(architecture).features;
}

} // namespace tw
