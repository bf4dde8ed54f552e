// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of convolutions for a vector unit. Measured: docs/compiler-kernels.md, "Configurations".
#pragma once
#include "Kernels/Winograd.h"
#include "Target/CPU/Configuration/VectorUnit.h"

namespace tw::target::cpu {
using kernels::Constraint;
using kernels::Convolution;
using kernels::ConvolutionConfiguration;

/// Outputs of a panel of transformed weights: four vectors of AVX-512, eight of AVX2, in which both
/// have registers for the rows beside them.
constexpr int64_t panelOutputs = 64;

/// What the cpu target asks beside convolutionConstraints, over the configuration's fields.
std::vector<Constraint> convolutionConstraints(const Convolution &convolution,
                                               const VectorUnit &unit);
bool isLegal(const Convolution &convolution, const ConvolutionConfiguration &configuration,
             const VectorUnit &unit);

/// The fastest legal configuration by the cost model. `wantsPacked`: w is a weight, which is stored
/// as it is wanted.
ConvolutionConfiguration chooseConvolution(const Convolution &convolution, const VectorUnit &unit,
                                           bool wantsPacked = false);

/// About how many cycles all programs take.
double convolutionCost(const Convolution &convolution,
                       const ConvolutionConfiguration &configuration, const VectorUnit &unit);

/// Whether a convolution is faster with transformed weights (Winograd.h). `isKnown`: weights are
/// transformed at compile time, else each call does it.
bool isTransformProfitable(const Convolution &convolution, const VectorUnit &unit, bool isKnown);

/// What is transposed has whole cache lines of channels.
kernels::WinogradWeightsConfiguration
chooseWinogradWeights(const kernels::WinogradWeights &weights);

/// Whether filters as they are given are better transposed by a kernel of their own, once, than
/// block by block in each program.
bool isFilterTransposeProfitable(const Convolution &convolution, const VectorUnit &unit);

} // namespace tw::target::cpu
