// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's C API for Python. libtilewright-compiler.so, and LLVM with it, is loaded by the
// first call.
#pragma once
#include <nanobind/nanobind.h>

namespace tw::python {

/// Adds compile, inspect and compiler_version to the module.
void defineCompiler(nanobind::module_ &module);

} // namespace tw::python
