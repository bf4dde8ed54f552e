// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the part of assembly in which a kernel spends its time consists of.
#pragma once
#include <cstdint>
#include <string>

namespace tw::target {

/// Of a basic block: instructions that multiply and add vectors or tiles; loads, stores and
/// broadcasts of them, a broadcast from memory being a load, too; what is written to or read from
/// the stack at a fixed place, as spilled registers are.
struct InstructionCounts {
  int64_t products = 0, loads = 0, broadcasts = 0, stores = 0, stack = 0, all = 0;
};

/// Which block: that with the most products, among all or among those that do little else.
enum class Hottest { Block, Product };

/// All zero where there is none.
InstructionCounts countInstructions(const std::string &assembly, bool isAArch64,
                                    Hottest which = Hottest::Product);

/// What `found` has more of than `allowed`, for as many products; empty if nothing.
std::string faultsOf(const InstructionCounts &found, const InstructionCounts &allowed);

} // namespace tw::target
