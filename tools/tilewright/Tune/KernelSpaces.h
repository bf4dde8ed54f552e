// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of a model that have configurations: what the compiler tells a search.
#pragma once
#include "IO/HostTensor.h"
#include "IO/TemporaryFolder.h"
#include "Tune/Search.h"
#include "runtime/Artifact/Metadata.h"
#include "tools/tilewright/Compiler/ModelOptions.h"
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::cli {

/// Which calls a variant of a kernel is for (docs/configurations.md); all, if both are 0.
struct VariantBound {
  int64_t atMost = 0, workersAtLeast = 0;

  bool isForAll() const { return atMost == 0 && workersAtLeast == 0; }
  /// In files: "at_most" or "workers_at_least", and the number.
  std::pair<const char *, int64_t> field() const {
    return atMost > 0 ? std::pair("at_most", atMost)
                      : std::pair("workers_at_least", workersAtLeast);
  }
  /// ", at_most 4"; empty if it is for all.
  std::string text() const;
  auto operator<=>(const VariantBound &) const = default;
};

/// A kernel, or one of its variants, with its space (docs/tuning.md).
struct TunableKernel {
  std::string name, signature, ops, source, kind, target;
  // What matchers of specs look at, beside the kind: see
  // GraphToTile/Configuration/KernelFeatures.h.
  std::vector<std::string> operations, dtypes;
  std::vector<std::string> operators; // of all calls of the dispatch; `ops` are the kernel's own
  bool isRhsWeight = false;
  std::map<std::string, std::pair<int64_t, int64_t>> sizes; // least, most
  int64_t number = 0, calls = 0; // of the kernel in its dispatch; of the dispatch in the model
  /// Which calls the space is for: those like the one that is measured, in which the size that
  /// variants are told apart by is `callSize`.
  VariantBound bound;
  std::optional<int64_t> callSize;
  tune::Point own; // of the kernel itself when the search begins
  std::map<VariantBound, tune::Point> variants;
  /// Whether the compiler would have other variants for `own`; and whether all it has is the
  /// compiler's choice.
  bool areVariantsGiven = false, isChosen = true;
  tune::Space space;
  tune::Candidate start;               // what these calls run: the compiler's choice, or a spec's
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

/// " rows 6->4 columns 16->32": the knobs in which a point differs from the start, before and
/// after.
std::string changesText(const TunableKernel &kernel, const tune::Point &point);

/// Which kernels are searched, and what of them.
struct KernelFilter {
  std::vector<std::string> kernels;   // only these; empty: all
  std::vector<std::string> operators; // only of dispatches that compute one of these; empty: all
  std::vector<std::string> knobs;     // only these have other values; empty: all

  bool takes(const TunableKernel &kernel) const;
  /// Errors: CLI_1 for a name that none of the kernels has. Knobs are the compiler's to check.
  Status check(const std::vector<TunableKernel> &known) const;
};

/// The call that a search measures: what decides which variants run.
struct TunedCall {
  int workers = 0;                      // 0: as many as any
  bool addsForWorkers = false;          // calls with fewer are to run what they run now
  std::map<std::string, int64_t> sizes; // by kernels, what their variants are told apart by
};

/// Of a call of a program with these inputs; nothing on a GPU, whose kernels are searched
/// themselves. Errors: those
/// of inputs that do not fit.
Result<TunedCall> tunedCall(const rt::Metadata &program, std::span<HostTensor> inputs, int workers);

struct SpaceQuery {
  std::string format = "text", kernel;
  std::vector<std::string> knobs = {}; // that have other values than now; empty: all
  TunedCall call = {};
  int64_t countMost = 0, pointsMost = 0, samples = 0;
  uint64_t seed = 0;
  /// All points of kernels that have no more than so many, or 0. Of these only those that cost at
  /// most `costWithin` times the least by the target's model.
  int64_t enumerateMost = 0;
  double costWithin = std::numeric_limits<double>::infinity();

  /// What a search asks for: points that the compiler proposes, and some drawn from the whole
  /// space.
  static SpaceQuery ofSearch(std::vector<std::string> knobs, TunedCall call, uint64_t seed) {
    return {"json", "", std::move(knobs), std::move(call), 0, 1'000, 400, seed};
  }
  /// What an exhaustive one asks for.
  static SpaceQuery ofAll(std::vector<std::string> knobs, TunedCall call, double costWithin) {
    return {"json", "", std::move(knobs), std::move(call), 0, 0, 0, 0, mostEnumerated, costWithin};
  }
  static constexpr int64_t mostEnumerated = 20'000;
};

/// What the compiler says of the spaces, as text; `folder` is for temporary files. Returns an exit
/// status; errors have been printed.
int describeSpaces(const ModelOptions &model, const SpaceQuery &query,
                   const TemporaryFolder &folder, std::string &text);

/// Reads the JSON of describeSpaces.
Result<std::vector<TunableKernel>> readSpaces(const std::string &json);

/// The point of each kernel, by its number in the list; others keep the compiler's choice.
using Choice = std::map<size_t, tune::Point>;

} // namespace tw::cli
