// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine code is made for: this host's CPU, as a list of feature names that the code may use
// and that the runtime checks before it loads an artifact.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace tw {

/// The features of this host that generated code may use, in LLVM's spelling: those that matter for
/// code, not those that only describe the machine.
std::vector<std::string> hostFeatures();

/// A machine for position-independent code with `features` at -O3, tuned for this host.
std::unique_ptr<llvm::TargetMachine> makeMachine(const std::vector<std::string> &features);

} // namespace tw
