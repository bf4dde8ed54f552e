// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all resampling operators read from their arguments.
#pragma once
#include "TorchToGraph/Builders/Elementwise/Element.h"
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// The factors given for the resampled dimensions, outermost first; refused when they are computed.
llvm::SmallVector<std::optional<double>> readFactors(Lowering &ctx, int64_t spatial);

/// The result's sizes from output_size or scale_factors; refused when there is neither.
llvm::SmallVector<mlir::OpFoldResult> resampledSizes(Lowering &ctx, const Tensor &input,
                                                     llvm::ArrayRef<std::optional<double>> factors);

/// Input positions for one output position: (in - 1) / (out - 1) with aligned corners, 1 / factor
/// with a given factor, in / out otherwise.
mlir::Value resamplingScale(Lowering &ctx, DType dtype, mlir::OpFoldResult in,
                            mlir::OpFoldResult out, bool alignCorners,
                            std::optional<double> factor);

/// Coordinates are computed in f32, in f64 for f64.
inline DType coordinateDType(DType dtype) { return dtype == DType::F64 ? DType::F64 : DType::F32; }

} // namespace tw::lower
