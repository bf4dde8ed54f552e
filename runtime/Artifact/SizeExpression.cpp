// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact/SizeExpression.h"
#include "Support/Checked.h"
#include "Support/SolveSymbols.h"
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
    return checkedSub(a, b);
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

/// A symbol's name in sizes: artifacts may call it anything.
static std::string nameOf(int64_t symbol) { return fmt::format("%{}", symbol); }

std::optional<tw::Size> SizeExpression::asSize() const {
  std::vector<tw::Size> stack;
  for (const Step &step : steps) {
    if (step.op == Op::Constant || step.op == Op::Symbol) {
      stack.push_back(step.op == Op::Constant ? tw::Size(step.operand)
                                              : tw::Size::symbol(nameOf(step.operand)));
      continue;
    }
    tw::Size b = std::move(stack.back()), a = 0; // -b is 0 - b
    stack.pop_back();
    if (step.op != Op::Neg) {
      a = std::move(stack.back());
      stack.pop_back();
    }
    switch (step.op) {
    case Op::Add:
      stack.push_back(a + b);
      break;
    case Op::Neg:
    case Op::Sub:
      stack.push_back(a - b);
      break;
    case Op::Mul:
      stack.push_back(a * b);
      break;
    case Op::FloorDiv:
      stack.push_back(floorDiv(a, b));
      break;
    case Op::Mod:
      stack.push_back(mod(a, b));
      break;
    default:
      return std::nullopt;
    }
  }
  return stack.back().valid() ? std::optional(stack.back()) : std::nullopt;
}

/// What tw::Size::build makes steps with.
struct SizeExpression::Postfix {
  using Steps = std::vector<Step>;

  Steps constant(int64_t value) { return {{Op::Constant, value}}; }
  Steps symbol(const std::string &name) { return {{Op::Symbol, std::stoll(name.substr(1))}}; }
  Steps binary(Op op, Steps x, const Steps &y) {
    x.insert(x.end(), y.begin(), y.end());
    x.push_back({op, 0});
    return x;
  }
  Steps negative(Steps x) {
    x.push_back({Op::Neg, 0});
    return x;
  }
  Steps add(Steps x, const Steps &y) { return binary(Op::Add, std::move(x), y); }
  Steps mul(Steps x, const Steps &y) { return binary(Op::Mul, std::move(x), y); }
  Steps floorDiv(Steps x, const Steps &y) { return binary(Op::FloorDiv, std::move(x), y); }
  Steps ceilDiv(Steps x, const Steps &y) { return negative(floorDiv(negative(std::move(x)), y)); }
  Steps mod(Steps x, const Steps &y) { return binary(Op::Mod, std::move(x), y); }
};

SizeExpression SizeExpression::of(const tw::Size &size) {
  SizeExpression expression;
  expression.steps = size.build(Postfix{});
  expression.source = size.str();
  return expression;
}

std::vector<SymbolSolution> solveSizes(std::span<const InputSize> sizes,
                                       const std::set<int> &given) {
  std::set<std::string> known;
  for (int symbol : given)
    known.insert(nameOf(symbol));
  std::vector<tw::Size> equations; // a constant where nothing follows from one
  for (const InputSize &size : sizes)
    equations.push_back(size.expression->asSize().value_or(tw::Size()));
  std::vector<SymbolSolution> solutions;
  for (const SolvedSymbol &solved : solveSymbols(equations, known)) {
    const InputSize &size = sizes[solved.equation];
    solutions.push_back({size.input, size.dimension,
                         static_cast<int>(std::stoll(solved.symbol.substr(1))),
                         SizeExpression::of(solved.factor), SizeExpression::of(solved.offset)});
  }
  return solutions;
}

} // namespace tw::rt
