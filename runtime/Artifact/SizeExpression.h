// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes as models state them: "s0*2", "(s0+1)//2", "max(s0, 1)". Parsed once when an artifact is
// loaded, evaluated with checked arithmetic at every call.
#pragma once
#include "Support/Diagnostic.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::rt {

/// An expression over integers and symbols with + - * // % (rounding toward minus infinity, as in
/// Python), unary -, max(a, b), min(a, b) and parentheses.
class SizeExpression {
public:
  /// Parses `text`; symbols must be among `symbols` and are referred to by index. The error says
  /// what is wrong with the text (code RUNTIME_3).
  static Result<SizeExpression> parse(std::string_view text, std::span<const std::string> symbols);

  /// The value, given the values of all symbols (empty: not known yet). Empty when a symbol is
  /// unknown, on overflow and on division by zero.
  std::optional<int64_t> evaluate(std::span<const std::optional<int64_t>> values) const;

  /// The symbols it depends on, each once.
  std::vector<int> symbols() const;
  /// The symbol, if the expression is nothing else.
  std::optional<int> asSymbol() const;

  /// When exactly one symbol is unknown and it is used once, under + - * only: its value that makes
  /// the expression `value`. Empty when the expression is not of that form or no value does.
  struct Solution {
    int symbol;
    int64_t value;
  };
  std::optional<Solution> solve(int64_t value,
                                std::span<const std::optional<int64_t>> values) const;

  /// Whether solve() is about a symbol here, whatever the value: one unknown, used once, under
  /// + - * only.
  bool isLinearInUnknown(std::span<const std::optional<int64_t>> values) const {
    return unknownOfLine(values).has_value();
  }

  const std::string &text() const { return source; }

private:
  friend class SizeExpressionParser;
  enum class Op : uint8_t { Constant, Symbol, Add, Sub, Mul, FloorDiv, Mod, Max, Min, Neg };
  struct Step {
    Op op;
    int64_t operand; // the constant, or the symbol's index
  };
  std::optional<int> unknownOfLine(std::span<const std::optional<int64_t>> values) const;
  static std::optional<int64_t> apply(Op op, int64_t a, int64_t b);
  std::vector<Step> steps; // postfix order
  std::string source;
};

} // namespace tw::rt
