// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled graph as torch calls and keeps it. Results that need gradients keep the function that
// calls their graph, and torch does not release those that are left when Python ends, when nobody
// may hold objects of this module any more: so the function is no such object, and the one place
// that holds the graph, from which it is taken before.
#pragma once
#include <nanobind/nanobind.h>

namespace tw::python {

/// Adds _native.GraphFunction.
void defineGraphFunction(nanobind::module_ &module);

} // namespace tw::python
