// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Diagnostic.h"
#include "Support/Warning.h"
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

static std::string render(const Diagnostic &diagnostic, std::string_view severity) {
  std::string text =
      fmt::format("{}[{}]: {}\n", severity, codeName(diagnostic.code), diagnostic.message);
  if (!diagnostic.location.empty())
    text += fmt::format("  --> {}\n", diagnostic.location);
  for (const std::string &note : diagnostic.notes)
    text += fmt::format("  note: {}\n", note);
  if (!diagnostic.help.empty())
    text += fmt::format("  help: {}\n", diagnostic.help);
  return text;
}

std::string Diagnostic::render() const { return tw::render(*this, "error"); }

std::string renderWarning(const Diagnostic &warning) { return render(warning, "warning"); }

} // namespace tw
