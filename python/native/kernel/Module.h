// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright._native.kernel: the kernel language on the C++ tracer, for python/tilewright/kernel.
#pragma once
#include <nanobind/nanobind.h>

namespace tw::python {

/// Adds what the compiler does with a kernel's text.
void defineOpenKernel(nanobind::module_ &module);
/// Adds the submodule.
void defineKernelLanguage(nanobind::module_ &module);

} // namespace tw::python
