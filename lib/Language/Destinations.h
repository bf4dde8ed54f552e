// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler's own templates (lib/Kernels) need beside the public language: they are called
// with memory for their results, and have grids of any rank.
#ifndef TILEWRIGHT_LANGUAGE_DESTINATIONS_H
#define TILEWRIGHT_LANGUAGE_DESTINATIONS_H

#include "tilewright/Kernel.h"

namespace tw::kernel {

/// Calls bring memory for the outputs, so the outputs' sizes bind symbols as the inputs' do
/// (attribute `destinations`).
void outputsBindSymbols();

/// The grid of any rank.
std::vector<Index> gridOf(const std::vector<Size> &sizes, Here here = Here::current());

} // namespace tw::kernel

#endif // TILEWRIGHT_LANGUAGE_DESTINATIONS_H
