// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of things in messages.
#pragma once
#include <concepts>
#include <string>
#include <string_view>

namespace tw {

/// "1 dimension", "2 dimensions", "N dimensions". `many`: of what has another plural than with an
/// s.
inline std::string counted(std::string_view number, std::string_view one,
                           std::string_view many = {}) {
  bool isOne = number == "1";
  std::string text(number);
  text += ' ';
  text += isOne || many.empty() ? one : many;
  return isOne || !many.empty() ? text : text + 's';
}
std::string counted(std::integral auto number, std::string_view one, std::string_view many = {}) {
  return counted(std::string_view(std::to_string(number)), one, many);
}

/// Words that agree with a number of things, such as a verb behind it.
constexpr std::string_view oneOrMany(std::integral auto number, std::string_view one,
                                     std::string_view many) {
  return number == 1 ? one : many;
}

} // namespace tw
