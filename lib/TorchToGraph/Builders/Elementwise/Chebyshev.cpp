// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Elementwise/Chebyshev.h"

using namespace mlir;

namespace tw::lower {

/// By Clenshaw's recurrence.
Value chebyshevSeries(const Element &e, ArrayRef<double> terms, Value t) {
  Value twice = e.add(t, t), next = e.constant(0.0), afterNext = e.constant(0.0);
  for (double term : llvm::reverse(terms.drop_front())) {
    Value now = e.add(e.sub(e.mul(twice, next), afterNext), e.constant(term));
    afterNext = next;
    next = now;
  }
  return e.add(e.sub(e.mul(t, next), afterNext), e.constant(terms.front()));
}

} // namespace tw::lower
