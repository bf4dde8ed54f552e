// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dispatch of a compiled program is at fault when its results differ from the reference
// target's (docs/bisect.md): both programs run, and each dispatch of the compiled one works on what
// the reference computes, so that errors do not add up.
#pragma once
#include "IO/Compare.h"
#include "IO/Formats/JsonWriter.h"
#include "runtime/Artifact/Metadata.h"
#include "tilewright/tilewright.h"
#include "tools/tilewright/Program/Calls.h"
#include <map>
#include <optional>

namespace tw::cli {

/// A program that was compiled with ModelOptions::values.
struct CheckedProgram {
  const tw_program *program;
  const rt::Metadata &metadata;
};

struct DispatchDifference {
  size_t call = 0;      // of those that were given
  int32_t dispatch = 0; // of the compiled program
  int64_t round = 0;    // as often as it ran before in the same call
  int32_t origin = 0;   // the reference's dispatch that computes the value
  Comparison found;
  std::vector<DifferingElement> worst;
  std::vector<int32_t> unknown; // dispatches whose results it read, which are no values themselves
  std::optional<bool> isAsInterpreted; // whether the interpreter computes the same from its kernel
};

/// A result of a dispatch that the interpreter makes otherwise.
struct KernelDifference {
  int32_t dispatch = 0;
  size_t result = 0;
  Comparison found;
  std::vector<DifferingElement> worst;
};

/// What was found.
struct DispatchComparison {
  std::optional<DispatchDifference> first;
  std::vector<int32_t> others;            // that differ, too
  std::vector<int32_t> compared;          // dispatches that ran and have a result that was compared
  std::vector<int32_t> within;            // that ran and have none, but were read by such
  std::map<int32_t, std::string> unknown; // that ran and are neither, and why
  std::vector<KernelDifference> kernels;
  int64_t interpreted = 0;                                          // kernels
  std::vector<std::pair<int32_t, std::string>> notInterpreted = {}; // and why
};

/// Runs `calls`, one after the other, on instances of both programs. `interprets`: the first
/// dispatch of each kernel, and the first that differs, is done by the interpreter, too. Errors:
/// those of a run, and of ValueStore.
Result<DispatchComparison> compareDispatches(const CheckedProgram &compiled,
                                             const CheckedProgram &reference,
                                             std::span<const Call> calls, ToleranceChoice choice,
                                             int threads, bool interprets);

/// "dispatches: 12 are compared and agree; 2 are not: ..."
std::string summary(const DispatchComparison &found, const CheckedProgram &compiled);
/// The error that names the first dispatch that differs (CLI_10), or says that none does by itself.
Diagnostic describe(const DispatchComparison &found, const CheckedProgram &compiled,
                    const CheckedProgram &reference);
void writeJson(JsonWriter &json, const DispatchComparison &found, const CheckedProgram &compiled,
               const CheckedProgram &reference);

} // namespace tw::cli
