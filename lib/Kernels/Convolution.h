// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// n-d convolutions with channels last: strides, dilation, padding, groups, depthwise and transposed
// ones. A program is a block of places times output channels, one tile while it sums over
// all taps and channels; each tap is one product of matrices, of which the first one's rows are
// read where they lie, so that strides and padding cost nothing.
#pragma once
#include "Kernels/Access.h"
#include "Kernels/Configuration.h"
#include <string>

namespace tw::kernels {

/// One spatial dimension. input = output * stride + tap * dilation - padding, or, transposed,
/// output = input * stride + tap * dilation - padding.
struct ConvolutionAxis {
  Extent input, output, window;
  int64_t stride = 1, dilation = 1, padding = 0;
};

/// y[n, places..., o] = the sum over taps and channels of x[n, places..., c] * w[taps..., c, o].
struct Convolution {
  Extent batch;
  std::vector<ConvolutionAxis> spatial; // one at least
  Extent channels, outputs;             // of a group
  int64_t groups = 1;
  bool isTransposed = false;
  bool isReversed = false;            // the last tap of w is the first one
  bool isChannelsFirst = false;       // x is [batch, channels, spatial...]
  int64_t firstChannel = 0;           // of x's channels; it may have more than there are
  bool hasTransformedWeights = false; // w is what Winograd.h makes of it
  bool isOutputsFirst = false;        // w is [outputs, channels and taps], as filters are given
  /// x: [batch, spatial..., channels of all groups], zeros beyond it. w: [window..., channels of a
  /// group, outputs of all groups]. y: [batch, spatial..., outputs of all groups], of which axes of
  /// size 1 are left out.
  std::vector<BufferSpec> buffers;
  int x = 0, w = 1, y = 2;
  kernel::DType sum = kernel::f32; // in which it is summed up: y's dtype
};

struct ConvolutionConfiguration {
  // Of a program's block: places along the last spatial dimension, and along the one before; with
  // transformed weights these count blocks of 2 x 2.
  int64_t width = 1, height = 1;
  int64_t columns = 16;                          // output channels of the block
  int64_t widthPrograms = 1, columnPrograms = 1; // that follow each other on one worker
  bool outputsOutermost = true;                  // of what programs walk along
  bool isPacked = false; // w comes as [outputs / columns, window..., channels, columns]
  // The block lies in memory, and taps and channels are loops around it: the weights are read once
  // for many places.
  bool inScratch = false;
  int64_t channelStep = 0; // channels in a trip of such a loop; 0: all
  bool operator==(const ConvolutionConfiguration &) const = default;
};

/// Its fields, "convolution".
const ConfigurationSchema &convolutionSchema();
Numbers numbersOf(const ConvolutionConfiguration &configuration);
ConvolutionConfiguration convolutionFrom(const Numbers &fields);

/// A transposed convolution with strides of 1 as one that is not, with reversed taps: all that is
/// known of these holds for it. No other changes.
void simplifyTransposed(Convolution &convolution);

/// Whether each output channel has an input channel of its own: then channels are what vectors run
/// along.
bool isDepthwise(const Convolution &convolution);

/// Why a convolution cannot be written, or empty.
std::string refuse(const Convolution &convolution);

/// What any target asks of a configuration of this convolution, over its fields.
std::vector<Constraint> convolutionConstraints(const Convolution &convolution);

/// Whether w can come packed: all its sizes are known.
bool canPack(const Convolution &convolution);
/// Which axis of w goes where: outputs first (and, by panels, last), the taps, the channels.
std::vector<int> packedOrder(const Convolution &convolution);

/// The kernel; to be called while it is traced.
void writeConvolution(const Convolution &convolution,
                      const ConvolutionConfiguration &configuration);

} // namespace tw::kernels
