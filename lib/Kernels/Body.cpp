// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Body.h"
#include "IR/Graph/Graph.h"
#include "Kernels/Places.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::kernels {

FailureOr<int> BodyReader::fail(const Twine &text) {
  if (why.empty())
    why = text.str();
  return failure();
}

int BodyReader::number(int64_t value) {
  Step step{Step::Kind::Number, kernel::i64};
  step.number = value;
  return piece.add(std::move(step));
}

FailureOr<int> BodyReader::read(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  FailureOr<int> step = compute(value);
  if (succeeded(step))
    known[value] = *step;
  return step;
}

FailureOr<int> BodyReader::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return this->argument(argument);
  Operation *op = value.getDefiningOp();
  Attribute number;
  if (matchPattern(op, m_Constant(&number)))
    return constant(number);
  return TypeSwitch<Operation *, FailureOr<int>>(op)
      .Case<linalg::IndexOp, graph::IndexOp>([&](auto op) { return coordinate(op.getDim()); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>(
          [&](Operation *op) { return convertIndex(op); })
      .Case<tensor::ExtractOp>([&](Operation *op) { return gather(op); })
      .Case<tensor::DimOp>([&](Operation *op) { return size(op); })
      .Case<graph::CheckIndexOp>([&](Operation *op) { return check(op); })
      .Case<arith::CeilDivUIOp>([&](arith::CeilDivUIOp op) { return roundedUp(op); })
      .Case<arith::SelectOp>([&](Operation *op) { return padded(op); })
      .Case<scf::ForOp>([&](scf::ForOp loop) -> FailureOr<int> {
        if (failed(this->loop(loop)))
          return failure();
        return known.at(value);
      })
      .Default([&](Operation *op) { return operation(op); });
}

FailureOr<int> BodyReader::constant(Attribute value) {
  auto typed = dyn_cast<TypedAttr>(value);
  auto dtype = typed ? dtypeOf(typed.getType()) : std::nullopt;
  Step step{Step::Kind::Number, dtype.value_or(kernel::f32)};
  if (auto real = dyn_cast<FloatAttr>(value); real && dtype)
    step.number = real.getValueAsDouble();
  else if (auto integer = dyn_cast<IntegerAttr>(value); integer && dtype == kernel::i1)
    step.number = integer.getValue().isOne();
  else if (integer && dtype)
    step.number = integer.getValue().getSExtValue();
  else
    return fail("a constant of another kind than a number");
  return piece.add(std::move(step));
}

/// A scalar that the dispatch is called with. Kernels take i64, f64 and i1.
FailureOr<int> BodyReader::argument(BlockArgument value) {
  if (!isa<func::FuncOp>(value.getOwner()->getParentOp()))
    return fail("a reduction's body uses its sum in other ways");
  auto dtype = dtypeOf(value.getType());
  if (!dtype || isa<TensorType>(value.getType()))
    return fail("a scalar of a dtype without kernels");
  bool isFloat = *dtype <= kernel::f64;
  kernel::DType passed = isFloat ? kernel::f64 : *dtype == kernel::i1 ? kernel::i1 : kernel::i64;
  Step step{Step::Kind::Argument, passed};
  step.argument = piece.scalar(value, passed);
  int number = piece.add(std::move(step));
  if (*dtype == passed)
    return number;
  return piece.add(
      {Step::Kind::Apply, *dtype, {number}, isFloat ? "arith.truncf" : "arith.trunci"});
}

/// The place along a loop, which may be several dimensions: ((a * B) + b) * C + c.
FailureOr<int> BodyReader::coordinate(uint64_t which) {
  int place = -1;
  int loop = nest.loops[which];
  for (int dim : joined.of(nests.table.atoms({loop}))) {
    Step own{Step::Kind::Coordinate, kernel::i64};
    own.dims = {dim};
    int coordinate = piece.add(std::move(own));
    if (place >= 0) {
      Step size{Step::Kind::Size, kernel::i64};
      size.dims = {dim};
      int extent = piece.add(std::move(size));
      int scaled = piece.add({Step::Kind::Apply, kernel::i64, {place, extent}, "arith.muli"});
      coordinate = piece.add({Step::Kind::Apply, kernel::i64, {scaled, coordinate}, "arith.addi"});
    }
    place = coordinate;
  }
  return place < 0 ? number(0) : place;
}

/// index is i64 here.
FailureOr<int> BodyReader::convertIndex(Operation *op) {
  FailureOr<int> from = read(op->getOperand(0));
  if (failed(from))
    return failure();
  auto source = dtypeOf(op->getOperand(0).getType()), target = dtypeOf(op->getResult(0).getType());
  if (!source || !target)
    return fail("an integer of a width without kernels");
  if (*source == *target)
    return from;
  bool widens = *target == kernel::i64;
  const char *name = !widens                         ? "arith.trunci"
                     : isa<arith::IndexCastUIOp>(op) ? "arith.extui"
                                                     : "arith.extsi";
  return piece.add({Step::Kind::Apply, *target, {*from}, name});
}

FailureOr<int> BodyReader::gather(Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  auto dtype = dtypeOf(op->getResult(0).getType());
  if (!dtype)
    return fail("elements of a dtype without kernels are looked up");
  if (std::optional<int> load = window(extract, {}, {}))
    return *load;
  Value base = LoopNests::baseOf(extract.getTensor());
  if (nests.results.contains(base))
    store(base);
  else if (!isa<BlockArgument>(base))
    return fail("elements of a slice are looked up");
  Step step{Step::Kind::Gather, *dtype};
  for (Value index : extract.getIndices()) {
    FailureOr<int> position = read(index);
    if (failed(position))
      return failure();
    step.operands.push_back(*position);
  }
  step.access.buffer = piece.bufferOfTensor(extract.getTensor(), *dtype);
  return piece.add(std::move(step));
}

/// A look-up at places that are multiples of loops is a load. `inside`: the condition under which
/// it is wanted, else it is `pad`; null: always.
std::optional<int> BodyReader::window(tensor::ExtractOp op, Value inside, Value pad) {
  Value tensor = op.getTensor(), base = LoopNests::baseOf(tensor);
  auto dtype = dtypeOf(op.getType());
  if (!dtype || !(nests.results.contains(base) || isa<BlockArgument>(base)))
    return std::nullopt;
  SmallVector<Value> conditions;
  std::vector<Axis> axes;
  SmallVector<std::pair<size_t, Place>> withIndices;
  llvm::DenseSet<int> used;
  for (auto [number, index] : llvm::enumerate(op.getIndices())) {
    auto place = placeOf(index, tensor, int64_t(number), nests.callSizes());
    if (!place)
      return std::nullopt;
    if (place->inside)
      llvm::append_range(conditions, conjuncts(place->inside));
    Axis axis{-1, place->offset};
    axis.isPart = true;
    for (auto [loop, factor] : place->loops) {
      std::vector<int> dims = joined.of(nests.table.atoms({nest.loops[loop]}));
      if (dims.empty())
        continue;
      if (dims.size() > 1 || factor == 0)
        return std::nullopt;
      bool isFolded = llvm::is_contained(folded, dims[0]);
      if (!isFolded && factor > 0 && dims[0] > axis.dim && !used.contains(dims[0])) {
        if (axis.dim >= 0)
          axis.shifts.push_back({axis.dim, axis.stride});
        axis.dim = dims[0];
        axis.stride = factor;
      } else {
        axis.shifts.push_back({dims[0], factor});
      }
    }
    if (axis.dim >= 0)
      used.insert(axis.dim);
    if (!place->indices.empty())
      withIndices.push_back({number, *place});
    axes.push_back(axis);
  }
  // Of several loops along an axis all but the innermost are taken singly.
  std::vector<int> reduced = joined.of(nests.table.atoms(nest.reduced)), singles;
  for (const Axis &axis : axes)
    for (auto [dim, factor] : axis.shifts) {
      if (llvm::is_contained(folded, dim))
        continue;
      if (dim > axis.dim || used.contains(dim) || llvm::is_contained(reduced, dim))
        return std::nullopt;
      singles.push_back(dim);
    }
  // Where it is wanted must be just where it is inside.
  llvm::DenseSet<Value> own(conditions.begin(), conditions.end()), asked;
  if (inside)
    for (Value one : conjuncts(inside))
      asked.insert(one);
  if (inside ? own != asked : !own.empty())
    return std::nullopt;
  Step load{Step::Kind::Load, *dtype};
  if (inside) {
    FailureOr<int> outside = read(pad);
    if (failed(outside))
      return std::nullopt;
    load.operands = {*outside};
  }
  for (auto &[number, place] : withIndices)
    for (auto [value, factor] : place.indices)
      axes[number].places.push_back(
          {piece.scalar(cast<BlockArgument>(value), kernel::i64), factor});
  for (int dim : singles)
    piece.takeSingly(dim);
  if (nests.results.contains(base))
    store(base);
  load.access = {piece.bufferOfTensor(tensor, *dtype), axes};
  return piece.add(std::move(load));
}

/// Of a tensor where a place is inside of it, else a number: what is padded.
FailureOr<int> BodyReader::padded(Operation *op) {
  auto select = cast<arith::SelectOp>(op);
  if (auto extract = select.getTrueValue().getDefiningOp<tensor::ExtractOp>())
    if (Value pad = select.getFalseValue(); matchPattern(pad, m_Constant()))
      if (std::optional<int> load = window(extract, select.getCondition(), pad))
        return *load;
  return operation(op);
}

/// A loop in the body. Its range must be one for all elements that a program has.
FailureOr<int> BodyReader::loop(scf::ForOp op) {
  Step fold{Step::Kind::Fold};
  fold.isRange = true;
  for (Value bound : {op.getLowerBound(), op.getUpperBound(), op.getStep()}) {
    FailureOr<int> step = read(bound);
    if (failed(step))
      return failure();
    fold.operands.push_back(*step);
    for (int dim : piece.extent(*step))
      piece.takeSingly(dim);
  }
  fold.along = joined.of(nests.table.atoms({nest.loops.begin(), nest.loops.end()}));
  std::vector<kernel::DType> dtypes;
  for (Value init : op.getInitArgs()) {
    FailureOr<int> step = read(init);
    auto dtype = dtypeOf(init.getType());
    if (failed(step) || !dtype)
      return fail("a loop carries a value of a dtype without kernels");
    fold.operands.push_back(*step);
    dtypes.push_back(*dtype);
  }
  int number = piece.add(std::move(fold));
  auto before = known;
  auto state = [&](Step::Kind kind, int which, kernel::DType dtype) {
    Step step{kind, dtype, {number}};
    step.argument = which;
    return piece.add(std::move(step));
  };
  known[op.getInductionVar()] = state(Step::Kind::State, -1, kernel::i64);
  for (auto [i, argument] : llvm::enumerate(op.getRegionIterArgs()))
    known[argument] = state(Step::Kind::State, int(i), dtypes[i]);
  Step yield{Step::Kind::Yield};
  for (Value next : op.getYieldedValues()) {
    FailureOr<int> step = read(next);
    if (failed(step))
      return failure();
    yield.operands.push_back(*step);
  }
  piece.add(std::move(yield));
  known = std::move(before);
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    known[result] = state(Step::Kind::Result, int(i), dtypes[i]);
  return number;
}

FailureOr<int> BodyReader::check(Operation *op) {
  auto check = cast<graph::CheckIndexOp>(op);
  FailureOr<int> index = read(check.getIndex()), bound = read(check.getBound());
  if (failed(index) || failed(bound))
    return failure();
  return piece.add({Step::Kind::Check, kernel::i64, {*index, *bound}, check.getMessage().str()});
}

/// A size of a tensor that the nest walks over.
FailureOr<int> BodyReader::size(Operation *op) {
  auto dim = cast<tensor::DimOp>(op);
  auto axis = dim.getConstantIndex();
  for (auto &operand : nest.operands) {
    if (!operand || !axis || operand->root != dim.getSource() || !operand->axes[*axis].isPlain())
      continue;
    int product = -1;
    for (int part : joined.of(nests.table.atoms(
             {operand->axes[*axis].dims.begin(), operand->axes[*axis].dims.end()}))) {
      Step size{Step::Kind::Size, kernel::i64};
      size.dims = {part};
      int extent = piece.add(std::move(size));
      product = product < 0
                    ? extent
                    : piece.add({Step::Kind::Apply, kernel::i64, {product, extent}, "arith.muli"});
    }
    return product < 0 ? number(1) : product;
  }
  return fail("the size of a tensor that is not walked over is used");
}

/// The quotient, and one more where something is left.
FailureOr<int> BodyReader::roundedUp(arith::CeilDivUIOp op) {
  FailureOr<int> a = read(op.getLhs()), b = read(op.getRhs());
  auto dtype = dtypeOf(op.getType());
  if (failed(a) || failed(b) || !dtype)
    return failure();
  auto apply = [&](const char *name, std::vector<int> operands, kernel::DType type,
                   const char *predicate = "") {
    return piece.add({Step::Kind::Apply, type, std::move(operands), name, predicate});
  };
  int rest = apply("arith.remui", {*a, *b}, *dtype);
  Step none{Step::Kind::Number, *dtype};
  none.number = int64_t(0);
  int zero = piece.add(std::move(none));
  int isLeft = apply("arith.cmpi", {rest, zero}, kernel::i1, "ne");
  return apply("arith.addi",
               {apply("arith.divui", {*a, *b}, *dtype), apply("arith.extui", {isLeft}, *dtype)},
               *dtype);
}

FailureOr<int> BodyReader::operation(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (op->getNumRegions() || op->getNumResults() != 1 ||
      !(name.starts_with("arith.") || name.starts_with("math.")))
    return fail(name + " has no kernel");
  auto dtype = dtypeOf(op->getResult(0).getType());
  if (!dtype)
    return fail(name + " of a dtype without kernels");
  Step step{Step::Kind::Apply, *dtype, {}, name.str()};
  for (Value operand : op->getOperands()) {
    FailureOr<int> from = read(operand);
    if (failed(from))
      return failure();
    step.operands.push_back(*from);
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    step.predicate = arith::stringifyCmpFPredicate(compare.getPredicate()).str();
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    step.predicate = arith::stringifyCmpIPredicate(compare.getPredicate()).str();
  return piece.add(std::move(step));
}

static Value beforeWidening(Value value) {
  auto extend = value.getDefiningOp<arith::ExtFOp>();
  return extend ? extend.getIn() : value;
}

std::optional<ContractionParts> matchContraction(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op->getNumResults() != 1 || op.getNumDpsInputs() < 1)
    return std::nullopt;
  Block *body = op.getBlock();
  Operation *sum = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!sum || !isa<arith::AddFOp, arith::AddIOp>(sum))
    return std::nullopt;
  Value total = body->getArgument(op.getNumDpsInputs());
  Value term = sum->getOperand(sum->getOperand(0) == total ? 1 : 0);
  if (sum->getOperand(0) != total && sum->getOperand(1) != total)
    return std::nullopt;
  Operation *product = term.getDefiningOp();
  if (!product || !isa<arith::MulFOp, arith::MulIOp>(product) ||
      isa<arith::MulFOp>(product) != isa<arith::AddFOp>(sum))
    return std::nullopt;
  ContractionParts parts{{}, isa<arith::AddFOp>(sum)};
  for (auto [i, factor] : llvm::enumerate(product->getOperands())) {
    auto argument = dyn_cast<BlockArgument>(beforeWidening(factor));
    if (!argument || argument.getOwner() != body || argument == total)
      return std::nullopt;
    parts.operands[i] = argument.getArgNumber();
  }
  // Rows or columns that one operand alone has make it a contraction; else it is a reduction of an
  // elementwise product.
  AffineMap maps[] = {op.getMatchingIndexingMap(&op->getOpOperand(parts.operands[0])),
                      op.getMatchingIndexingMap(&op->getOpOperand(parts.operands[1]))};
  auto iterators = op.getIteratorTypesArray();
  for (unsigned dim = 0; dim < iterators.size(); ++dim)
    if (iterators[dim] == utils::IteratorType::parallel &&
        maps[0].isFunctionOfDim(dim) != maps[1].isFunctionOfDim(dim))
      return parts;
  return std::nullopt;
}

