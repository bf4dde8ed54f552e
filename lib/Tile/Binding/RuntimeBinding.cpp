// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tile/Binding/RuntimeBinding.h"
#include "IR/Graph/Graph.h"
#include "Tile/Binding/Binding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::tile {

Value RuntimeBinding::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value).getResult();
}

Value RuntimeBinding::compare(arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, predicate, x, y);
}

void RuntimeBinding::check(Value condition, const std::string &message, ValueRange values) {
  graph::AssertOp::create(b, loc, condition,
                          b.getStringAttr(fmt::format("kernel {}: {}", kernel.name, message)),
                          values);
}

/// A divisor of 0 ends the call; what is divided by it is divided by 1 until then.
Value RuntimeBinding::divisor(Value value, const std::string &message) {
  if (getConstantIntValue(value).value_or(0) != 0)
    return value;
  Value isGood = compare(arith::CmpIPredicate::ne, value, constant(0));
  check(isGood, message, value);
  return arith::SelectOp::create(b, loc, isGood, value, constant(1));
}

namespace {

/// What Size::build makes a value with.
struct HostArithmetic {
  Value constant(int64_t value) const {
    return arith::ConstantIndexOp::create(b, loc, value).getResult();
  }
  Value symbol(const std::string &name) const { return symbols.at(name); }
  Value add(Value x, Value y) const { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value mul(Value x, Value y) const { return b.createOrFold<arith::MulIOp>(loc, x, y); }
  Value floorDiv(Value x, Value y) const {
    return b.createOrFold<arith::FloorDivSIOp>(loc, x, guard(y));
  }
  Value ceilDiv(Value x, Value y) const {
    return b.createOrFold<arith::CeilDivSIOp>(loc, x, guard(y));
  }
  Value mod(Value x, Value y) const {
    Value safe = guard(y), whole = floorDiv(x, safe);
    return b.createOrFold<arith::SubIOp>(loc, x, mul(whole, safe));
  }

  OpBuilder &b;
  Location loc;
  const std::map<std::string, Value> &symbols;
  llvm::function_ref<Value(Value)> guard;
};

} // namespace

Value RuntimeBinding::evaluate(const Size &size) {
  auto guard = [&](Value value) { return divisor(value, size.str() + " divides by %lld"); };
  return size.build(HostArithmetic{b, loc, symbols, guard});
}

Value RuntimeBinding::evaluateSize(const Size &size, const std::string &place) {
  Value value = evaluate(size);
  if (!size.isNonNegative())
    check(compare(arith::CmpIPredicate::sge, value, constant(0)),
          fmt::format("{}, {}, is %lld, which is negative", place, size.str()), value);
  return value;
}

void RuntimeBinding::require(Value value, const Size &wanted, const std::string &place) {
  Value evaluated = evaluate(wanted);
  if (value == evaluated)
    return;
  std::string expression = wanted.constant() ? "" : wanted.str() + " = ";
  check(compare(arith::CmpIPredicate::eq, value, evaluated),
        fmt::format("{} must be {}%lld, but is %lld", place, expression), {evaluated, value});
}

void RuntimeBinding::collect(ArrayRef<Value> given) {
  size_t next = 0;
  for (const KernelArgument &argument : kernel.arguments) {
    if (!argument.isGiven())
      continue;
    Value value = given[next++];
    if (!argument.symbol.empty()) {
      check(compare(arith::CmpIPredicate::sge, value, constant(0)),
            fmt::format("symbol {} would be %lld by argument \"{}\"; symbols are not negative",
                        argument.symbol, argument.name),
            value);
      symbols[argument.symbol] = value;
    }
    for (auto [d, size] : llvm::enumerate(argument.sizes))
      if (!size.constant() || cast<RankedTensorType>(value.getType()).isDynamicDim(d))
        equations.push_back({size, b.createOrFold<tensor::DimOp>(loc, value, d),
                             fmt::format("size {} of \"{}\"", d, argument.name)});
  }
}

void RuntimeBinding::solve(const SolvedSymbol &solved) {
  Equation &equation = equations[solved.equation];
  Value rest = b.createOrFold<arith::SubIOp>(loc, equation.value, evaluate(solved.offset));
  std::string text = fmt::format("{} = %lld ({})", equation.size.str(), equation.place);
  Value solution = rest;
  if (solved.factor != Size(1)) {
    Value by =
        divisor(evaluate(solved.factor), solved.factor.str() + " must not be %lld, for it divides");
    solution = arith::DivSIOp::create(b, loc, rest, by);
    Value again = arith::MulIOp::create(b, loc, solution, by);
    check(compare(arith::CmpIPredicate::eq, again, rest),
          fmt::format("no integer {} gives {}", solved.symbol, text), equation.value);
  }
  if (solved.factor != Size(1) || solved.offset != Size(0))
    check(
        compare(arith::CmpIPredicate::sge, solution, constant(0)),
        fmt::format("symbol {} would be %lld by {}; symbols are not negative", solved.symbol, text),
        {solution, equation.value});
  symbols[solved.symbol] = solution;
  equation.isSolved = true;
}

void RuntimeBinding::checkSymbols() {
  for (const KernelSymbol &symbol : kernel.symbols) {
    Value value = symbols.at(symbol.name);
    auto limit = [&](arith::CmpIPredicate predicate, Value left, int64_t right, const char *what) {
      check(compare(predicate, left, constant(predicate == arith::CmpIPredicate::eq ? 0 : right)),
            fmt::format("symbol {} is %lld, but must be {} {}", symbol.name, what, right), value);
    };
    if (symbol.min > 0)
      limit(arith::CmpIPredicate::sge, value, symbol.min, "at least");
    if (symbol.max < INT64_MAX)
      limit(arith::CmpIPredicate::sle, value, symbol.max, "at most");
    if (symbol.multiple > 1)
      limit(arith::CmpIPredicate::eq,
            arith::RemSIOp::create(b, loc, value, constant(symbol.multiple)), symbol.multiple,
            "a multiple of");
  }
}

/// Those of the grid and in the body, before a program runs.
void RuntimeBinding::checkSizes() {
  for (auto [d, size] : llvm::enumerate(kernel.grid))
    if (size.mayDivideByZero() || !size.isNonNegative())
      evaluateSize(size, fmt::format("size {} of the grid", d));
  for (const KernelSize &one : kernel.sizes)
    if (one.isExtent)
      evaluateSize(one.size, "an extent of a tile");
    else
      evaluate(one.size);
}

bool RuntimeBinding::bind(ArrayRef<Value> given) {
  collect(given);
  std::set<std::string> known;
  for (const auto &[name, value] : symbols)
    known.insert(name);
  std::vector<Size> sizes;
  for (const Equation &equation : equations)
    sizes.push_back(equation.size);
  for (const SolvedSymbol &solved : solveSymbols(sizes, known))
    solve(solved);
  for (const KernelSymbol &symbol : kernel.symbols)
    if (!symbols.contains(symbol.name))
      return false;
  checkSymbols();
  for (const Equation &equation : equations)
    if (!equation.isSolved)
      require(equation.value, equation.size, equation.place);
  checkSizes();
  return true;
}

} // namespace tw::tile
