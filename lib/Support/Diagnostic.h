// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors that people read. An error is a value: functions that can fail because of what a user
// gave return Result<T> (or Status); nothing here throws or aborts. Asserts are for mistakes of
// our own and can never be reached from input.
#pragma once
#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tw {

/// What kind of failure an error is; the value is the exit status of the command-line tool.
enum class Category { WrongInput = 1, Usage = 2, Unsupported = 3, Internal = 4, ResultsDiffer = 5 };

/// The stable codes of Codes.def: Code::IO_1 is printed as TW-IO-0001.
enum class Code {
#define TW_CODE(area, number, category, meaning) area##_##number,
#include "Support/Codes.def"
#undef TW_CODE
};

/// One row of the code table.
struct CodeInfo {
  const char *area;
  int number;
  Category category;
  const char *meaning;
};
const CodeInfo &info(Code code);
/// "TW-IO-0007".
std::string codeName(Code code);
/// The inverse of codeName; empty when there is no such code.
std::optional<Code> parseCode(std::string_view name);

/// One error: the user's object and both values of the violated fact in `message`, where it is in
/// `location` ("model.pt2: node add_3 (#12), from net.py:88 in Net.forward"), facts in `notes`,
/// what to do in `help` (empty: that of Advice.h). Empty parts are not printed.
struct Diagnostic {
  Code code;
  std::string message;
  std::string location = {};
  std::vector<std::string> notes = {};
  std::string help = {};

  Category category() const { return info(code).category; }
  /// The text of the form
  ///   error[TW-IMPORT-0042]: message
  ///     --> location
  ///     note: ...
  ///     help: ...
  std::string render() const;
};

/// A value or an error.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Diagnostic error) : state(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state.index() == 0; }
  explicit operator bool() const { return ok(); }
  T &operator*() & { return assert(ok()), std::get<0>(state); }
  const T &operator*() const & { return assert(ok()), std::get<0>(state); }
  T &&operator*() && { return assert(ok()), std::move(std::get<0>(state)); }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  const Diagnostic &error() const & { return assert(!ok()), std::get<1>(state); }
  Diagnostic &&error() && { return assert(!ok()), std::move(std::get<1>(state)); }

private:
  std::variant<T, Diagnostic> state;
};

/// Success or an error.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Diagnostic error) : problem(std::move(error)) {}
  bool ok() const { return !problem; }
  explicit operator bool() const { return ok(); }
  const Diagnostic &error() const & { return assert(problem), *problem; }
  Diagnostic &&error() && { return assert(problem), std::move(*problem); }

private:
  std::optional<Diagnostic> problem;
};

} // namespace tw

/// Returns the error of `expr` (a Status or Result) from the enclosing function.
#define TW_TRY(expr)                                                                               \
  do {                                                                                             \
    if (auto twStatus_ = (expr); !twStatus_)                                                       \
      return std::move(twStatus_).error();                                                         \
  } while (0)

#define TW_CONCAT_(a, b) a##b
#define TW_CONCAT(a, b) TW_CONCAT_(a, b)
/// TW_ASSIGN(auto x, expr): unwraps a Result into x, or returns its error.
#define TW_ASSIGN(decl, expr) TW_ASSIGN_(TW_CONCAT(twResult_, __LINE__), decl, expr)
#define TW_ASSIGN_(tmp, decl, expr)                                                                \
  auto tmp = (expr);                                                                               \
  if (!tmp)                                                                                        \
    return std::move(tmp).error();                                                                 \
  decl = *std::move(tmp)
