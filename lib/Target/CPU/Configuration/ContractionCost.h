// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of products for a vector unit. Measured: docs/cpu-target.md, "Products".
#pragma once
#include "Kernels/Contraction.h"
#include "Target/CPU/Configuration/VectorUnit.h"

namespace tw::target::cpu {
using kernels::Constraint;
using kernels::Contraction;
using kernels::ContractionConfiguration;
using kernels::Numbers;

struct CPUContraction : ContractionConfiguration {
  // The block lies in memory, and operands are converted there first; registers have a part of it.
  bool hasAccumulatorsInMemory = false;

  // Panels have pairs of bf16 side by side, for the instructions that multiply these.
  static constexpr int64_t pair = 2;
  bool isInterleaved() const { return panelGroup == pair; }
  void interleave() { panelGroup = pair; }
};

/// The cpu target's own fields, "cpu".
const ConfigurationSchema &cpuSchema();
/// All that a contraction's configuration for the cpu target has.
kernels::Configuration configurationOf(const CPUContraction &configuration);
CPUContraction contractionFrom(const kernels::Configuration &configuration);

/// What the cpu target asks beside kernels::contractionConstraints, over the configuration's fields
/// and its own.
std::vector<Constraint> contractionConstraints(const Contraction &contraction,
                                               const VectorUnit &unit);
/// What it asks of a variant of `kernel`, beside those.
std::vector<Constraint> variantConstraints(const CPUContraction &kernel);
bool isLegal(const Contraction &contraction, const CPUContraction &configuration,
             const VectorUnit &unit);

/// The fastest legal configuration by the cost model: cycles of the vector unit, padding included.
/// `wantsPacked`: b is a weight, which is stored as it is wanted; the panels then fit evenly, or it
/// stays as it is.
CPUContraction chooseContraction(const Contraction &contraction, const VectorUnit &unit,
                                 bool wantsPacked = false);

/// The same for a variant (its size of rows has a bound), which reads b as `kernel` does.
CPUContraction chooseVariant(const Contraction &contraction, const VectorUnit &unit,
                             const CPUContraction &kernel);

/// About how many cycles all programs take.
double contractionCost(const Contraction &contraction, const ContractionConfiguration &block,
                       const VectorUnit &unit);

/// Cycles that all programs of pairs in registers wait for b, which streams from memory: nothing
/// has asked for it before. Blocks in memory ask for the next one meanwhile.
double cyclesOfUnaskedPairs(const Contraction &contraction, const CPUContraction &block);

/// Whether a kernel that transposes b first pays: each block of rows would transpose it again.
bool isRhsTransposeProfitable(const Contraction &contraction);

} // namespace tw::target::cpu
