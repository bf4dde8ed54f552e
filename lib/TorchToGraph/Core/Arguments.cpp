// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Core/Arguments.h"
#include "IR/Graph/Graph.h"
#include "Support/SolveSymbols.h"
#include "TorchToGraph/Builders/Index.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

namespace {

/// The sizes of one tensor argument: an affine map whose symbols have names.
struct Shape {
  BlockArgument argument;
  AffineMap map;
  SmallVector<std::string> names;
};

struct Symbol {
  std::string name;
  int64_t min, max;
};

class Binder {
public:
  Binder(func::FuncOp from, func::FuncOp to, OpBuilder &b, Sizes &sizes)
      : from(from), to(to), b(b), loc(to.getLoc()), sizes(sizes) {}
  llvm::StringMap<Value> run();

private:
  void collect();
  void collectShape(unsigned position);
  std::string freshName(std::string name) const;
  void bindPlainSymbols();
  void solveSymbols();
  void stateSizes();

  func::FuncOp from, to;
  OpBuilder &b;
  Location loc;
  Sizes &sizes;
  SmallVector<Shape> shapes;
  SmallVector<Symbol> symbols;
  llvm::StringMap<Value> values;
};

constexpr int64_t unbounded = std::numeric_limits<int64_t>::max();

torch::BindSymbolicShapeOp bindingOf(BlockArgument argument) {
  for (Operation *user : argument.getUsers())
    if (auto bind = dyn_cast<torch::BindSymbolicShapeOp>(user);
        bind && bind.getOperand() == argument)
      return bind;
  return nullptr;
}

void Binder::collect() {
  for (auto op : from.getBody().front().getOps<torch::SymbolicIntOp>())
    symbols.push_back({op.getSymbolName().str(), int64_t(op.getMinVal()), int64_t(op.getMaxVal())});
  for (unsigned i = 0; i < to.getNumArguments(); ++i)
    if (isa<RankedTensorType>(to.getArgument(i).getType()))
      collectShape(i);
}

/// `name`, or where a symbol has it, another one.
std::string Binder::freshName(std::string name) const {
  while (llvm::any_of(symbols, [&](const Symbol &symbol) { return symbol.name == name; }))
    name += "_";
  return name;
}

/// From the binding, or with a symbol of its own for each dynamic size.
void Binder::collectShape(unsigned position) {
  BlockArgument argument = to.getArgument(position);
  auto type = cast<RankedTensorType>(argument.getType());
  Shape shape{argument, {}, {}};
  auto bind = bindingOf(from.getArgument(position));
  if (bind && int64_t(bind.getShapeExpressions().getNumResults()) == type.getRank()) {
    shape.map = bind.getShapeExpressions();
    for (Value symbol : bind.getShapeSymbols())
      if (auto op = symbol.getDefiningOp<torch::SymbolicIntOp>())
        shape.names.push_back(op.getSymbolName().str());
  }
  if (!shape.map || shape.names.size() != shape.map.getNumSymbols()) {
    SmallVector<AffineExpr> exprs;
    shape.names.clear();
    for (auto [d, size] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(size)) {
        exprs.push_back(b.getAffineConstantExpr(size));
        continue;
      }
      exprs.push_back(b.getAffineSymbolExpr(shape.names.size()));
      shape.names.push_back(freshName(fmt::format("arg{}_dim{}", position, d)));
      symbols.push_back({shape.names.back(), 0, unbounded});
    }
    shape.map = AffineMap::get(0, shape.names.size(), exprs, b.getContext());
  }
  shapes.push_back(std::move(shape));
}

/// Symbols that are a size as they stand.
void Binder::bindPlainSymbols() {
  for (unsigned i = 0; i < to.getNumArguments(); ++i)
    if (auto name = to.getArgAttrOfType<StringAttr>(i, "tw.symbol"))
      values[name.getValue()] =
          arith::IndexCastOp::create(b, loc, b.getIndexType(), to.getArgument(i)).getResult();
  for (const Shape &shape : shapes)
    for (auto [d, expr] : llvm::enumerate(shape.map.getResults()))
      if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
        StringRef name = shape.names[symbol.getPosition()];
        if (!values.contains(name))
          values[name] = tensor::DimOp::create(b, loc, shape.argument, d).getResult();
      }
}

/// `expr` over symbols with these names.
Size asSize(AffineExpr expr, ArrayRef<std::string> names) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return Size::symbol(names[symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Size x = asSize(binary.getLHS(), names), y = asSize(binary.getRHS(), names);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return x + y;
  case AffineExprKind::Mul:
    return x * y;
  case AffineExprKind::FloorDiv:
    return floorDiv(x, y);
  case AffineExprKind::CeilDiv:
    return ceilDiv(x, y);
  default:
    return mod(x, y);
  }
}

/// What Size::build makes a value with.
struct IndexArithmetic {
  IndexMath math;
  const llvm::StringMap<Value> &values;

