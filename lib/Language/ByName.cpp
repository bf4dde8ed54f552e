// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Language/ByName.h"
#include "Language/Elements.h"

namespace tw::kernel {
using namespace detail;

Tile applyByName(const std::string &operation, const std::vector<Tile> &operands, DType result,
                 const std::string &predicate, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  Extents shape;
  Values values;
  for (const Tile &operand : operands) {
    values.push_back(tileOf(*tracer, operand.ref(), operation, here));
    const Extents &own = values.back()->type.shape;
    shape = values.size() == 1 ? own : broadcastShapes(*tracer, shape, own, operation, here);
  }
  for (ValuePtr &value : values)
    value = broadcastTo(*tracer, value, shape, here);
  Attributes attributes;
  attributes.word = predicate;
  return Tile(Ref(
      tracer->emit1(here, operation, std::move(values), Type{result, true, shape}, attributes)));
}

void outputsBindSymbols() {
  if (Tracer *tracer = Tracer::current())
    tracer->letOutputsBind();
}

std::vector<Index> gridOf(const std::vector<Size> &sizes, Here here) {
  return detail::grid(sizes, here);
}

} // namespace tw::kernel
