// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which measurements of other kernels a search begins with. Reading and comparing them takes time
// in proportion to how many there are of the kinds asked for, whatever else a database has.
#pragma once
#include "Tune/CostCorrection.h"
#include "Tune/Database.h"
#include <map>
#include <span>

namespace tw::tune {

/// Of kernels of one kind, some of which have the same sizes.
class KindPrior {
public:
  explicit KindPrior(std::span<const RecordedKernel> known);

  /// Of all that have other sizes than `kernel`. Empty where it is no good: where what is known of
  /// all others puts the best points of each of them no further ahead than their costs do, on the
  /// average.
  CorrectionPrior of(const RecordedKernel &kernel) const;

private:
  using Sizes = decltype(KernelDescription::sizes);
  struct SameSizes {
    CorrectionPrior prior;
    double gain = 0; // how much further ahead the others put the best points than costs do
  };
  std::map<Sizes, SameSizes> bySizes;
  CorrectionPrior all;
  double gain = 0;
};

/// Of kernels of any kinds.
class Priors {
public:
  /// Of these; all kinds at once.
  explicit Priors(std::span<const RecordedKernel> known);
  CorrectionPrior of(const RecordedKernel &kernel) const;

private:
  std::map<KernelKind, KindPrior> kinds;
};

/// The same of what a database has; each kind is read once, when it is asked for.
class DatabasePriors {
public:
  /// `database` outlives it.
  explicit DatabasePriors(const Database &database) : database(database) {}
  /// Errors: TUNE_1.
  Result<CorrectionPrior> of(const RecordedKernel &kernel);

private:
  const Database &database;
  std::map<KernelKind, KindPrior> kinds;
};

} // namespace tw::tune