namespace {

/// The condition under which a new element takes the place of the one kept.
struct Better {
  Value element, kept;

  /// Whether the greater one wins; nothing if it is no comparison of the two.
  std::optional<bool> direction(Value condition) const {
    if (auto compare = condition.getDefiningOp<arith::CmpFOp>())
      return direction(compare.getLhs(), compare.getRhs(),
                       compare.getPredicate() == arith::CmpFPredicate::OLT,
                       compare.getPredicate() == arith::CmpFPredicate::OGT);
    if (auto compare = condition.getDefiningOp<arith::CmpIOp>())
      return direction(compare.getLhs(), compare.getRhs(),
                       compare.getPredicate() == arith::CmpIPredicate::slt,
                       compare.getPredicate() == arith::CmpIPredicate::sgt);
    return std::nullopt;
  }
  std::optional<bool> direction(Value left, Value right, bool isLess, bool isGreater) const {
    if (!isLess && !isGreater)
      return std::nullopt;
    if (left == kept && right == element)
      return isLess;
    if (left == element && right == kept)
      return isGreater;
    return std::nullopt;
  }
  static bool asksForNaN(Value condition, Value of) {
    auto compare = condition.getDefiningOp<arith::CmpFOp>();
    return compare && compare.getPredicate() == arith::CmpFPredicate::UNO &&
           compare.getLhs() == of && compare.getRhs() == of;
  }
  /// The element is the first that is NaN.
  bool isFirstNaN(Value condition) const {
    auto both = condition.getDefiningOp<arith::AndIOp>();
    if (!both)
      return false;
    for (unsigned i : {0, 1}) {
      auto inverted = both->getOperand(1 - i).getDefiningOp<arith::XOrIOp>();
      if (inverted && asksForNaN(both->getOperand(i), element) &&
          asksForNaN(inverted.getLhs(), kept) && matchPattern(inverted.getRhs(), m_One()))
        return true;
    }
    return false;
  }
};

} // namespace

