// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that are sums of Chebyshev's polynomials; scripts/chebyshev.py makes their tables.
#pragma once
#include "TorchToGraph/Builders/Elementwise/Element.h"

namespace tw::lower {

/// The sum of terms[k] T_k(t), for t in [-1, 1].
mlir::Value chebyshevSeries(const Element &e, llvm::ArrayRef<double> terms, mlir::Value t);

} // namespace tw::lower
