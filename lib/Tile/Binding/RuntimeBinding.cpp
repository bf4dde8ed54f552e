// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tile/Binding/RuntimeBinding.h"
#include "IR/Graph/Graph.h"
#include "Support/KernelLimits.h"
#include "Tile/Binding/Binding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// What Size::build makes a value with. Divisions do not overflow, for no divisor is -1 where what
/// is divided is the least number.
struct HostArithmetic {
  Value constant(int64_t value) const {
    return arith::ConstantIndexOp::create(b, loc, value).getResult();
  }
  Value symbol(const std::string &name) const { return symbols.at(name); }
  Value add(Value x, Value y) const {
    Value sum = b.createOrFold<arith::AddIOp>(loc, x, y);
    if (isConstant(x, 0) || isConstant(y, 0))
      return sum;
    // The sum's sign is neither that of x nor that of y.
    Value ofX = b.createOrFold<arith::XOrIOp>(loc, sum, x);
    Value ofY = b.createOrFold<arith::XOrIOp>(loc, sum, y);
    fits(arith::CmpIPredicate::sge, b.createOrFold<arith::AndIOp>(loc, ofX, ofY), constant(0));
    return sum;
  }
  Value mul(Value x, Value y) const {
    Value product = b.createOrFold<arith::MulIOp>(loc, x, y);
    for (Value factor : {x, y})
      if (isConstant(factor, 0) || isConstant(factor, 1))
        return product;
    auto both = arith::MulSIExtendedOp::create(b, loc, x, y);
    Value sign = b.createOrFold<arith::ShRSIOp>(loc, both.getLow(), constant(63));
    fits(arith::CmpIPredicate::eq, both.getHigh(), sign);
    return product;
  }
  Value floorDiv(Value x, Value y) const {
    return b.createOrFold<arith::FloorDivSIOp>(loc, x, guard(y));
  }
  Value ceilDiv(Value x, Value y) const {
    return b.createOrFold<arith::CeilDivSIOp>(loc, x, guard(y));
  }
  Value mod(Value x, Value y) const {
    Value safe = guard(y), whole = floorDiv(x, safe);
    Value multiple = b.createOrFold<arith::MulIOp>(loc, whole, safe);
    return b.createOrFold<arith::SubIOp>(loc, x, multiple);
  }

  static bool isConstant(Value value, int64_t wanted) {
    return getConstantIntValue(value) == wanted;
  }
  void fits(arith::CmpIPredicate predicate, Value left, Value right) const {
    Value holds = b.createOrFold<arith::CmpIOp>(loc, predicate, left, right);
    allFit = allFit ? b.createOrFold<arith::AndIOp>(loc, allFit, holds) : holds;
  }

  OpBuilder &b;
  Location loc;
  const std::map<std::string, Value> &symbols;
  llvm::function_ref<Value(Value)> guard;
  Value &allFit; // whether no step has overflowed; none where no step can
};

} // namespace

/// " where M is %lld and N is %lld", with two values at most, which a message can show.
std::string RuntimeBinding::whence(ArrayRef<Size> sizes, SmallVectorImpl<Value> &shown) const {
  std::set<std::string> names;
  for (const Size &size : sizes)
    for (const std::string &name : size.symbols())
      names.insert(name);
  std::vector<std::string> texts;
  for (const std::string &name : names) {
    if (texts.size() == 2)
      break;
    texts.push_back(name + " is %lld");
    shown.push_back(symbols.at(name));
  }
  return texts.empty() ? "" : fmt::format(" where {}", fmt::join(texts, " and "));
}

Value RuntimeBinding::evaluate(const Size &size) {
  Value &value = evaluated[size.str()];
  if (value)
    return value;
  Value allFit;
  auto guard = [&](Value value) { return divisor(value, size.str() + " divides by %lld"); };
  value = size.build(HostArithmetic{b, loc, symbols, guard, allFit});
  if (allFit) {
    SmallVector<Value> shown;
    std::string where = whence(size, shown);
    check(allFit, fmt::format("{} overflows{}", size.str(), where), shown);
  }
  return value;
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
    limit(arith::CmpIPredicate::sle, value, std::min(symbol.max, mostOfSymbol), "at most");
    if (symbol.multiple > 1)
      limit(arith::CmpIPredicate::eq,
            arith::RemSIOp::create(b, loc, value, constant(symbol.multiple)), symbol.multiple,
            "a multiple of");
  }
}

/// Ends the call unless the product of `sizes`, which are not negative, is at most `most`. As
/// numbers of f64, whose products do not overflow and are exact as far as that matters.
void RuntimeBinding::limitProduct(ArrayRef<Size> sizes, int64_t most, const std::string &what,
                                  const char *ofWhat) {
  if (llvm::all_of(sizes, [](const Size &size) { return size.constant().has_value(); }))
    return; // Binding.h and the verifier have seen it
  std::vector<std::string> texts;
  Value product;
  for (const Size &size : sizes) {
    texts.push_back(size.str());
    Value integer = arith::IndexCastOp::create(b, loc, b.getI64Type(), evaluate(size));
    Value factor = arith::SIToFPOp::create(b, loc, b.getF64Type(), integer);
    product = product ? Value(arith::MulFOp::create(b, loc, product, factor)) : factor;
  }
  Value limit = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(double(most)));
  Value holds = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE, product, limit);
  SmallVector<Value> shown;
  std::string where = whence(sizes, shown);
  check(holds,
        fmt::format("{}, [{}], has more than {} {}{}", what, fmt::join(texts, ", "), most, ofWhat,
                    where),
        shown);
}

/// Those of the grid and in the body, before a program runs.
void RuntimeBinding::checkSizes() {
  for (auto [d, size] : llvm::enumerate(kernel.grid))
    if (size.mayDivideByZero() || !size.isNonNegative())
      evaluateSize(size, fmt::format("size {} of the grid", d));
  limitProduct(kernel.grid, mostPrograms, "the grid", "programs");
  for (const KernelSize &one : kernel.sizes)
    if (one.isExtent)
      evaluateSize(one.size, "an extent of a tile");
    else
      evaluate(one.size);
  for (const KernelTile &tile : kernel.tiles)
    limitProduct(tile.extents, mostTileElements, "a tile", "elements");
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
