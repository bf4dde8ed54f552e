// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running a kernel function with symbolic values: from a C++ function to the text of a tile.kernel.
#ifndef TILEWRIGHT_LANGUAGE_TRACE_H
#define TILEWRIGHT_LANGUAGE_TRACE_H

#include "Language/Phrases.h"
#include "tilewright/Kernel.h"

#include <functional>
#include <optional>

namespace tw::kernel {

/// A value for a parameter or a symbol of a kernel.
struct Binding {
  std::string name;
  int64_t value;
};

struct Parameter {
  std::string name;
  int64_t defaultValue;
};

/// What is wrong with a kernel, in its author's words.
struct TraceError {
  std::string message; ///< one line: what is wrong, with both values
  std::string help;    ///< what to do; may be empty
  std::string file;
  uint32_t line, column;
};

struct TraceResult {
  std::string text; ///< a tile.kernel with locations; empty on an error
  std::optional<TraceError> error;
  std::vector<Parameter> parameters; ///< those asked for, in order; on an error, until then
};

/// Traces a kernel. Never throws for what a kernel does. Each binding must be a parameter or a
/// symbol of it. `say`, which must live as long, is how messages spell what authors write. May be
/// called in several threads at once, and while another kernel is traced.
TraceResult trace(const std::string &name, const std::function<void()> &kernel,
                  const std::vector<Binding> &bindings = {}, Here here = Here::current(),
                  const Phrases &say = Phrases());

} // namespace tw::kernel

#endif // TILEWRIGHT_LANGUAGE_TRACE_H
