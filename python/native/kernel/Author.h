// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel being traced, and the author who writes it in Python: where the author's code stands,
// and how mistakes are told there.
#pragma once
#include "Language/Elements.h"
#include <map>
#include <nanobind/nanobind.h>
#include <string>

namespace tw::python::kernel {

/// What goes on in this thread while a kernel is traced.
struct ActiveTrace {
  std::string name;
  tw::kernel::detail::Tracer *tracer = nullptr;
  /// Symbols that are numbers in this trace: the author's objects stand for every trace.
  std::map<std::string, tw::Size> numbers;
  std::map<std::string, tw::kernel::DType> dtypes; // what dtype variables stand for
};

/// Null outside of kernels.
ActiveTrace *activeTrace();

/// Makes `trace` the active one while it lives.
class Activation {
public:
  explicit Activation(ActiveTrace &trace);
  Activation(const Activation &) = delete;
  ~Activation();

private:
  ActiveTrace *outer;
};

/// The place in the innermost frame of Python that is not of this package. Columns count bytes and
/// begin at 1; they are 0 where Python (3.10) does not know them.
tw::kernel::Here here();
/// `file` for as long as the process lives.
const char *lasting(const std::string &file);

/// The tracer of the kernel being traced. Throws a KernelError outside of kernels ("tk.exp is ..."
/// of `what`), and the first mistake again after one that the author's code caught.
tw::kernel::detail::Tracer &tracerFor(const char *what);

/// Throws a KernelError at `place`: of the kernel that is being traced, if there is one.
[[noreturn]] void failAt(tw::kernel::Here place, const std::string &message,
                         const std::string &help);
/// Throws a KernelError (KERNEL_3).
[[noreturn]] void raiseMistake(const tw::kernel::TraceError &mistake, const std::string &kernel);
/// The tracer's first mistake as a KernelError.
[[noreturn]] void raiseFirst(const tw::kernel::detail::Tracer &tracer);

/// Calls a function of the kernel language; its mistakes become KernelErrors.
template <typename Function>
auto traced(const char *what, Function function) {
  tw::kernel::detail::Tracer &tracer = tracerFor(what);
  try {
    if (tracer.countCall())
      tracer.failTooManyCalls(here());
    return function(tracer);
  } catch (const tw::kernel::detail::Failed &) {
    raiseFirst(tracer);
  }
}

} // namespace tw::python::kernel
