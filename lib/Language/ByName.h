// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler's own kernels (lib/Kernels) need beside the public language: they are made of
// operations that are data, and are called with memory for their results.
#ifndef TILEWRIGHT_LANGUAGE_BY_NAME_H
#define TILEWRIGHT_LANGUAGE_BY_NAME_H

#include "tilewright/Kernel.h"

namespace tw::kernel {

/// An elementwise operation by its name in tile programs ("arith.addf", "math.exp"), on tiles whose
/// shapes are broadcast. `predicate` is that of a comparison. Which operations there are and what
/// dtypes they take is checked when the traced text is read.
Tile applyByName(const std::string &operation, const std::vector<Tile> &operands, DType result,
                 const std::string &predicate = {}, Here here = Here::current());

/// Calls bring memory for the outputs, so the outputs' sizes bind symbols as the inputs' do
/// (attribute `destinations`).
void outputsBindSymbols();

/// The grid of any rank.
std::vector<Index> gridOf(const std::vector<Size> &sizes, Here here = Here::current());

} // namespace tw::kernel

#endif // TILEWRIGHT_LANGUAGE_BY_NAME_H
