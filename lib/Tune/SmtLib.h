// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configuration spaces as SMT-LIB 2.6 (integers, with products and divisions of knobs), for Z3 and
// for other solvers. http://smtlib.cs.uiowa.edu/
#pragma once
#include "Tune/Space.h"
#include <string>

namespace tw::tune {

/// Declares each knob with its values, and asserts the constraints, each by a name: "values_rows"
/// for the values of `rows`, "c3" for constraint number 3. There is no (check-sat).
std::string smtLib(const Space &space);

} // namespace tw::tune
