// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of convolutions, all of which have the plain lowering: each tap is a product of matrices.
#pragma once
#include "Kernels/Winograd.h"
#include "Target/NVIDIA/Architecture.h"

namespace tw::target::nvidia {

/// The fastest by the model.
kernels::ConvolutionConfiguration choosePlainConvolution(const kernels::Convolution &convolution,
                                                         const GpuArchitecture &architecture);

/// About how many cycles all programs take.
double plainConvolutionCost(const kernels::Convolution &convolution,
                            const kernels::ConvolutionConfiguration &configuration,
                            const GpuArchitecture &architecture);

/// Whether Winograd's algorithm is faster, for which weights are transformed when the model is
/// compiled.
bool isTransformProfitable(const kernels::Convolution &convolution,
                           const GpuArchitecture &architecture);
kernels::WinogradWeightsConfiguration
choosePlainWinogradWeights(const kernels::WinogradWeights &weights);

} // namespace tw::target::nvidia
