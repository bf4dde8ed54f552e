// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results against what they should be: for run and check.
#pragma once
#include "Calls.h"
#include "IO/Compare.h"
#include "IO/Formats/JsonWriter.h"
#include "IO/InputSpec.h"
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tw::cli {

/// --rtol and --atol.
struct ToleranceOptions : ToleranceChoice {
  void addTo(CLI::App &app);
};

/// One compared output.
struct OutputComparison {
  std::string name;
  const char *kind = "output"; // or "input": one that the model writes to; or "state"
  std::string against;         // "@ref.npy", "the reference target"
  Comparison found;
};

/// Reads `expected` and compares the outputs that it means, by name or in order. Errors: CLI_3,
/// CLI_6 and those of readInput. A difference is no error here.
Result<std::vector<OutputComparison>> compareOutputs(const Interface &callee,
                                                     std::span<const HostTensor> outputs,
                                                     std::span<const InputSpec> expected,
                                                     const ToleranceOptions &tolerances);

/// Prints each difference as an error (CLI_4) on stderr; true when there is none.
bool reportDifferences(std::span<const OutputComparison> comparisons, const std::string &callName);

/// An array with one object per comparison.
void writeJson(JsonWriter &json, std::span<const OutputComparison> comparisons);

} // namespace tw::cli
