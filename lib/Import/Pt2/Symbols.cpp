// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Pt2/Symbols.h"
#include "Support/Size.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tw::pt2 {

namespace {

/// Recursive descent over both notations; a null expression is a failure.
class AffineExprParser {
public:
  AffineExprParser(MLIRContext *context, StringRef text,
                   llvm::function_ref<unsigned(StringRef)> index)
      : context(context), rest(text), symbolIndex(index) {}

  AffineExpr parse() {
    AffineExpr expr = sum();
    return rest.ltrim().empty() ? expr : AffineExpr();
  }

private:
  static constexpr int maxDepth = 64;
  // Keeps arithmetic on constants far from overflow.
  static constexpr int64_t maxConstant = int64_t(1) << 31;

  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  AffineExpr constant(int64_t value) {
    return value > maxConstant || value < -maxConstant ? AffineExpr()
                                                       : getAffineConstantExpr(value, context);
  }

  AffineExpr sum() {
    if (++depth > maxDepth)
      return {};
    AffineExpr left = product();
    while (left) {
      bool plus = take("+"), minus = !plus && take("-");
      if (!plus && !minus)
        break;
      AffineExpr right = product();
      left = right ? (minus ? left - right : left + right) : AffineExpr();
    }
    --depth;
    return left;
  }

  AffineExpr product() {
    AffineExpr left = primary();
    while (left) {
      AffineExpr right;
      if (take("//"))
        left = (right = primary()) ? floorDiv(left, right) : AffineExpr();
      else if (take("*") && !rest.starts_with("*"))
        left = (right = primary()) ? left * right : AffineExpr();
      else if (take("%"))
        left = (right = primary()) ? modulo(left, right) : AffineExpr();
      else
        break;
    }
    return left;
  }

  AffineExpr primary() {
    rest = rest.ltrim();
    if (take("(")) {
      AffineExpr inner = sum();
      return take(")") ? inner : AffineExpr();
    }
    bool negative = take("-");
    int64_t number;
    rest = rest.ltrim();
    if (!rest.empty() && llvm::isDigit(rest.front()))
      return rest.consumeInteger(10, number) ? AffineExpr() : constant(negative ? -number : number);
    StringRef name =
        rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    rest = rest.drop_front(name.size());
    if (name.empty())
      return {};
    AffineExpr expr = take("(") ? call(name) : symbolOf(name);
    return expr && negative ? -expr : expr;
  }

  AffineExpr symbolOf(StringRef name) {
    return Size::isSymbolName(name) ? getAffineSymbolExpr(symbolIndex(name), context)
                                    : AffineExpr();
  }

  /// The arguments behind "NAME(", up to the closing parenthesis.
  AffineExpr call(StringRef function) {
    if (function == "Symbol")
      return symbol();
    SmallVector<AffineExpr> arguments;
    while (!take(")")) {
      AffineExpr argument = sum();
      if (!argument || (!take(",") && !rest.starts_with(")")))
        return {};
      arguments.push_back(argument);
    }
    if (arguments.empty())
      return {};
    if (function == "Integer")
      return arguments.size() == 1 ? arguments[0] : AffineExpr();
    bool two = arguments.size() == 2;
    if (function == "FloorDiv" || function == "CleanDiv")
      return two ? floorDiv(arguments[0], arguments[1]) : AffineExpr();
    if (function == "Mod" || function == "PythonMod")
      return two ? modulo(arguments[0], arguments[1]) : AffineExpr();
    if (function == "Pow")
      return two ? power(arguments[0], arguments[1]) : AffineExpr();
    if (function != "Add" && function != "Mul")
      return {};
    AffineExpr result = arguments.front();
    for (AffineExpr argument : llvm::drop_begin(arguments))
      result = function == "Add" ? result + argument : result * argument;
    return result;
  }

  /// Symbol('s0', positive=True, integer=True), behind the opening parenthesis.
  AffineExpr symbol() {
    if (!take("'"))
      return {};
    StringRef name = rest.take_until([](char c) { return c == '\''; });
    size_t close = rest.find(')');
    if (close == StringRef::npos || close < name.size())
      return {};
    rest = rest.drop_front(close + 1);
    return symbolOf(name);
  }

  static bool isPositiveConstant(AffineExpr expr) {
    auto value = dyn_cast<AffineConstantExpr>(expr);
    return value && value.getValue() > 0;
  }
  /// Of a symbol or a number, as a product, which few factors make: powers of powers would be
  /// exponentially many.
  static AffineExpr power(AffineExpr a, AffineExpr b) {
    constexpr int64_t most = 8;
    auto exponent = dyn_cast<AffineConstantExpr>(b);
    if (!isa<AffineSymbolExpr, AffineConstantExpr>(a) || !exponent || exponent.getValue() < 1 ||
        exponent.getValue() > most)
      return {};
    AffineExpr result = a;
    for (int64_t i = 1; i < exponent.getValue(); ++i)
      result = result * a;
    return result;
  }
  static AffineExpr floorDiv(AffineExpr a, AffineExpr b) {
    return isPositiveConstant(b) ? a.floorDiv(b) : AffineExpr();
  }
  static AffineExpr modulo(AffineExpr a, AffineExpr b) {
    return isPositiveConstant(b) ? a % b : AffineExpr();
  }

  MLIRContext *context;
  StringRef rest;
  llvm::function_ref<unsigned(StringRef)> symbolIndex;
  int depth = 0;
};

} // namespace

AffineExpr parseSize(MLIRContext *context, StringRef text,
                     llvm::function_ref<unsigned(StringRef)> symbolIndex) {
  return AffineExprParser(context, text, symbolIndex).parse();
}

StringRef loneSymbol(StringRef text) {
  text = text.trim();
  if (text.consume_front("Symbol('")) {
    auto [name, rest] = text.split('\'');
    text = rest.find(')') + 1 == rest.size() ? name : StringRef();
  }
  return Size::isSymbolName(text) ? text : StringRef();
}

} // namespace tw::pt2
