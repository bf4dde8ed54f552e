// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a target says of configurations: which there are, what they cost, and which to take. Targets
// implement it, the Driver gives it to the passes; nothing above a target knows a machine.
#pragma once
#include "Dispatch/FusionLimits.h"
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"
#include "GraphToTile/Configuration/RecomputationCosts.h"
#include "GraphToTile/Configuration/RowFusionLimits.h"
#include "GraphToTile/Configuration/SplitLimits.h"
#include "IR/Tile/Tile.h"
#include "Kernels/Configuration.h"
#include <optional>
#include <vector>

namespace tw::conversion {
using kernels::Configuration;
using kernels::Constraint;

/// A kernel that wants a configuration.
struct ConfigurationProblem {
  const Subkernel &subkernel;
  /// Whether the second operand of a contraction, or what a convolution multiplies by, is a weight,
  /// which can be stored in panels.
  bool isRhsWeight = false;
  /// Of a variant: the configuration of the kernel that it is one of. Both read one packing.
  const Configuration *variantOf = nullptr;
  /// Of a variant for many workers: how many at least. It cuts sums where the kernel does.
  int64_t workers = 0;
};

class ConfigurationChooser {
public:
  virtual ~ConfigurationChooser() = default;

  /// How large the values of a kernel may be, for what forms dispatches.
  virtual FusionLimits fusionLimits() const = 0;
  /// What computing elements again costs, for what fuses tile programs.
  virtual RecomputationCosts recomputationCosts() const { return {}; }
  /// How many elements side by side a kernel has to store of what it computes transposed, so that
  /// what transposes it is fused; 0: it never is.
  virtual int64_t leastTransposedRun() const { return 0; }
  /// When loops are run in parts. From sizes alone, never from the machine's number of cores, so
  /// that results do not depend on it.
  virtual SplitLimits splitLimits() const { return {}; }
  /// When kernels run block of rows by block of rows in one kernel. From sizes alone, too.
  virtual RowFusionLimits rowFusionLimits() const { return {}; }

  /// Whether a computation is better several kernels; one of those that `whyNoCut` permits.
  virtual tile::Cut chooseCut(const ConfigurationProblem &problem) const = 0;
  /// The default, which fits all constraints: the cheapest by the target's model.
  virtual Configuration choose(const ConfigurationProblem &problem) const = 0;
  /// What the target asks beside `spaceOf`, over the configuration's fields and the target's own.
  virtual std::vector<Constraint> constraints(const ConfigurationProblem &problem) const = 0;
  /// How many outputs a panel of weights has that are transformed for Winograd's algorithm, and a
  /// block of the convolution that reads them.
  virtual int64_t transformedColumns() const = 0;
  /// Of how many bytes rows of a product's operands are a multiple for the target's units for
  /// products; nothing where that makes no difference.
  virtual std::optional<int64_t> rowAlignment() const { return std::nullopt; }
  /// How many neighbours along the sum lie side by side in the panels of a packed operand: what the
  /// fields of the target's own in a configuration of a contraction say of their layout. All
  /// variants of a kernel have the same.
  virtual int64_t panelGroup(const Configuration &) const { return 1; }
  /// Sizes, ascending, for calls up to which another configuration may pay than for larger ones
  /// (Variants.h); 1 stands for calls in which it is 1. None by default.
  virtual std::vector<int64_t> variantSizes(const ConfigurationProblem &problem) const;
  /// Another configuration for calls with at least `workers` workers, which `choose` would leave
  /// too few programs.
  struct ForWorkers {
    int64_t workers;
    Configuration configuration;
  };
  /// The same sums as by `kernel`, cut in the same places: results are the same bits for any number
  /// of workers. None by default.
  virtual std::optional<ForWorkers> chooseForWorkers(const ConfigurationProblem &problem,
                                                     const Configuration &kernel) const;
  /// About how many cycles of one core all programs take, or of a variant for many workers, how
  /// many cycles pass until all are done; nothing where the target has no model.
  virtual std::optional<double> cost(const ConfigurationProblem &problem,
                                     const Configuration &configuration) const = 0;
};

/// The configurations that the kernel itself permits, on any target.
struct ConfigurationSpace {
  const ConfigurationSchema *schema;
  std::vector<Constraint> constraints;
  /// What values are worth having at most, by their symbols, where a size says so: a larger block
  /// or more programs in a row than there are make no difference. Legal all the same.
  kernels::Numbers most = {};
};
ConfigurationSpace spaceOf(const ConfigurationProblem &problem);

/// Why a computation cannot be cut so for the target; empty if it can.
std::string whyNoCut(const Subkernel &subkernel, tile::Cut cut,
                     const ConfigurationChooser &chooser);
/// The kernels that it becomes, in order. `temporaries` counts the values between subkernels.
std::vector<Subkernel> applyCut(Subkernel subkernel, tile::Cut cut, int &temporaries,
                                const ConfigurationChooser &chooser);
/// The kernels of a dispatch that is configured; nothing, with the reason in `why`, where the
/// configuration is of another form.
std::optional<std::vector<Subkernel>> applyCuts(std::vector<Subkernel> subkernels, int &temporaries,
                                                tile::DispatchConfigurationAttr configured,
                                                const ConfigurationChooser &chooser,
                                                std::string &why);

} // namespace tw::conversion
