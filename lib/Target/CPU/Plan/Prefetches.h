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
/// same worker has just read this part of it, as where there are few rows. `ahead`: by how many
/// bytes; 0: not at all.
std::optional<NextBlock> planStream(tile::DotOp op, int64_t ahead);

/// Into how many equal parts of some pages each the steps along K of such a product fall, to be
/// read side by side; `together` steps are not parted.
int64_t planStreams(tile::DotOp op, const NextBlock &stream, int64_t together,
                    const CpuFeatures &cpu);

/// Rows to prefetch that later programs look up, of the loads behind `root`, a store or a
/// reduction: processors do not foresee where these are. None of tables that stay in a cache near
/// by.
std::vector<LookAhead> planLookAheads(const Scene &scene, mlir::Operation *root);

/// The same of a row whose position is `op`, for later trips of the loop around it.
std::vector<LookAhead> planLookAheads(tile::ExtractOp op);

} // namespace tw::target::cpu
