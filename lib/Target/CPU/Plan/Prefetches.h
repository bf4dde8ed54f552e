// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Target/CPU/Plan/Scene.h"

namespace tw::target::cpu {

/// The loads whose last of several passes `root`, a store or a reduction that is about to be
/// planned, makes.
std::vector<Prefetch> planPrefetches(const Scene &scene, mlir::Operation *root);

/// What to prefetch beside a product whose result is in memory: none where its b is small, or in
/// cache since the trip before.
std::optional<NextBlock> planNextBlock(tile::DotOp op);

/// The same of a product whose result is in registers: b streams from memory if no program on the
/// same worker has just read this part of it, as where there are few rows.
std::optional<NextBlock> planStream(tile::DotOp op, const CpuFeatures &cpu);

/// Into how many equal parts of some pages each the steps along K of such a product fall, to be
/// read side by side; `together` steps are not parted.
int64_t planStreams(tile::DotOp op, const NextBlock &stream, int64_t together,
                    const CpuFeatures &cpu);

} // namespace tw::target::cpu
