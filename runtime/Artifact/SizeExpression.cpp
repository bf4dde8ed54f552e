// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact/SizeExpression.h"
#include "Support/Checked.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace tw::rt {

/// Recursive descent into postfix steps; every method returns false after it has set `problem`.
class SizeExpressionParser {
public:
  using Op = SizeExpression::Op;
  SizeExpressionParser(std::string_view text, std::span<const std::string> symbols)
      : text(text), symbols(symbols) {}

  Result<SizeExpression> run() {
    out.source = text;
    if (parseSum(0) && peek() != '\0')
      fail(fmt::format("'{}' is not expected", text[at]));
    if (!problem.empty())
      return Diagnostic{Code::RUNTIME_3, fmt::format("size expression \"{}\": at character {}: {}",
                                                     text, at, problem)};
    return std::move(out);
  }

private:
  static constexpr int maxDepth = 64;

  bool fail(std::string what) {
    if (problem.empty())
      problem = std::move(what);
    return false;
  }
  /// The next character that is not a space; '\0' at the end.
  char peek() {
    while (at < text.size() && text[at] == ' ')
      ++at;
    return at < text.size() ? text[at] : '\0';
  }
  bool accept(std::string_view token) {
    peek();
    if (text.substr(at, token.size()) != token)
      return false;
    at += token.size();
    return true;
  }
  bool emit(Op op, int64_t operand = 0) {
    out.steps.push_back({op, operand});
    return true;
  }

  bool parseSum(int depth) {
    if (!parseProduct(depth))
      return false;
    for (;;) {
      Op op = peek() == '+' ? Op::Add : Op::Sub;
      if (!accept("+") && !accept("-"))
        return true;
      if (!parseProduct(depth))
        return false;
      emit(op);
    }
  }

  bool parseProduct(int depth) {
    if (!parseUnary(depth))
      return false;
    for (;;) {
      Op op = peek() == '*' ? Op::Mul : peek() == '%' ? Op::Mod : Op::FloorDiv;
      if (!accept("*") && !accept("//") && !accept("%"))
        return true;
      if (!parseUnary(depth))
        return false;
      emit(op);
    }
  }

  bool parseUnary(int depth) {
    if (depth > maxDepth)
      return fail(fmt::format("nested more than {} levels deep", maxDepth));
    if (accept("-"))
      return parseUnary(depth + 1) && emit(Op::Neg);
    if (accept("("))
      return parseSum(depth + 1) && (accept(")") || fail("')' is expected"));
    char c = peek();
    if (c >= '0' && c <= '9')
      return parseInteger();
    return parseName(depth);
  }

  bool parseInteger() {
    int64_t value = 0;
    const char *first = text.data() + at, *last = text.data() + text.size();
    auto [ptr, error] = std::from_chars(first, last, value);
    if (error != std::errc())
      return fail("the integer is too large");
    at += ptr - first;
    return emit(Op::Constant, value);
  }

  bool parseName(int depth) {
    auto isNameChar = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    size_t begin = at;
    while (at < text.size() && isNameChar(text[at]))
      ++at;
    std::string_view name = text.substr(begin, at - begin);
    if (name.empty())
      return fail("a number, a symbol or '(' is expected");
    if ((name == "max" || name == "min") && accept("("))
      return parseSum(depth + 1) && (accept(",") || fail("',' is expected")) &&
             parseSum(depth + 1) && (accept(")") || fail("')' is expected")) &&
             emit(name == "max" ? Op::Max : Op::Min);
    auto found = std::find(symbols.begin(), symbols.end(), name);
    if (found == symbols.end())
      return fail(fmt::format("symbol {} is not among the program's symbols", name));
    return emit(Op::Symbol, found - symbols.begin());
  }

  std::string_view text;
  std::span<const std::string> symbols;
  size_t at = 0;
  SizeExpression out;
  std::string problem;
};

Result<SizeExpression> SizeExpression::parse(std::string_view text,
                                             std::span<const std::string> symbols) {
  return SizeExpressionParser(text, symbols).run();
}

std::optional<int64_t> SizeExpression::apply(Op op, int64_t a, int64_t b) {
  switch (op) {
  case Op::Add:
    return checkedAdd(a, b);
  case Op::Sub:
    return b == INT64_MIN ? std::nullopt : checkedAdd(a, -b);
  case Op::Mul:
    return checkedMul(a, b);
  case Op::FloorDiv:
    return checkedFloorDiv(a, b);
  case Op::Mod:
    return checkedMod(a, b);
  case Op::Max:
    return std::max(a, b);
  case Op::Min:
    return std::min(a, b);
  default:
    return std::nullopt;
  }
}

std::optional<int64_t>
SizeExpression::evaluate(std::span<const std::optional<int64_t>> values) const {
  if (auto symbol = asSymbol())
    return values[*symbol];
  std::vector<int64_t> stack;
  for (const Step &step : steps) {
    if (step.op == Op::Constant) {
      stack.push_back(step.operand);
    } else if (step.op == Op::Symbol) {
      const auto &value = values[step.operand];
      if (!value)
        return std::nullopt;
      stack.push_back(*value);
    } else {
      int64_t b = stack.back(), a = 0; // -b is 0 - b
      if (step.op != Op::Neg) {
        stack.pop_back();
        a = stack.back();
      }
      auto result = apply(step.op == Op::Neg ? Op::Sub : step.op, a, b);
      if (!result)
        return std::nullopt;
      stack.back() = *result;
    }
  }
  return stack.back();
}

std::vector<int> SizeExpression::symbols() const {
  std::vector<int> found;
  for (const Step &step : steps)
    if (step.op == Op::Symbol && std::find(found.begin(), found.end(), step.operand) == found.end())
      found.push_back(static_cast<int>(step.operand));
  return found;
}

std::optional<int> SizeExpression::asSymbol() const {
  if (steps.size() == 1 && steps[0].op == Op::Symbol)
    return static_cast<int>(steps[0].operand);
  return std::nullopt;
}

std::optional<int>
SizeExpression::unknownOfLine(std::span<const std::optional<int64_t>> values) const {
  std::optional<int> unknown;
  for (const Step &step : steps) {
    if (step.op == Op::FloorDiv || step.op == Op::Mod || step.op == Op::Max || step.op == Op::Min)
      return std::nullopt;
    if (step.op != Op::Symbol || values[step.operand])
      continue;
    if (unknown)
      return std::nullopt;
    unknown = static_cast<int>(step.operand);
  }
  return unknown;
}

std::optional<SizeExpression::Solution>
SizeExpression::solve(int64_t value, std::span<const std::optional<int64_t>> values) const {
  auto unknown = unknownOfLine(values);
  if (!unknown)
    return std::nullopt;
  // One use under + - *: a straight line, given by its points at 0 and 1.
  std::vector<std::optional<int64_t>> trial(values.begin(), values.end());
  auto at = [&](int64_t x) {
    trial[*unknown] = x;
    return evaluate(trial);
  };
  auto zero = at(0), one = at(1);
  if (!zero || !one)
    return std::nullopt;
  auto slope = apply(Op::Sub, *one, *zero), rise = apply(Op::Sub, value, *zero);
  if (!slope || !rise)
    return std::nullopt;
  auto x = checkedFloorDiv(*rise, *slope);
  if (!x || at(*x) != value)
    return std::nullopt;
  return Solution{*unknown, *x};
}

} // namespace tw::rt
