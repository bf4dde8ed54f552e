// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/BodyAnalysis.h"
#include "GraphToTile/Analysis/Loops/AffineIndex.h"
#include "IR/Tile/Elementwise.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::conversion {

DimSet unionOf(const DimSet &a, const DimSet &b) {
  DimSet all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

DimSet dimsOf(const Access &access) {
  DimSet dims;
  for (const Axis &axis : access.axes)
    if (axis.dim >= 0)
      dims.push_back(axis.dim);
  llvm::sort(dims);
  return dims;
}

SmallVector<graph::CheckIndexOp> unreadChecks(Block &body) {
  auto checks = llvm::make_filter_range(body.getOps<graph::CheckIndexOp>(),
                                        [](graph::CheckIndexOp op) { return op->use_empty(); });
  return llvm::to_vector(checks);
}

static DimSet sorted(std::vector<int> dims) {
  llvm::sort(dims);
  return dims;
}

FailureOr<DimSet> BodyAnalysis::fail(const Twine &text) {
  if (why.empty())
    why = text.str();
  return failure();
}

FailureOr<DimSet> BodyAnalysis::visit(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  FailureOr<DimSet> dims = compute(value);
  if (succeeded(dims))
    known[value] = *dims;
  return dims;
}

FailureOr<DimSet> BodyAnalysis::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return this->argument(argument);
  using Dims = FailureOr<DimSet>;
  return TypeSwitch<Operation *, Dims>(value.getDefiningOp())
      .Case<arith::ConstantOp>([&](arith::ConstantOp op) -> Dims {
        if (!isa<FloatAttr, IntegerAttr>(op.getValue()) || !dtypeOf(op.getType()))
          return fail("a constant of another kind than a number");
        return DimSet();
      })
      .Case<linalg::IndexOp, graph::IndexOp>(
          [&](auto op) -> Dims { return sorted(dimsOfLoops({nest.loops[op.getDim()]})); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>([&](Operation *op) -> Dims {
        if (!dtypeOf(op->getOperand(0).getType()) || !dtypeOf(op->getResult(0).getType()))
          return fail("an integer of a width without kernels");
        return operands(op);
      })
      .Case<arith::CeilDivUIOp>([&](Operation *op) { return operands(op); })
      .Case<graph::CheckIndexOp>([&](Operation *op) {
        statement.hasCheck = true;
        return operands(op);
      })
      .Case<tensor::ExtractOp>([&](tensor::ExtractOp op) { return gather(op); })
      .Case<tensor::DimOp>([&](tensor::DimOp op) { return size(op); })
      .Case<arith::SelectOp>([&](arith::SelectOp op) { return padded(op); })
      .Case<scf::ForOp>([&](scf::ForOp op) { return loop(op); })
      .Default([&](Operation *op) { return elementwise(op); });
}

/// A scalar that the dispatch is called with. Kernels take i64, f64 and i1.
FailureOr<DimSet> BodyAnalysis::argument(BlockArgument value) {
  if (!isa<func::FuncOp>(value.getOwner()->getParentOp()))
    return fail("a reduction's body uses its sum in other ways");
  auto dtype = dtypeOf(value.getType());
  if (!dtype || isa<TensorType>(value.getType()))
    return fail("a scalar of a dtype without kernels");
  subkernel.scalar(value, *dtype <= kernel::f64  ? kernel::f64
                          : *dtype == kernel::i1 ? kernel::i1
                                                 : kernel::i64);
  return DimSet();
}

FailureOr<DimSet> BodyAnalysis::operands(Operation *op) {
  DimSet all;
  for (Value operand : op->getOperands()) {
    FailureOr<DimSet> dims = visit(operand);
    if (failed(dims))
      return failure();
    all = unionOf(all, *dims);
  }
  return all;
}

FailureOr<DimSet> BodyAnalysis::elementwise(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (op->getNumRegions() || op->getNumResults() != 1 || !tile::isElementwise(op))
    return fail(name + " has no kernel");
  if (!dtypeOf(op->getResult(0).getType()))
    return fail(name + " of a dtype without kernels");
  return operands(op);
}

//===----------------------------------------------------------------------===//
// Look-ups
//===----------------------------------------------------------------------===//

FailureOr<DimSet> BodyAnalysis::gather(tensor::ExtractOp op) {
  auto dtype = dtypeOf(op.getType());
  if (!dtype)
    return fail("elements of a dtype without kernels are looked up");
  if (window(op, op, {}, {}))
    return dimsOf(statement.lookUps.find(op)->second.access);
  Value base = LoopNests::baseOf(op.getTensor());
  if (nests.results.contains(base))
    store(base);
  else if (!isa<BlockArgument>(base))
    return fail("elements of a slice are looked up");
  DimSet all;
  for (Value index : op.getIndices()) {
    FailureOr<DimSet> dims = visit(index);
    if (failed(dims))
      return failure();
    all = unionOf(all, *dims);
  }
  statement.lookUps[op] = {{subkernel.bufferOfTensor(op.getTensor(), *dtype), {}}};
  return all;
}

/// An element of a tensor where a position is inside of it, else a number: what is padded.
FailureOr<DimSet> BodyAnalysis::padded(arith::SelectOp op) {
  if (auto extract = op.getTrueValue().getDefiningOp<tensor::ExtractOp>())
    if (Value pad = op.getFalseValue(); matchPattern(pad, m_Constant()))
      if (window(op, extract, op.getCondition(), pad))
        return dimsOf(statement.lookUps.find(op)->second.access);
  return elementwise(op);
}

/// Whether a dimension is walked along element by element while the body runs.
bool BodyAnalysis::isElementByElement(int dim) const {
  bool isFold = statement.kind == Statement::Kind::Fold ||
                statement.kind == Statement::Kind::Scatter ||
                statement.kind == Statement::Kind::Recurrence;
  return isFold && llvm::is_contained(statement.dims, dim);
}

/// An index as an axis that runs along the innermost loop that it can; nothing if a loop is several
/// dimensions.
std::optional<Axis> BodyAnalysis::axisOf(const AffineIndex &index,
                                         llvm::DenseSet<int> &used) const {
  Axis axis{-1, index.offset};
  axis.isPartial = true;
  for (auto [loop, factor] : index.loops) {
    std::vector<int> dims = dimsOfLoops({nest.loops[loop]});
    if (dims.empty())
      continue;
    if (dims.size() > 1 || factor == 0)
      return std::nullopt;
    int dim = dims[0];
    if (!isElementByElement(dim) && factor > 0 && dim > axis.dim && !used.contains(dim)) {
      if (axis.dim >= 0)
        axis.dimTerms.push_back({axis.dim, axis.stride});
      axis.dim = dim;
      axis.stride = factor;
    } else {
      axis.dimTerms.push_back({dim, factor});
    }
  }
  if (axis.dim >= 0)
    used.insert(axis.dim);
  return axis;
}

/// A look-up at positions that are multiples of loops is a load of a box. `inside`: the condition
/// under which it is wanted, else it is `pad`; null: always. `key`: the operation that it stands
/// for.
bool BodyAnalysis::window(Operation *key, tensor::ExtractOp op, Value inside, Value pad) {
  Value tensor = op.getTensor(), base = LoopNests::baseOf(tensor);
  auto dtype = dtypeOf(op.getType());
  if (!dtype || !(nests.results.contains(base) || isa<BlockArgument>(base)))
    return false;
  SmallVector<Value> conditions;
  std::vector<Axis> axes;
  SmallVector<AffineIndex> indices;
  llvm::DenseSet<int> used;
  for (auto [number, value] : llvm::enumerate(op.getIndices())) {
    auto index = affineIndexOf(value, tensor, int64_t(number), nests.callSizes());
    auto axis = index ? axisOf(*index, used) : std::nullopt;
    if (!axis)
      return false;
    if (index->inside)
      llvm::append_range(conditions, conjuncts(index->inside));
    axes.push_back(*axis);
    indices.push_back(*index);
  }
  // Of several loops along an axis a program has one element of all but the innermost.
  std::vector<int> reduced = dimsOfLoops(nest.reduced), unitDims;
  for (const Axis &axis : axes)
    for (auto [dim, factor] : axis.dimTerms) {
      if (isElementByElement(dim))
        continue;
      if (dim > axis.dim || used.contains(dim) || llvm::is_contained(reduced, dim))
        return false;
      unitDims.push_back(dim);
    }
  // Where it is wanted must be just where it is inside.
  llvm::DenseSet<Value> own(conditions.begin(), conditions.end()), asked;
  if (inside)
    for (Value one : conjuncts(inside))
      asked.insert(one);
  if (inside ? own != asked : !own.empty())
    return false;
  if (inside && failed(visit(pad)))
    return false;
  for (auto [axis, index] : llvm::zip(axes, indices))
    for (auto [value, factor] : index.scalars)
      axis.scalarTerms.push_back(
          {subkernel.scalar(cast<BlockArgument>(value), kernel::i64), factor});
  for (int dim : unitDims)
    subkernel.takeOneElement(dim);
  if (nests.results.contains(base))
    store(base);
  statement.lookUps[key] = {{subkernel.bufferOfTensor(tensor, *dtype), axes}, false, pad};
  return true;
}

//===----------------------------------------------------------------------===//
// Loops and sizes
//===----------------------------------------------------------------------===//

/// A loop in the body. Its range must be one for all elements that a program has.
FailureOr<DimSet> BodyAnalysis::loop(scf::ForOp op) {
  statement.hasLoop = true;
  for (Value bound : {op.getLowerBound(), op.getUpperBound(), op.getStep()}) {
    FailureOr<DimSet> dims = visit(bound);
    if (failed(dims))
      return failure();
    for (int dim : *dims)
      subkernel.takeOneElement(dim);
  }
  for (Value init : op.getInitArgs()) {
    if (failed(visit(init)) || !dtypeOf(init.getType()))
      return fail("a loop carries a value of a dtype without kernels");
  }
  statement.carriedDims = dimsOfLoops(nest.loops);
  DimSet carried = sorted(statement.carriedDims);
  map(op.getInductionVar(), {});
  for (BlockArgument argument : op.getRegionIterArgs())
    map(argument, carried);
  for (Value next : op.getYieldedValues())
    if (failed(visit(next)))
      return failure();
  for (Value result : op.getResults())
    map(result, carried);
  return carried;
}

/// A size of a tensor that the nest walks over.
FailureOr<DimSet> BodyAnalysis::size(tensor::DimOp op) {
  auto axis = op.getConstantIndex();
  for (auto &operand : nest.operands) {
    if (!operand || !axis || operand->root != op.getSource() || !operand->axes[*axis].isPlain())
      continue;
    statement.sizes[op] = dimsOfLoops(operand->axes[*axis].dims);
    return DimSet();
  }
  return fail("the size of a tensor that is not walked over is used");
}

} // namespace tw::conversion
