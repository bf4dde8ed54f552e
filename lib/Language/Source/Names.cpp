// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Language/Source/Names.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

namespace tw::source {

/// Keywords of C++, and what tilewright/Kernel.h declares in its namespace; sorted.
static constexpr llvm::StringRef reserved[] = {
    // clang-format off
    "Atomic", "Axis", "Buffer", "Comparison", "ConfigurationField", "ConfigurationFields", "DType",
    "Direction", "GatherOptions", "Here", "Index", "KeepDim", "LoadOptions", "Position",
    "Positions", "Scalar", "ScatterOptions", "Shape", "Size", "StoreOptions", "Symbol",
    "SymbolRange", "Tile", "abs", "acos", "acosh", "alignas", "alignof", "all", "and", "and_eq",
    "any", "argmax", "argmin", "asin", "asinh", "asm", "atan", "atan2", "atanh", "auto",
    "beginsAs", "bf16", "bitand", "bitor", "bool", "break", "broadcast", "carry", "case", "cast",
    "castSigned", "castUnsigned", "catch", "ceil", "ceilDiv", "char", "char16_t", "char32_t",
    "char8_t", "check", "checkScalar", "class", "co_await", "co_return", "co_yield", "compare",
    "compl", "concept", "configuration", "const", "const_cast", "consteval", "constexpr",
    "constinit", "constant", "continue", "copysign", "cos", "cosh", "cummax", "cummin", "cumprod",
    "cumsum", "decltype", "default", "delete", "detail", "divUnsigned", "do", "dot", "double",
    "dynamic_cast", "else", "enum", "erf", "erfc", "exp", "exp2", "explicit", "expm1", "export",
    "extern", "extract", "f16", "f32", "f64", "false", "float", "floor", "floorDiv", "fma", "for",
    "forLoop", "friend", "full", "gather", "goto", "grid", "hint", "i1", "i16", "i32", "i64", "i8",
    "if", "ifThen", "ifThenElse", "inf", "inline", "inout", "input", "int", "int64_t", "iota",
    "isConstant", "isNaN", "keep", "load", "log", "log10", "log1p", "log2", "long", "max", "maximum", "maximumNumber",
    "maximumUnsigned", "min", "minimum", "minimumNumber", "minimumUnsigned", "mod", "mutable",
    "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
    "output", "outputsBindSymbols", "parameter", "pow", "private", "prod", "programId",
    "protected", "public", "register", "reinterpret_cast", "relu", "remUnsigned", "replaces",
    "requires", "reshape", "return", "round", "roundEven", "rsqrt", "scalar", "scatter", "select",
    "shiftRightUnsigned", "short", "sigmoid", "signed", "sin", "sinh", "sizeof", "slice", "sort",
    "sqrt", "static", "static_assert", "static_cast", "std", "store", "struct", "sum", "switch",
    "tan", "tanh", "template", "this", "thread_local", "throw", "transpose", "true", "trunc",
    "try", "tw", "typedef", "typeid", "typename", "u8", "union", "unsigned", "using", "virtual",
    "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "zeros",
    // clang-format on
};

static bool isReserved(llvm::StringRef name) {
  return std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved);
}

std::string identifier(llvm::StringRef name) {
  std::string result;
  for (char c : name)
    if (llvm::isAlnum(c))
      result += c;
    else if (!result.empty() && result.back() != '_') // two of them in a row are the compiler's
      result += '_';
  while (!result.empty() && result.back() == '_')
    result.pop_back();
  if (!result.empty() && llvm::isDigit(result.front()))
    result = "_" + result;
  return result.starts_with('_') ? "n" + result : result;
}

bool Names::isTaken(llvm::StringRef name) const {
  return isReserved(name) ||
         llvm::any_of(scopes, [&](const llvm::StringSet<> &scope) { return scope.contains(name); });
}

std::string Names::take(llvm::StringRef wanted) {
  std::string base = identifier(wanted);
  if (base.empty())
    base = "t";
  std::string name = base;
  int &number = numbers.try_emplace(base, isReserved(base) ? 0 : 1).first->second;
  while (isTaken(name))
    name = base + "_" + std::to_string(++number);
  scopes.back().insert(name);
  return name;
}

} // namespace tw::source
