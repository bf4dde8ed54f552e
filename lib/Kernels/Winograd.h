// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions with windows of 3 x 3 by Winograd's minimal filtering F(2x2, 3x3): blocks of 2 x 2
// places take 16 products of channels where 36 are written (Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", 2016).
#pragma once
#include "Kernels/Convolution.h"

namespace tw::kernels {

/// The most channels that may be added up one after the other, as a divisor of all of them; 0: all.
int64_t transformedChannelStep(int64_t channels);

/// Whether it can be: 2-d windows of 3 x 3 at every place, one group, f32, sizes known, whole
/// panels of `columns` outputs, channels in parts that are neither long nor very short.
bool canBeWinograd(const Convolution &convolution, int64_t columns);

/// The weights of a convolution as its products want them: u[o, i, c, j] is that of product i for
/// channel c and output o * columns + j, where a panel has `columns` outputs.
struct WinogradWeights {
  std::vector<BufferSpec> buffers; // w: [3, 3, channels, outputs]; u
  int64_t channels = 1, outputs = 1;
  bool isOutputsFirst = false; // w: [outputs, channels * 9]
  bool isReversed = false;     // the last tap of w is the first one
};

struct WinogradWeightsConfiguration {
  int64_t channels = 1; // in a program
};
/// Its fields, "winograd_weights".
const ConfigurationSchema &winogradWeightsSchema();
Numbers numbersOf(const WinogradWeightsConfiguration &configuration);
WinogradWeightsConfiguration winogradWeightsFrom(const Numbers &fields);
/// What any target asks of it.
std::vector<Constraint> winogradWeightsConstraints(const WinogradWeights &weights);

/// What computes the transformed weights of a convolution, in panels of `columns` outputs, which
/// then reads them.
WinogradWeights transformWeights(Convolution &convolution, int64_t columns);
/// Of a convolution that reads them: how many outputs a panel has, and so a program's block.
int64_t transformedColumns(const Convolution &convolution);

/// The kernels; to be called while they are traced.
void writeWinogradWeights(const WinogradWeights &weights,
                          const WinogradWeightsConfiguration &configuration);
void writeWinograd(const Convolution &convolution, const ConvolutionConfiguration &configuration);

} // namespace tw::kernels
