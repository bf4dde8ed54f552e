// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search among decisions about operators: which of them share a kernel or take several, and in
// which layout they run (docs/configurations.md). Each is tried the other way round in the whole
// model.
#pragma once
#include "IO/TemporaryFolder.h"
#include "Tune/Comparison.h"
#include "tools/tilewright/Compiler/ModelOptions.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tw {
class JsonWriter;
}

namespace tw::cli {

struct Decision {
  std::string kind; // "fuse"
  /// The model's operators; what these are without their numbers, and what they compute.
  std::vector<std::string> operators, operations, types;
  bool isTaken = false; // or is to be

  /// "fuse of linear and relu: declined"
  std::string text() const;
  bool operator==(const Decision &) const = default;
};

/// "fuse of linear and relu: declined; ..."
std::string textOf(const std::vector<Decision> &decisions);

/// What the compiler decides. Returns an exit status; errors have been printed.
int describeDecisions(const ModelOptions &model, const TemporaryFolder &folder,
                      std::vector<Decision> &decisions);

/// Those of `made` that are taken otherwise in `before`, or are not there.
std::vector<Decision> differences(const std::vector<Decision> &made,
                                  const std::vector<Decision> &before);

/// Adds what code takes to each operator that it computes, of a list with commas.
void addTime(std::map<std::string, double> &usOf, std::string operators, double us);

/// Decisions of the same operations and types, as in layers that repeat, turned round together.
using Alternative = std::vector<Decision>;
/// Those of operators that take the longest first; `usOf` has the time of operators in a call, and
/// what takes less than a hundredth of all is left as it is.
std::vector<Alternative> alternativesOf(const std::vector<Decision> &decisions,
                                        const std::map<std::string, double> &usOf);

struct AlternativeTrial {
  std::string refusal = {};   // why it cannot be had; then there is no ratio
  tune::TimeRatio ratio = {}; // in terms of what is kept so far
  bool isInterrupted = false; // nothing is known of it
};

/// What tries alternatives out.
class DecisionTrials {
public:
  virtual ~DecisionTrials() = default;
  /// A program with all that is wanted; if it `isFinal`, with more pairs and on all inputs.
  virtual Result<AlternativeTrial> tryOut(const std::vector<Decision> &wanted, bool isFinal) = 0;
  /// What was tried last is kept: others are compared with it.
  virtual void keep() = 0;
};

struct KeptAlternative {
  Alternative decisions;
  tune::TimeRatio ratio; // in terms of what was kept before it
};

struct DecisionReport {
  std::vector<KeptAlternative> kept;
  size_t tried = 0, refused = 0;

  std::vector<Decision> decisions() const;
};

/// Tries each beside what is kept so far, and keeps it where that is faster, twice.
Result<DecisionReport> searchDecisions(const std::vector<Alternative> &alternatives,
                                       DecisionTrials &trials, const std::function<bool()> &goesOn);

/// Whether that is reason enough to decide otherwise than the compiler.
bool isWorthAChange(const tune::TimeRatio &ratio);

/// As a configuration file has them under "decisions".
void write(JsonWriter &json, const std::vector<Decision> &decisions);
/// As a tuning spec has them: rules for any model with the same operations of the same types.
std::string decisionRules(const std::vector<Decision> &decisions);

} // namespace tw::cli
