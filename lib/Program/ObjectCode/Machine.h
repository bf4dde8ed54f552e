// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine that code is made for, as LLVM knows it.
#pragma once
#include "Support/InstructionSet.h"
#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace tw {

/// This host's architecture, and its features that make generated code faster: slow instructions
/// are left out.
InstructionSet hostInstructionSet();

/// The caches of this host's cores, shared evenly by the threads of a core; the defaults for what
/// the system does not tell.
CpuCaches hostCaches();

/// A machine for position-independent code that uses `set`, at -O3; null when this compiler's LLVM
/// has no code generator for it.
std::unique_ptr<llvm::TargetMachine> makeMachine(const InstructionSet &set);

} // namespace tw
