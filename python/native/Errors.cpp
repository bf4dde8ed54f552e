// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Errors.h"
#include "Support/Advice.h"
#include <iterator>

namespace nb = nanobind;

namespace tw::python {

namespace {

/// Exceptions by category; those of Python that they also are.
struct Kind {
  const char *name, *meaning;
  PyObject **python;
};

const Kind kinds[] = {
    {"Error",
     "A failure of Tilewright. Attributes: code (\"TW-RUNTIME-0011\", see docs/errors.md), "
     "message (one line), text (all of it, for people), help (what to do).",
     &PyExc_Exception},
    {"InputError", "What was given is wrong: a tensor, a model, a file.", &PyExc_ValueError},
    {"UsageError", "A call is wrong whatever it is given: an unknown option.", &PyExc_TypeError},
    {"UnsupportedError", "Tilewright cannot do this, or not on this machine.",
     &PyExc_NotImplementedError},
    {"InternalError", "A mistake of Tilewright: please report it.", &PyExc_RuntimeError},
};

PyObject *classes[std::size(kinds)];
PyObject *kernelError;
constexpr size_t inputError = 1; // in kinds

/// What follows `label` up to the end of its line in `text`; "" without such a line.
std::string_view lineAfter(std::string_view text, std::string_view label) {
  size_t at = text.find(label);
  if (at == std::string_view::npos)
    return {};
  at += label.size();
  return text.substr(at, text.find('\n', at) - at);
}

nb::object makeError(nb::handle type, std::string_view code, std::string_view message,
                     std::string_view text, std::string_view help) {
  std::string_view trimmed = text.substr(0, text.find_last_not_of('\n') + 1);
  nb::object error = type(nb::str(trimmed.data(), trimmed.size()));
  auto set = [&](const char *name, std::string_view value) {
    error.attr(name) = nb::str(value.data(), value.size());
  };
  set("code", code);
  set("message", message);
  set("text", trimmed);
  set("help", help);
  return error;
}

[[noreturn]] void throwError(const nb::object &error) {
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

[[noreturn]] void raise(std::string_view code, std::string_view message, std::string_view text,
                        std::string_view help, int category) {
  size_t kind = category > 0 && category < static_cast<int>(std::size(kinds)) ? category : 0;
  throwError(makeError(classes[kind], code, message, text, help));
}

} // namespace

void defineErrors(nb::module_ &module) {
  for (size_t i = 0; i < std::size(kinds); ++i) {
    std::string name = std::string("tilewright.") + kinds[i].name;
    nb::object bases =
        i == 0 ? nb::borrow(*kinds[i].python)
               : nb::object(nb::make_tuple(nb::handle(classes[0]), nb::handle(*kinds[i].python)));
    classes[i] = PyErr_NewExceptionWithDoc(name.c_str(), kinds[i].meaning, bases.ptr(), nullptr);
    if (!classes[i])
      throw nb::python_error();
    module.attr(kinds[i].name) = nb::borrow(classes[i]);
  }
  for (const char *name : {"code", "message", "text", "help"})
    nb::handle(classes[0]).attr(name) = "";
  kernelError = PyErr_NewExceptionWithDoc(
      "tilewright.KernelError",
      "A mistake in a kernel written in Python. Attributes: those of Error, and file, line and "
      "column, where the mistake is.",
      classes[inputError], nullptr);
  if (!kernelError)
    throw nb::python_error();
  module.attr("KernelError") = nb::borrow(kernelError);
}

void raise(const Diagnostic &error) {
  std::string text = error.render();
  raise(codeName(error.code), error.message, text, adviceOf(error),
        static_cast<int>(error.category()));
}

void raiseKernelError(const Diagnostic &error, const std::string &file, uint32_t line,
                      uint32_t column) {
  nb::object made =
      makeError(kernelError, codeName(error.code), error.message, error.render(), adviceOf(error));
  made.attr("file") = nb::str(file.c_str());
  made.attr("line") = line;
  made.attr("column") = column;
  throwError(made);
}

void raise(std::string_view text, int category) {
  size_t begin = text.find("error["); // behind warnings
  std::string_view errors = text.substr(std::min(begin, text.size()));
  std::string_view first = lineAfter(errors, "error[");
  size_t end = first.find("]: ");
  if (end == std::string_view::npos)
    raise(Diagnostic{Code::CLI_8, "the compiler ended without an answer", {}, {std::string(text)}});
  raise(first.substr(0, end), first.substr(end + 3), text, lineAfter(errors, "\n  help: "),
        category);
}

std::string withArticle(const std::string &name) {
  bool isVowel = std::string_view("AEIOUaeiou").find(name[0]) != std::string_view::npos;
  return (isVowel ? "an " : "a ") + name;
}

std::string described(nb::handle object) {
  return withArticle(nb::str(object.type().attr("__name__")).c_str());
}

/// Why repr() fails: Python writes no integers of more than 4300 digits, and a class may have a
/// __repr__ that raises.
static std::string withoutRepr(nb::handle object) {
  PyErr_Clear();
  if (PyLong_Check(object.ptr()))
    return "an integer of " + std::to_string(nb::cast<int64_t>(object.attr("bit_length")())) +
           " bits";
  return described(object);
}

std::string shown(nb::handle object) {
  nb::object text = nb::steal(PyObject_Repr(object.ptr()));
  const char *bytes = text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  if (!bytes)
    return withoutRepr(object);
  constexpr size_t most = 200;
  std::string all = bytes;
  if (all.size() <= most)
    return all;
  size_t end = most;
  while ((all[end] & 0xC0) == 0x80) // within a letter of several bytes
    --end;
  return all.substr(0, end) + "...";
}

std::string escaped(nb::handle text) {
  nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (!bytes.is_valid())
    throw nb::python_error();
  std::string all(PyBytes_AS_STRING(bytes.ptr()),
                  static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
  for (size_t at = 0; (at = all.find('\0', at)) != std::string::npos;)
    all.replace(at, 1, "\\x00");
  return all;
}

const char *asName(nb::handle object) {
  Py_ssize_t size = 0;
  const char *text =
      PyUnicode_Check(object.ptr()) ? PyUnicode_AsUTF8AndSize(object.ptr(), &size) : nullptr;
  if (!text)
    PyErr_Clear();
  return text && std::string_view(text).size() == static_cast<size_t>(size) ? text : nullptr;
}

std::string shownName(nb::handle object) {
  const char *name = asName(object);
  return name ? '"' + std::string(name) + '"' : shown(object);
}

void check(tw_status *status) {
  if (!status)
    return;
  std::string code = tw_status_code(status), message = tw_status_message(status),
              text = tw_status_text(status);
  int category = tw_status_category(status);
  tw_status_free(status);
  raise(code, message, text, lineAfter(text, "\n  help: "), category);
}

} // namespace tw::python
