// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A structured operation of linalg: loops over its parallel dimensions, and in them loops over the
// others that carry the results. Sums of floats are carried in f64, in partial sums. Where a
// reduction loop indexes a result, nothing is carried: all results are read and written in every
// step.
#include "IR/Coded.h"
#include "Target/Reference/PlainLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::reference {
namespace {

class GenericLoops {
public:
  GenericLoops(linalg::LinalgOp op, Emitter &e)
      : op(op), e(e), block(op->getRegion(0).front()), maps(op.getIndexingMapsArray()),
        inputs(op.getNumDpsInputs()), at(op.getNumLoops(), Ix(0)) {
    bool carries = !llvm::any_of(ArrayRef(maps).drop_front(inputs), [&](AffineMap map) {
      return llvm::any_of(llvm::seq(op.getNumLoops()),
                          [&](unsigned d) { return map.isFunctionOfDim(d) && !isParallel(d); });
    });
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      (isParallel(d) || !carries ? outer : reduced).push_back(d);
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      isSum.push_back(findSum(i));
  }

  LogicalResult emit() {
    if (failed(findSizes()))
      return failure();
    e.nest(sizesOf(outer), [&](ArrayRef<Ix> position) {
      setPosition(outer, position);
      Values results = e.reduce(sizesOf(reduced), initial(), isSum,
                                [&](ArrayRef<Ix> position, ArrayRef<Value> old) {
                                  setPosition(reduced, position);
                                  return step(old);
                                });
      for (auto [i, value] : llvm::enumerate(results))
        e.store(e.convert(value, Emitter::scalarType(out(i).element)), out(i), place(inputs + i));
    });
    return success(!hasFailed);
  }

private:
  bool isParallel(unsigned loop) {
    return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel;
  }

  /// Whether a reduction only adds terms to result `i`; notes the term.
  bool findSum(unsigned i) {
    Operation *sum = block.getTerminator()->getOperand(i).getDefiningOp();
    if (reduced.empty() || !isa_and_nonnull<arith::AddFOp>(sum) || !sum->hasOneUse())
      return false;
    Value old = block.getArgument(inputs + i);
    bool isFirst = sum->getOperand(0) == old;
    if (!old.hasOneUse() || (!isFirst && sum->getOperand(1) != old) || sum->getBlock() != &block)
      return false;
    terms[sum] = sum->getOperand(isFirst ? 1 : 0);
    return true;
  }

  LogicalResult findSizes() {
    SmallVector<Extent> extents; // of all operands, as getShapesToLoopsMap counts them
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        llvm::append_range(extents, Emitter::extentsOf(operand));
    AffineMap loops = op.getShapesToLoopsMap();
    if (!loops)
      return emitCoded(op.getLoc(), Code::TARGET_2)
             << "the reference target cannot tell the bounds of the loops of "
             << op->getName().getStringRef();
    FailureOr<Indices> found = e.sizes(llvm::map_to_vector(
        llvm::seq(op.getNumLoops()), [&](unsigned d) { return extents[loops.getDimPosition(d)]; }));
    sizes = succeeded(found) ? *found : Indices();
    return found;
  }

  Indices sizesOf(ArrayRef<unsigned> loops) const {
    return Indices(llvm::map_range(loops, [&](unsigned d) { return sizes[d]; }));
  }

  void setPosition(ArrayRef<unsigned> loops, ArrayRef<Ix> position) {
    for (auto [d, i] : llvm::zip(loops, position))
      at[d] = i;
  }

  Buffer out(unsigned i) const { return e.buffer(op->getResult(i)); }
  Indices place(unsigned operand) { return e.ix().affine(maps[operand], at); }

  /// What the results are before the first step, where the body asks for it.
  Values initial() {
    Values old;
    for (unsigned i = 0; i < isSum.size(); ++i) {
      Type type = Emitter::scalarType(out(i).element);
      unsigned argument = inputs + i;
      bool isRead = argument < block.getNumArguments() && !block.getArgument(argument).use_empty();
      Value value = isRead ? e.load(out(i), place(argument)) : e.constant(type, 0);
      old.push_back(isSum[i] ? e.convert(value, Emitter::sumType(type)) : value);
    }
    return old;
  }

  Values step(ArrayRef<Value> old) {
    Values arguments;
    for (auto [i, operand] : llvm::enumerate(op->getOperands().take_front(inputs))) {
      bool isTensor = isa<TensorType>(operand.getType());
      FailureOr<Value> value = isTensor ? e.load(e.buffer(operand), place(i)) : e.scalar(operand);
      hasFailed |= failed(value);
      arguments.push_back(succeeded(value) ? *value : Value());
    }
    llvm::append_range(arguments, old);
    FailureOr<Values> next = e.body(block, arguments, {at, terms});
    hasFailed |= failed(next);
    if (hasFailed)
      return Values(old);
    for (auto [value, before, sum] : llvm::zip(*next, old, isSum))
      value = sum ? e.add(before, e.convert(value, before.getType())) : value;
    return *next;
  }

  linalg::LinalgOp op;
  Emitter &e;
  Block &block;
  SmallVector<AffineMap> maps;
  unsigned inputs;
  SmallVector<unsigned> outer, reduced; // loops
  SmallVector<bool> isSum;
  llvm::DenseMap<Operation *, Value> terms;
  Indices at, sizes; // in and of all loops
  bool hasFailed = false;
};

} // namespace

LogicalResult emitGeneric(linalg::LinalgOp op, Emitter &e) { return GenericLoops(op, e).emit(); }

} // namespace tw::target::reference
