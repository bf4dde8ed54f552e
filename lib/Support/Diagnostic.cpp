// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Diagnostic.h"
#include <fmt/format.h>

namespace tw {

static constexpr CodeInfo table[] = {
#define TW_CODE(area, number, category, meaning) {#area, number, Category::category, meaning},
#include "Support/Codes.def"
#undef TW_CODE
};

const CodeInfo &info(Code code) { return table[static_cast<size_t>(code)]; }

std::string codeName(Code code) {
  return fmt::format("TW-{}-{:04}", info(code).area, info(code).number);
}

std::optional<Code> parseCode(std::string_view name) {
  for (size_t i = 0; i < std::size(table); ++i)
    if (codeName(static_cast<Code>(i)) == name)
      return static_cast<Code>(i);
  return std::nullopt;
}

std::string Diagnostic::render() const {
  std::string text = fmt::format("error[{}]: {}\n", codeName(code), message);
  if (!location.empty())
    text += fmt::format("  --> {}\n", location);
  for (const std::string &note : notes)
    text += fmt::format("  note: {}\n", note);
  if (!help.empty())
    text += fmt::format("  help: {}\n", help);
  return text;
}

} // namespace tw
