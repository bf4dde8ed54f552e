// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Constraint.h"
#include <algorithm>
#include <cassert>

namespace tw::kernels {

static Size parsed(std::string_view text) {
  std::string why;
  auto size = Size::parse(text, why);
  assert(size && "a constraint is no size expression");
  return *size;
}

Constraint::Constraint(std::string_view less, std::string_view more)
    : less(parsed(less)), more(parsed(more)) {}

bool holds(const std::vector<Constraint> &constraints, const Numbers &values) {
  return std::all_of(constraints.begin(), constraints.end(), [&](const Constraint &c) {
    auto less = c.less.evaluate(values), more = c.more.evaluate(values);
    return less && more && *less <= *more;
  });
}

} // namespace tw::kernels
