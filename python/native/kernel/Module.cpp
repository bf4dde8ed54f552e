// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Module.h"
#include "Values.h"

namespace tw::python {

void defineKernelLanguage(nanobind::module_ &module) {
  using namespace tw::python::kernel;
  nanobind::module_ language = module.def_submodule("kernel");
  defineValues(language);
  defineOperations(language);
  defineMemoryOperations(language);
  defineControl(language);
  defineTrace(language);
  defineOpenKernel(language);
}

} // namespace tw::python
