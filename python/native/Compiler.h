// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's C API for Python. libtilewright-compiler.so, and LLVM with it, is loaded by the
// first call.
#pragma once
#include "Errors.h"
#include "Unlocked.h"
#include "tools/tilewright/Compiler/CompilerLibrary.h"
#include <nanobind/nanobind.h>
#include <string>

namespace tw::python {

const cli::CompilerLibrary &compilerLibrary();

/// What a call says. Signals are handled while it goes on, as between two lines of Python: where a
/// handler raises, the call ends.
struct Said {
  std::string diagnostics, report;
  bool isInterrupted = false; // a handler's exception is Python's error
  tilewright_sink sink();
  /// Throws a handler's exception, or what was said when the call ended with something else than
  /// TILEWRIGHT_FINE or `allowed`. What the compiler warns of is a RuntimeWarning.
  void check(tilewright_outcome outcome, tilewright_outcome allowed = TILEWRIGHT_FINE) const;
};

/// Calls a function of the compiler, compiler.*function(args..., &sink, &said), without the GIL.
/// Throws as Said::check.
template <typename Function, typename... Args>
Said askAllowing(tilewright_outcome allowed, Function function, Args... args) {
  const cli::CompilerLibrary &compiler = compilerLibrary();
  Said said;
  tilewright_sink sink = said.sink();
  tilewright_outcome outcome;
  {
    Unlocked unlocked;
    outcome = (compiler.*function)(args..., &sink, &said);
  }
  said.check(outcome, allowed);
  return said;
}
template <typename Function, typename... Args>
Said ask(Function function, Args... args) {
  return askAllowing(TILEWRIGHT_FINE, function, args...);
}

/// Adds compile, inspect and compiler_version to the module.
void defineCompiler(nanobind::module_ &module);

} // namespace tw::python
