// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler's own templates (lib/Kernels) need beside the public language: grids whose rank
// is known when they run.
#ifndef TILEWRIGHT_LANGUAGE_DESTINATIONS_H
#define TILEWRIGHT_LANGUAGE_DESTINATIONS_H

#include "tilewright/Kernel.h"

namespace tw::kernel {

/// The grid of any rank.
std::vector<Index> gridOf(const std::vector<Size> &sizes, Here here = Here::current());

} // namespace tw::kernel

#endif // TILEWRIGHT_LANGUAGE_DESTINATIONS_H
