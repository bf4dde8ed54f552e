// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Language/Destinations.h"
#include "Language/Elements.h"

namespace tw::kernel {

void outputsBindSymbols() {
  if (detail::Tracer *tracer = detail::Tracer::current())
    tracer->letOutputsBind();
}

std::vector<Index> gridOf(const std::vector<Size> &sizes, Here here) {
  return detail::grid(sizes, here);
}

} // namespace tw::kernel
