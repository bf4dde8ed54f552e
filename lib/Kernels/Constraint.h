// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a configuration legal, as data: whoever searches configurations gives these to a
// solver; whoever has one asks `holds`.
#pragma once
#include "Support/Size.h"
#include <string_view>
#include <vector>

namespace tw::kernels {

/// `less` must not be more than `more`, over the numbers of a configuration and what it has to fit.
/// `Size::build` writes them for a solver.
struct Constraint {
  /// In Size's text form.
  Constraint(std::string_view less, std::string_view more);
  Size less, more;
};

/// Numbers by name.
using Numbers = Size::Values;

/// Whether all hold; one that cannot be evaluated with `values` does not.
bool holds(const std::vector<Constraint> &constraints, const Numbers &values);

} // namespace tw::kernels
