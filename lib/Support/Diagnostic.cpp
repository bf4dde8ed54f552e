// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Diagnostic.h"
#include "Support/Advice.h"
#include "Support/Warning.h"
#include <fmt/format.h>

namespace tw {

static constexpr CodeInfo table[] = {
#define TW_CODE(area, number, category, meaning) {#area, number, Category::category, meaning},
#include "Support/Codes.def"
#undef TW_CODE
};

struct CodeAdvice {
  Code code;
  const char *text;
};
static constexpr CodeAdvice advice[] = {
#define TW_ADVICE(area, number, text) {Code::area##_##number, text},
#include "Support/Advice.def"
#undef TW_ADVICE
};

static constexpr bool isAdviceComplete() {
  for (size_t i = 0; i < std::size(advice); ++i)
    if (advice[i].code != static_cast<Code>(i) || !*advice[i].text)
      return false;
  return std::size(advice) == std::size(table);
}
static_assert(isAdviceComplete(), "Advice.def has a row for each of Codes.def, in the same order");

std::string_view adviceFor(Code code) { return advice[static_cast<size_t>(code)].text; }

std::string_view adviceOf(const Diagnostic &error) {
  return error.help.empty() ? adviceFor(error.code) : error.help;
}

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

static std::string render(const Diagnostic &diagnostic, std::string_view severity,
                          std::string_view help) {
  std::string text =
      fmt::format("{}[{}]: {}\n", severity, codeName(diagnostic.code), diagnostic.message);
  if (!diagnostic.location.empty())
    text += fmt::format("  --> {}\n", diagnostic.location);
  for (const std::string &note : diagnostic.notes)
    text += fmt::format("  note: {}\n", note);
  if (!help.empty())
    text += fmt::format("  help: {}\n", help);
  return text;
}

std::string Diagnostic::render() const { return tw::render(*this, "error", adviceOf(*this)); }

std::string renderRepeated(const Diagnostic &error) { return render(error, "error", error.help); }

std::string renderWarning(const Diagnostic &warning) {
  return render(warning, "warning", warning.help);
}

} // namespace tw
