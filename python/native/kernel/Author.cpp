// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Author.h"
#include "Errors.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <set>
#include <string_view>

namespace nb = nanobind;
using namespace tw::kernel;
using namespace tw::kernel::detail;

namespace tw::python::kernel {

static thread_local ActiveTrace *active = nullptr;

ActiveTrace *activeTrace() { return active; }

Activation::Activation(ActiveTrace &trace) : outer(active) { active = &trace; }
Activation::~Activation() { active = outer; }

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

const char *lasting(const std::string &file) {
  static std::set<std::string> files; // under the GIL
  return files.insert(file).first->c_str();
}

/// The folder of this package, with a slash.
static std::string_view packageFolder() {
  static const std::string folder = [] {
    Dl_info info;
    static const char inside = 0;
    std::string path = dladdr(&inside, &info) && info.dli_fname ? info.dli_fname : "";
    return path.substr(0, path.rfind('/') + 1);
  }();
  return folder;
}

static std::string_view fileOf(nb::handle code) {
  PyObject *name = reinterpret_cast<PyCodeObject *>(code.ptr())->co_filename;
  Py_ssize_t size;
  const char *text = PyUnicode_AsUTF8AndSize(name, &size);
  if (!text) {
    PyErr_Clear();
    return lasting(escaped(name));
  }
  return {text, static_cast<size_t>(size)};
}

static Here placeIn(PyFrameObject *frame, nb::handle code) {
  const char *file = lasting(std::string(fileOf(code)));
#if PY_VERSION_HEX >= 0x030b0000
  int line = 0, column = -1, lastLine = 0, lastColumn = 0;
  PyCode_Addr2Location(reinterpret_cast<PyCodeObject *>(code.ptr()), PyFrame_GetLasti(frame), &line,
                       &column, &lastLine, &lastColumn);
  if (line > 0)
    return {file, static_cast<uint32_t>(line), static_cast<uint32_t>(column + 1)};
#endif
  return {file, static_cast<uint32_t>(std::max(PyFrame_GetLineNumber(frame), 0)), 0};
}

Here here() {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject *>(PyEval_GetFrame()));
  while (frame.is_valid()) {
    auto *raw = reinterpret_cast<PyFrameObject *>(frame.ptr());
    nb::object code = nb::steal(reinterpret_cast<PyObject *>(PyFrame_GetCode(raw)));
    nb::object caller = nb::steal(reinterpret_cast<PyObject *>(PyFrame_GetBack(raw)));
    if (!fileOf(code).starts_with(packageFolder()) || !caller.is_valid())
      return placeIn(raw, code);
    frame = std::move(caller);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

void raiseMistake(const TraceError &mistake, const std::string &kernel) {
  std::string place = fmt::format("{}:{}", mistake.file, mistake.line);
  if (mistake.column)
    place += fmt::format(":{}", mistake.column);
  if (!kernel.empty())
    place += fmt::format(", in kernel {}", kernel);
  raiseKernelError(Diagnostic{Code::KERNEL_3, mistake.message, place, {}, mistake.help},
                   mistake.file, mistake.line, mistake.column);
}

void raiseFirst(const Tracer &tracer) { raiseMistake(*tracer.error(), tracer.program().name); }

void failAt(Here place, const std::string &message, const std::string &help) {
  if (active && active->tracer->error())
    raiseFirst(*active->tracer);
  if (!active)
    raiseMistake({message, help, place.file(), place.line(), place.column()}, "");
  try {
    active->tracer->fail(place, message, help);
  } catch (const Failed &) {
    raiseFirst(*active->tracer);
  }
}

Tracer &tracerFor(const char *what) {
  if (!active)
    failAt(here(), fmt::format("{} is called outside of a kernel", what),
           "it belongs into a function with @tk.kernel, or one that such a function calls");
  if (active->tracer->error())
    raiseFirst(*active->tracer);
  return *active->tracer;
}

} // namespace tw::python::kernel
