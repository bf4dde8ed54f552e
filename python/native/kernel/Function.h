// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the kernel language as Python calls them: arguments by place and by name. What
// does not fit is a mistake in the author's line; nanobind would raise a TypeError with types of
// C++.
#pragma once
#include "Values.h"
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace tw::python::kernel {

struct Parameter {
  const char *name;
  nanobind::object fallback = {}; // without one the argument must be given
  bool isByName = false;          // it cannot be given by place
  const char *type = nullptr;     // what it is to signatures, where the function takes any object
};

class Parameters {
public:
  /// Of the function `name`.
  Parameters(const char *name, std::vector<Parameter> list);

  /// The argument for each parameter, or its fallback, into `bound`. Throws a KernelError.
  void bind(nanobind::handle given, nanobind::handle named, nanobind::handle *bound) const;
  /// "def sum(x: object, axis: object, keepdim: bool = True) -> Tile", of a method with self;
  /// `types` has one for each parameter.
  std::string signature(const char *const *types, const char *result, bool isMethod = false) const;

private:
  [[noreturn]] void refuse(const std::string &what) const;

  const char *name;
  std::vector<Parameter> list;
  size_t places = 0; // of the list, from the front: those that can be given by place
};

/// A type as signatures and stubs call it.
template <typename T>
inline constexpr const char *pythonType = "object";
template <> // its type depends on what is given
inline constexpr const char *pythonType<nanobind::object> = "typing.Any";
template <>
inline constexpr const char *pythonType<void> = "None";
template <>
inline constexpr const char *pythonType<Tile> = "Tile";
template <>
inline constexpr const char *pythonType<Scalar> = "Scalar";
template <>
inline constexpr const char *pythonType<Index> = "Index";
template <>
inline constexpr const char *pythonType<Size> = "Size";
template <>
inline constexpr const char *pythonType<Symbol> = "Symbol";
template <>
inline constexpr const char *pythonType<nanobind::tuple> = "tuple";
template <>
inline constexpr const char *pythonType<Given<bool>> = "bool";
template <>
inline constexpr const char *pythonType<Given<int64_t>> = "int";
template <>
inline constexpr const char *pythonType<Given<std::string>> = "str";

namespace detail {

template <typename Result, typename... Arguments>
void define(nanobind::module_ &module, const char *name,
            std::function<Result(Arguments...)> function, std::vector<Parameter> list,
            const char *doc) {
  const char *types[] = {pythonType<Arguments>...};
  Parameters parameters(name, std::move(list));
  std::string signature = parameters.signature(types, pythonType<Result>);
  module.def(
      name,
      [function = std::move(function),
       parameters = std::move(parameters)](nanobind::args given, nanobind::kwargs named) -> Result {
        std::array<nanobind::handle, sizeof...(Arguments)> bound;
        parameters.bind(given, named, bound.data());
        size_t next = 0;
        // In braces arguments are evaluated from left to right.
        std::tuple<Arguments...> arguments{Arguments{bound[next++]}...};
        return std::apply(function, arguments);
      },
      nanobind::sig(signature.c_str()), doc);
}

} // namespace detail

/// Adds a function whose arguments are handles and Given<T>, one for each parameter.
template <typename Function>
void define(nanobind::module_ &module, const char *name, Function function,
            std::vector<Parameter> list, const char *doc) {
  detail::define(module, name, std::function(std::move(function)), std::move(list), doc);
}

} // namespace tw::python::kernel