std::optional<ExtremeParts> matchExtreme(linalg::LinalgOp op) {
  if (op->getNumResults() != 2 || op.getNumReductionLoops() != 1)
    return std::nullopt;
  Block *body = op.getBlock();
  Operation *yield = body->getTerminator();
  auto value = yield->getOperand(0).getDefiningOp<arith::SelectOp>(),
       place = yield->getOperand(1).getDefiningOp<arith::SelectOp>();
  unsigned inputs = op.getNumDpsInputs();
  if (!value || !place || value.getCondition() != place.getCondition() ||
      value.getFalseValue() != body->getArgument(inputs) ||
      place.getFalseValue() != body->getArgument(inputs + 1))
    return std::nullopt;
  auto cast = place.getTrueValue().getDefiningOp<arith::IndexCastOp>();
  auto index = cast ? cast.getIn().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
  if (!index || op.getIteratorTypesArray()[index.getDim()] != utils::IteratorType::reduction)
    return std::nullopt;
  Better better{value.getTrueValue(), value.getFalseValue()};
  std::optional<bool> isMax;
  if (auto either = value.getCondition().getDefiningOp<arith::OrIOp>()) {
    for (unsigned i : {0, 1})
      if (better.isFirstNaN(either->getOperand(1 - i)))
        isMax = better.direction(either->getOperand(i));
  } else if (!isa<FloatType>(better.element.getType())) {
    isMax = better.direction(value.getCondition());
  }
  if (!isMax)
    return std::nullopt;
  return ExtremeParts{better.element, *isMax};
}

} // namespace tw::kernels
