// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a configuration legal, as data: whoever searches configurations gives these to a
// solver; whoever has one asks `holds`.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tw::kernels {

/// `less` must not be more than `more`: size expressions (Support/Size.h) over the numbers of a
/// configuration and what it has to fit.
struct Constraint {
  std::string less, more;
};

/// Numbers by name, as Size::Values.
using Numbers = std::map<std::string, int64_t, std::less<>>;

/// Whether all hold; one that cannot be evaluated with `values` does not.
bool holds(const std::vector<Constraint> &constraints, const Numbers &values);

} // namespace tw::kernels
