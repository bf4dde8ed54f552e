// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What code for CPUs is made for, and what CPUs are: an architecture, and features beside those
// that all its CPUs have.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

enum class Architecture : uint8_t { X86_64, AArch64 };

/// The one that this program itself is compiled for.
#if defined(__x86_64__)
inline constexpr Architecture hostArchitecture = Architecture::X86_64;
#elif defined(__aarch64__)
inline constexpr Architecture hostArchitecture = Architecture::AArch64;
#else
#error "this architecture is not in the table of Support/InstructionSet.cpp"
#endif

/// "x86-64", "aarch64": as users write and read it.
std::string_view nameOf(Architecture architecture);

/// The number of an architecture in ELF files (e_machine), and back; nothing for others.
uint16_t elfMachineOf(Architecture architecture);
std::optional<Architecture> architectureOfElf(uint16_t machine);

/// The features beyond those of all CPUs of an architecture that generated code makes use of, by
/// LLVM's names. Others only describe a machine.
std::span<const std::string_view> usefulFeatures(Architecture architecture);

/// What code may use.
struct InstructionSet {
  Architecture architecture = hostArchitecture;
  std::vector<std::string> features; // LLVM's names: "avx2", "avx512f", "bf16"
  bool operator==(const InstructionSet &) const = default;
};

/// Bytes of the data caches of a core that each of its threads has for itself: where two share a
/// core, a half.
struct CpuCaches {
  int64_t secondLevel = 1 << 20;
  bool operator==(const CpuCaches &) const = default;
};

} // namespace tw
