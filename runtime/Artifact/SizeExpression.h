// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes as models state them: "s0*2", "(s0+1)//2", "max(s0, 1)". Parsed once when an artifact is
// loaded, evaluated with checked arithmetic at every call.
#pragma once
#include "Support/Diagnostic.h"
#include "Support/Size.h"
#include <cstdint>
#include <optional>
#include <set>
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

  const std::string &text() const { return source; }

private:
  friend class SizeExpressionParser;
  enum class Op : uint8_t { Constant, Symbol, Add, Sub, Mul, FloorDiv, Mod, Max, Min, Neg };
  struct Step {
    Op op;
    int64_t operand; // the constant, or the symbol's index
  };
  struct Postfix;
  std::optional<tw::Size> asSize() const;
  static SizeExpression of(const tw::Size &size);
  static std::optional<int64_t> apply(Op op, int64_t a, int64_t b);
  std::vector<Step> steps; // postfix order
  std::string source;

  friend std::vector<struct SymbolSolution> solveSizes(std::span<const struct InputSize>,
                                                       const std::set<int> &);
};

/// A size of an input that is known only at the call.
struct InputSize {
  int input, dimension;
  const SizeExpression *expression;
};

/// A symbol that follows from a size of an input that is more than a symbol: (size - offset) /
/// factor, in symbols that are given or that solutions before it find.
struct SymbolSolution {
  int input, dimension, symbol;
  SizeExpression factor, offset;
};

/// The symbols that follow from the values of `sizes`, beside those of `given`, in the order in
/// which they are found (Support/SolveSymbols.h).
std::vector<SymbolSolution> solveSizes(std::span<const InputSize> sizes,
                                       const std::set<int> &given);

} // namespace tw::rt
