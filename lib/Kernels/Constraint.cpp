// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Constraint.h"
#include "Support/Size.h"
#include <algorithm>

namespace tw::kernels {

bool holds(const std::vector<Constraint> &constraints, const Numbers &values) {
  auto value = [&](const std::string &text) {
    std::string why;
    auto size = Size::parse(text, why);
    return size ? size->evaluate(values) : std::nullopt;
  };
  return std::all_of(constraints.begin(), constraints.end(), [&](const Constraint &c) {
    auto less = value(c.less), more = value(c.more);
    return less && more && *less <= *more;
  });
}

} // namespace tw::kernels
