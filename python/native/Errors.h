// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Failures as Python exceptions: tilewright.Error and one subclass for each kind of failure, with
// the attributes code, message, text and help.
#pragma once
#include "Support/Diagnostic.h"
#include "tilewright/tilewright.h"
#include <nanobind/nanobind.h>
#include <string>
#include <string_view>

namespace tw::python {

/// Makes the exception classes and puts them into the module.
void defineErrors(nanobind::module_ &module);

[[noreturn]] void raise(const Diagnostic &error);
/// `text`: one or more rendered diagnostics, of which the first gives code, message and help.
[[noreturn]] void raise(std::string_view text, int category);
/// A mistake in a kernel, as a tilewright.KernelError: an InputError with file, line and column.
[[noreturn]] void raiseKernelError(const Diagnostic &error, const std::string &file, uint32_t line,
                                   uint32_t column);
/// repr(object) for messages: of what has none a phrase, and of a long one the beginning.
std::string shown(nanobind::handle object);
/// A text of Python in UTF-8. Lone surrogates and zeros, of which programs, files and messages have
/// none, are as Python writes them: \ud800, \x00.
std::string escaped(nanobind::handle text);
/// The text as programs have names; null for what cannot be one: no text, or one that would have to
/// be escaped.
const char *asName(nanobind::handle object);
/// A name for messages: in quotes, and of what cannot be one repr(object).
std::string shownName(nanobind::handle object);
/// "a str", "an int": the name of a type as messages speak of one.
std::string withArticle(const std::string &name);
/// "a str", "an Index": for messages.
std::string described(nanobind::handle object);

/// Throws the status, if there is one, and frees it.
void check(tw_status *status);

/// What a slot of a type gives: the object that `function` returns, or null with its exception set
/// as Python's error.
template <typename Function>
PyObject *slotResult(Function function) {
  try {
    return function().release().ptr();
  } catch (nanobind::python_error &error) {
    error.restore();
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

/// The value, or its error as an exception.
template <typename T>
T take(Result<T> result) {
  if (!result)
    raise(result.error());
  return *std::move(result);
}

} // namespace tw::python
