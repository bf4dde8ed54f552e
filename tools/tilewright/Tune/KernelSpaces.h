// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of a model that have configurations, and configuration files for them: what the
// compiler tells a search and what a search tells the compiler.
#pragma once
#include "IO/TemporaryFolder.h"
#include "Tune/Search.h"
#include "tools/tilewright/Compiler/ModelOptions.h"
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

/// A kernel with its space (docs/tuning.md).
struct TunableKernel {
  std::string name, signature, ops, source, kind, target;
  // What matchers of specs look at, beside the kind: see
  // GraphToTile/Configuration/KernelFeatures.h.
  std::vector<std::string> operations, dtypes;
  bool isRhsWeight = false;
  std::map<std::string, std::pair<int64_t, int64_t>> sizes; // least, most
  int64_t number = 0, calls = 0; // of the kernel in its dispatch; of the dispatch in the model
  tune::Space space;
  tune::Candidate start;               // what it has: the compiler's choice, or a starter spec's
  tune::Point chosen;                  // the compiler's choice
  std::vector<tune::Candidate> points; // to try, cheapest first
  /// Where all points were asked for: how many there are, and what `points` has of them.
  struct Enumerated {
    int64_t legal = 0;
    bool isComplete = false; // else there are more, and `points` has none
    int64_t within = 0;      // of the cost that was asked for; `points` has them, or is empty
  };
  std::optional<Enumerated> enumerated;
  std::map<std::string, bool> isOfTarget; // of each knob
};

/// Which kernels are searched, and what of them.
struct KernelFilter {
  std::vector<std::string> kernels;   // only these; empty: all
  std::vector<std::string> operators; // only kernels that compute one of these; empty: all
  std::vector<std::string> knobs;     // only these have other values; empty: all

  bool takes(const TunableKernel &kernel) const;
  /// Errors: CLI_1 for a name that none of the kernels, or of their knobs, has.
  Status check(const std::vector<TunableKernel> &known) const;
};

struct SpaceQuery {
  std::string format = "text", kernel;
  std::vector<std::string> knobs = {}; // that have other values than now; empty: all
  int64_t countMost = 0, pointsMost = 0, samples = 0;
  uint64_t seed = 0;
  /// All points of kernels that have no more than so many, or 0. Of these only those that cost at
  /// most `costWithin` times the least by the target's model.
  int64_t enumerateMost = 0;
  double costWithin = std::numeric_limits<double>::infinity();

  /// What a search asks for: points that the compiler proposes, and some drawn from the whole
  /// space.
  static SpaceQuery ofSearch(std::vector<std::string> knobs, uint64_t seed) {
    return {"json", "", std::move(knobs), 0, 1'000, 400, seed};
  }
  /// What an exhaustive one asks for.
  static SpaceQuery ofAll(std::vector<std::string> knobs, double costWithin) {
    return {"json", "", std::move(knobs), 0, 0, 0, 0, mostEnumerated, costWithin};
  }
  static constexpr int64_t mostEnumerated = 20'000;
};

/// What the compiler says of the spaces, as text; `folder` is for temporary files. Returns an exit
/// status; errors have been printed.
int describeSpaces(const ModelOptions &model, const SpaceQuery &query,
                   const TemporaryFolder &folder, std::string &text);

/// Reads the JSON of describeSpaces.
Result<std::vector<TunableKernel>> readSpaces(const std::string &json);

/// The fields that are the target's own, or those that are not, with the values of `point`.
kernels::Fields fieldsAt(const TunableKernel &kernel, const tune::Point &point, bool ofTarget);

/// The point of each kernel, by its number in the list; others keep the compiler's choice.
using Choice = std::map<size_t, tune::Point>;

/// A configuration file (docs/configurations.md) with the kernels of `choice`, and those that share
/// dispatches with them, which a file gives as a whole.
std::string configurationText(const std::vector<TunableKernel> &kernels, const Choice &choice);

} // namespace tw::cli
