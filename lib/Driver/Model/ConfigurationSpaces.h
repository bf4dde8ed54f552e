// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The configuration spaces of a model's kernels, for those who search them (docs/tuning.md).
#pragma once
#include "Driver/Model/ConfigurationFile.h"
#include "GraphToTile/Configuration/ConfigurationChooser.h"
#include "GraphToTile/Configuration/KernelFeatures.h"
#include "GraphToTile/Configuration/Variants.h"
#include "Tune/Space.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <limits>
#include <optional>

namespace tw {

/// The space of one kernel of a configured dispatch, or of one of its variants, and where in it
/// that is.
struct KernelSpace {
  std::string kernel, signature, ops, source;
  std::vector<std::string> operators; // of all calls of the dispatch; `ops` are the kernel's own
  size_t number = 0;                  // of the kernel in its dispatch
  int64_t calls = 0;                  // of the dispatch in the model
  conversion::KernelFeatures features;
  /// Of the kernel itself, and its variants in order.
  conversion::Configuration own = {};
  std::vector<conversion::Variant> variants = {};
  bool areVariantsGiven = false; // the target would choose others for `own`
  bool isChosen = false;         // all of this is the target's choice
  /// Which calls the space is for. It may be a variant that the kernel has not.
  conversion::VariantBound bound = {};
  std::optional<int64_t> callSize = {};    // what variants are told apart by in the request's call
  conversion::Configuration configuration; // what these calls run now
  tune::Space space;
  tune::Point point;  // where that is
  tune::Point chosen; // the target's choice

  /// A configuration like that of the kernel, with the values of `point`.
  conversion::Configuration at(const tune::Point &point) const;
};

/// What is asked for beside the spaces themselves.
struct SpaceRequest {
  bool isJson = false, isSmtLib = false;
  bool isDecisions = false; // nothing of spaces: what is decided about operators
  std::string kernel;       // only this one; empty: all
  /// A call that spaces are for: its number of workers (0: any), and of kernels the sizes that
  /// variants are told apart by. A kernel's space is that of the variant which such a call takes,
  /// or would take (boundForCall).
  int64_t workers = 0;
  bool addsForWorkers = false; // calls with fewer run what they run now
  std::map<std::string, int64_t, std::less<>> sizes = {};
  /// Knobs that may have other values than now; empty: all of them.
  std::vector<std::string> knobs = {};
  int64_t countMost = 0;  // legal points are counted up to here; 0: they are not
  int64_t pointsMost = 0; // so many points to try first, cheapest first by the target's model
  int64_t samples = 0;    // of them at most so many drawn from the whole space by the solver
  uint64_t seed = 0;
  /// Instead of some points: all of each kernel that has no more than so many; 0: some.
  int64_t enumerateMost = 0;
  /// Of these only those whose cost by the target's model is at most so many times the least.
  double costWithin = std::numeric_limits<double>::infinity();
};

/// Calls `take` with each kernel's space of a module between tw-configure and tw-tile-programs, and
/// with what the target was asked for it. Of `request` only which call that is counts.
void forEachSpace(
    mlir::ModuleOp module, const conversion::ConfigurationChooser &chooser,
    const SpaceRequest &request,
    llvm::function_ref<void(KernelSpace &, const conversion::ConfigurationProblem &)> take);

} // namespace tw
