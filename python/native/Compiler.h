// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's C API for Python. libtilewright-compiler.so, and LLVM with it, is loaded by the
// first call.
#pragma once
#include "Errors.h"
#include "tools/tilewright/CompilerLibrary.h"
#include <nanobind/nanobind.h>
#include <string>

namespace tw::python {

const cli::CompilerLibrary &compilerLibrary();

/// What a call says.
struct Said {
  std::string diagnostics, report;
  tilewright_sink sink();
};

/// Calls a function of the compiler, compiler.*function(args..., &sink, &said), without the GIL.
/// Throws what it says when it ends with something else than TILEWRIGHT_FINE or `allowed`.
template <typename Function, typename... Args>
Said askAllowing(tilewright_outcome allowed, Function function, Args... args) {
  const cli::CompilerLibrary &compiler = compilerLibrary();
  Said said;
  tilewright_sink sink = said.sink();
  tilewright_outcome outcome;
  {
    nanobind::gil_scoped_release release;
    outcome = (compiler.*function)(args..., &sink, &said);
  }
  if (outcome != TILEWRIGHT_FINE && outcome != allowed)
    raise(said.diagnostics, outcome);
  return said;
}
template <typename Function, typename... Args>
Said ask(Function function, Args... args) {
  return askAllowing(TILEWRIGHT_FINE, function, args...);
}

/// Adds compile, inspect and compiler_version to the module.
void defineCompiler(nanobind::module_ &module);

} // namespace tw::python
