// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Function.h"
#include "Support/Counted.h"
#include <algorithm>
#include <fmt/format.h>

namespace nb = nanobind;

namespace tw::python::kernel {

Parameters::Parameters(const char *name, std::vector<Parameter> given)
    : name(name), list(std::move(given)) {
  places = std::ranges::count_if(list, [](const Parameter &each) { return !each.isByName; });
}

/// Parameters as Python writes them, each as `text` says it.
template <typename Text>
static std::string joined(const std::vector<Parameter> &list, Text text, std::string all = {}) {
  bool isByName = false;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].isByName && !std::exchange(isByName, true))
      all += all.empty() ? "*" : ", *";
    all += (all.empty() ? "" : ", ") + text(i);
  }
  return all;
}

static std::string fallbackText(const Parameter &parameter) {
  return parameter.fallback.is_valid() ? nb::str(nb::repr(parameter.fallback)).c_str() : "";
}

std::string Parameters::signature(const char *const *types, const char *result,
                                  bool isMethod) const {
  auto text = [&](size_t i) {
    std::string fallback = fallbackText(list[i]), type = list[i].type ? list[i].type : types[i];
    if (list[i].fallback.is_none() && type != "object")
      type += " | None";
    return fmt::format("{}: {}{}{}", list[i].name, type, fallback.empty() ? "" : " = ", fallback);
  };
  return fmt::format("def {}({}) -> {}", name, joined(list, text, isMethod ? "self" : ""), result);
}

void Parameters::refuse(const std::string &what) const {
  auto text = [&](size_t i) {
    std::string fallback = fallbackText(list[i]);
    return list[i].name + (fallback.empty() ? "" : "=" + fallback);
  };
  failAt(here(), fmt::format("{} {}", name, what),
         fmt::format("it is {}({})", name, joined(list, text)));
}

void Parameters::bind(nb::handle given, nb::handle named, nb::handle *bound) const {
  auto count = static_cast<size_t>(PyTuple_GET_SIZE(given.ptr()));
  if (count > places)
    refuse(fmt::format("got {}{}, but takes {}", counted(count, "argument"),
                       places < list.size() ? " by place" : "", places));
  for (size_t i = 0; i < count; ++i)
    bound[i] = PyTuple_GET_ITEM(given.ptr(), static_cast<Py_ssize_t>(i));
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(named.ptr(), &at, &key, &value);) {
    auto isCalled = [&](const Parameter &each) {
      return PyUnicode_CompareWithASCIIString(key, each.name) == 0;
    };
    auto found = std::ranges::find_if(list, isCalled);
    if (found == list.end())
      refuse(fmt::format("has no argument {}", shown(key)));
    nb::handle &place = bound[found - list.begin()];
    if (place)
      refuse(fmt::format("got its argument {} twice", found->name));
    place = value;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (!bound[i])
      bound[i] = list[i].fallback;
    if (!bound[i])
      refuse(fmt::format("lacks its argument {}", list[i].name));
  }
}

} // namespace tw::python::kernel
