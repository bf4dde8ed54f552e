// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configurations for calls with many workers. What one worker is fastest with may be so few
// programs that most of many have nothing to do; smaller ones copy and read more.
#pragma once
#include "Target/CPU/Configuration/ContractionCost.h"
#include "Target/CPU/Configuration/ConvolutionCost.h"
#include <optional>

namespace tw::target::cpu {

template <typename C>
struct ForWorkers {
  int64_t workers; // at least
  C configuration;
};

/// The same sums as by `kernel`, a block in memory; nothing where that is as good for all numbers
/// of workers up to `someWorkers`, or sizes are only known at the call.
std::optional<ForWorkers<CPUContraction>> chooseForWorkers(const Contraction &contraction,
                                                           const VectorUnit &unit,
                                                           const CPUContraction &kernel);

/// The same for a convolution whose block lies in memory, as with transformed weights: fewer lines
/// of places in a program.
std::optional<ForWorkers<ConvolutionConfiguration>>
chooseForWorkers(const Convolution &convolution, const VectorUnit &unit,
                 const ConvolutionConfiguration &kernel);

/// Cycles until all programs are done by so many workers; nothing where sizes are only known at the
/// call.
std::optional<double> timeForWorkers(const Contraction &contraction, const VectorUnit &unit,
                                     const CPUContraction &block, int64_t workers);
std::optional<double> timeForWorkers(const Convolution &convolution, const VectorUnit &unit,
                                     const ConvolutionConfiguration &block, int64_t workers);

/// What a variant for many workers has to fit, beside what any variant has: sums are in memory, for
/// those in registers are made in another order.
std::vector<Constraint> workersConstraints(const VectorUnit &unit);

} // namespace tw::target::cpu