  OpFoldResult constant(int64_t value) { return math.constant(value); }
  OpFoldResult symbol(const std::string &name) { return values.lookup(name); }
  OpFoldResult add(OpFoldResult x, OpFoldResult y) { return math.add(x, y); }
  OpFoldResult mul(OpFoldResult x, OpFoldResult y) { return math.mul(x, y); }
  OpFoldResult floorDiv(OpFoldResult x, OpFoldResult y) { return math.floorDiv(x, y); }
  OpFoldResult ceilDiv(OpFoldResult x, OpFoldResult y) { return math.ceilDiv(x, y); }
  OpFoldResult mod(OpFoldResult x, OpFoldResult y) { return math.remainder(x, y); }
};

/// Symbols that occur only in expressions. Where a factor depends on a symbol it could be 0: then
/// sizes stay what they are.
void Binder::solveSymbols() {
  std::set<std::string> known;
  for (const auto &entry : values)
    known.insert(entry.getKey().str());
  std::vector<Size> equations;
  SmallVector<std::pair<Value, unsigned>> places;
  for (const Shape &shape : shapes)
    for (auto [d, expr] : llvm::enumerate(shape.map.getResults())) {
      equations.push_back(asSize(expr, shape.names));
      places.push_back({shape.argument, unsigned(d)});
    }
  IndexMath math{b, loc};
  for (const SolvedSymbol &solved : tw::solveSymbols(equations, known)) {
    auto isKnown = [&](const std::string &symbol) { return values.contains(symbol); };
    if (!solved.factor.constant() || !llvm::all_of(solved.offset.symbols(), isKnown))
      continue;
    auto [argument, d] = places[solved.equation];
    OpFoldResult size = tensor::DimOp::create(b, loc, argument, d).getResult();
    OpFoldResult offset = solved.offset.build(IndexArithmetic{math, values});
    OpFoldResult factor = solved.factor.build(IndexArithmetic{math, values});
    values[solved.symbol] = math.value(math.floorDiv(math.sub(size, offset), factor));
  }
}

void Binder::stateSizes() {
  for (const Shape &shape : shapes) {
    auto type = cast<RankedTensorType>(shape.argument.getType());
    SmallVector<OpFoldResult> known;
    for (auto [d, size] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(size)) {
        known.push_back(b.getIndexAttr(size));
        continue;
      }
      OpFoldResult value = evaluateSize(b, loc, shape.map.getResult(d), [&](unsigned symbol) {
        return values.lookup(shape.names[symbol]);
      });
      if (!value)
        value = tensor::DimOp::create(b, loc, shape.argument, d).getResult();
      known.push_back(value);
    }
    sizes.set(shape.argument, known);
    if (type.hasStaticShape())
      continue;
    SmallVector<StringAttr> names;
    for (const std::string &name : shape.names)
      names.push_back(b.getStringAttr(name));
    to.setArgAttr(shape.argument.getArgNumber(), "tw.sizes",
                  graph::SizesAttr::get(b.getContext(), names, shape.map));
  }
}

llvm::StringMap<Value> Binder::run() {
  collect();
  bindPlainSymbols();
  solveSymbols();
  stateSizes();
  SmallVector<Attribute> rows;
  for (const Symbol &symbol : symbols) {
    if (Value value = values.lookup(symbol.name))
      sizes.setMinimum(value, symbol.min);
    int64_t least = std::max<int64_t>(symbol.min, 0); // it is a size
    rows.push_back(b.getDictionaryAttr({b.getNamedAttr("name", b.getStringAttr(symbol.name)),
                                        b.getNamedAttr("min", b.getI64IntegerAttr(least)),
                                        b.getNamedAttr("max", b.getI64IntegerAttr(symbol.max))}));
  }
  to->setAttr("tw.symbols", b.getArrayAttr(rows));
  return std::move(values);
}

} // namespace

OpFoldResult evaluateSize(OpBuilder &b, Location loc, AffineExpr size,
                          llvm::function_ref<Value(unsigned)> symbol) {
  IndexMath math{b, loc};
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    return math.constant(constant.getValue());
  if (auto known = dyn_cast<AffineSymbolExpr>(size)) {
    Value value = symbol(known.getPosition());
    return value ? OpFoldResult(value) : OpFoldResult();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(size);
  if (!binary)
    return {};
  OpFoldResult x = evaluateSize(b, loc, binary.getLHS(), symbol);
  OpFoldResult y = evaluateSize(b, loc, binary.getRHS(), symbol);
  if (!x || !y)
    return {};
  switch (size.getKind()) {
  case AffineExprKind::Add:
    return math.add(x, y);
  case AffineExprKind::Mul:
    return math.mul(x, y);
  case AffineExprKind::FloorDiv:
    return math.floorDiv(x, y);
  case AffineExprKind::CeilDiv:
    return math.ceilDiv(x, y);
  case AffineExprKind::Mod:
    return math.remainder(x, y);
  default:
    return {};
  }
}

llvm::StringMap<Value> bindSymbols(func::FuncOp from, func::FuncOp to, OpBuilder &b, Sizes &sizes) {
  return Binder(from, to, b, sizes).run();
}

} // namespace tw::lower
