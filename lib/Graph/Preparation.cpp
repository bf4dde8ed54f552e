// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph/Preparation.h"
#include "IR/Graph/CallWeights.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tw {

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;)
    strides[d - 1] = strides[d] * sizes[d];
  return strides;
}

/// Whether all of a storage of `elements` elements is read in its order.
static bool isReadAsItLies(graph::WeightAttr weight, RankedTensorType type, int64_t elements) {
  if (weight.getStart() != 0 || type.getNumElements() != elements)
    return false;
  SmallVector<int64_t> dense = rowMajor(type.getShape());
  for (auto [size, stride, expected] : llvm::zip(type.getShape(), weight.getStrides(), dense))
    if (size != 1 && stride != expected)
      return false;
  return true;
}

/// All dimensions of a tensor of a known rank in one group.
static SmallVector<ReassociationIndices> oneGroup(int64_t rank) {
  if (rank == 0)
    return {};
  return {llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))};
}

/// `tensor` with the same elements in the same order and the sizes of `type`.
static Value reshaped(OpBuilder &b, Value tensor, RankedTensorType type) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from == type)
    return tensor;
  RankedTensorType flat = type.clone({type.getNumElements()});
  if (from.getRank() == 0)
    tensor = tensor::ExpandShapeOp::create(b, tensor.getLoc(), flat, tensor,
                                           ArrayRef<ReassociationIndices>());
  else if (from.getRank() > 1)
    tensor =
        tensor::CollapseShapeOp::create(b, tensor.getLoc(), flat, tensor, oneGroup(from.getRank()));
  if (type.getRank() == 1)
    return tensor;
  if (type.getRank() == 0)
    return tensor::CollapseShapeOp::create(b, tensor.getLoc(), type, tensor,
                                           ArrayRef<ReassociationIndices>());
  return tensor::ExpandShapeOp::create(b, tensor.getLoc(), type, tensor, oneGroup(type.getRank()));
}

/// The elements of `storage` that `weight` names, as a tensor of their own.
static Value gathered(OpBuilder &b, Value storage, graph::WeightAttr weight,
                      RankedTensorType type) {
  Location loc = storage.getLoc();
  auto from = cast<RankedTensorType>(storage.getType());
  Value flat = reshaped(b, storage, from.clone({from.getNumElements()}));
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps = {b.getMultiDimIdentityMap(unsigned(type.getRank()))};
  SmallVector<utils::IteratorType> loops(size_t(type.getRank()), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location loc, ValueRange) {
    Value place = arith::ConstantIndexOp::create(b, loc, weight.getStart());
    for (auto [d, stride] : llvm::enumerate(weight.getStrides())) {
      Value index = linalg::IndexOp::create(b, loc, int64_t(d));
      Value step = arith::ConstantIndexOp::create(b, loc, stride);
      place = arith::AddIOp::create(b, loc, place, arith::MulIOp::create(b, loc, index, step));
    }
    Value element = tensor::ExtractOp::create(b, loc, flat, place);
    linalg::YieldOp::create(b, loc, element);
  };
  return linalg::GenericOp::create(b, loc, type, ValueRange(), empty, maps, loops, body)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

static void nameArgument(func::FuncOp function, StringAttr name) {
  Builder b(function.getContext());
  unsigned last = function.getNumArguments() - 1;
  function.setArgAttr(last, "tw.name", name);
  function.setArgAttr(last, "tw.role", b.getStringAttr("input"));
}

static Value addArgument(func::FuncOp function, StringAttr name, RankedTensorType type) {
  Builder b(function.getContext());
  (void)function.insertArgument(function.getNumArguments(), type, b.getDictionaryAttr({}),
                                function.getLoc());
  nameArgument(function, name);
  return function.getArguments().back();
}

Preparation::Preparation(ModuleOp imported, ConstantEvaluator &known) : known(known) {
  imported.walk([&](graph::WeightOp op) {
    graph::WeightAttr weight = op.getSource();
    if (weight.getFile().getValue() == graph::givenWeight)
      given[weight.getOffset()] = {weight.getName(), cast<RankedTensorType>(op.getType())};
  });
  module = ModuleOp::create(imported.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  function = func::FuncOp::create(b, imported.getLoc(), "main", b.getFunctionType({}, {}));
  function.addEntryBlock();
}

/// Puts the kernels of `from` beside those of `into`, under other names where theirs are taken.
static void takeKernels(ModuleOp from, ModuleOp into) {
  SymbolTable symbols(into), theirs(from);
  for (Operation &op : llvm::make_early_inc_range(*from.getBody())) {
    if (op.getNumRegions() == 0 || SymbolTable::getSymbolName(&op).getValue() == "constants")
      continue;
    if (symbols.lookup(SymbolTable::getSymbolName(&op)))
      (void)theirs.renameToUnique(&op, {&symbols});
    theirs.remove(&op);
    op.remove();
    symbols.insert(&op);
  }
}

/// Whether it computes with weights that calls give.
static bool readsGivenWeights(ModuleOp module) {
  return module
      .walk([](graph::WeightOp op) {
        return graph::isGivenByCalls(op.getSource()) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

FailureOr<SmallVector<graph::WeightAttr>> Preparation::evaluate(OwningOpRef<ModuleOp> part) {
  if (!readsGivenWeights(*part))
    return known.evaluate(std::move(part));
  takeKernels(*part, *module);
  auto computed = part->lookupSymbol<func::FuncOp>("constants");
  IRMapping map;
  OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
  for (Operation &op : computed.getBody().front().without_terminator())
    b.clone(op, map);
  SmallVector<graph::WeightAttr> weights;
  for (Value result : computed.getBody().front().getTerminator()->getOperands()) {
    auto type = cast<RankedTensorType>(result.getType());
    int64_t bits = type.getElementTypeBitWidth(), number = int64_t(values.size());
    weights.push_back(graph::WeightAttr::get(
        b.getContext(), b.getStringAttr("prepared." + Twine(number)),
        b.getStringAttr(graph::preparedWeight), number, type.getNumElements() * ((bits + 7) / 8), 0,
        rowMajor(type.getShape())));
    values.push_back(map.lookup(result));
  }
  return weights;
}

//===----------------------------------------------------------------------===//
// Taking
//===----------------------------------------------------------------------===//

Value Preparation::givenArgument(func::FuncOp of, llvm::DenseMap<int64_t, Value> &known,
                                 int64_t number) {
  Value &argument = known[number];
  if (!argument)
    argument = addArgument(of, given.at(number).name, given.at(number).type);
  return argument;
}

/// In the preparation: the storage of a weight.
Value Preparation::source(graph::WeightAttr weight) {
  if (weight.getFile().getValue() == graph::preparedWeight)
    return values[size_t(weight.getOffset())];
  return givenArgument(function, taken, weight.getOffset());
}

/// In the preparation: a weight.
Value Preparation::read(OpBuilder &b, Read what) {
  auto [weight, type] = what;
  Value storage = source(weight);
  int64_t elements = cast<RankedTensorType>(storage.getType()).getNumElements();
  return isReadAsItLies(weight, type, elements) ? reshaped(b, storage, type)
                                                : gathered(b, storage, weight, type);
}

/// Whether the program reads a weight from the memory that it is given in.
bool Preparation::isReadDirectly(Read what) const {
  auto [weight, type] = what;
  return weight.getFile().getValue() == graph::givenWeight &&
         isReadAsItLies(weight, type, given.at(weight.getOffset()).type.getNumElements());
}

/// In the program: a weight, at the insertion point.
Value Preparation::programArgument(OpBuilder &b, func::FuncOp program, Read what) {
  auto [weight, type] = what;
  if (isReadDirectly(what))
    return reshaped(b, givenArgument(program, direct, weight.getOffset()), type);
  Value &argument = prepared[what];
  if (!argument)
    argument =
        addArgument(program, b.getStringAttr("prepared." + Twine(prepared.size() - 1)), type);
  return argument;
}

static SmallVector<graph::WeightOp> weightsOfCalls(func::FuncOp function) {
  SmallVector<graph::WeightOp> found;
  function.walk([&](graph::WeightOp op) {
    if (graph::isGivenByCalls(op.getSource()))
      found.push_back(op);
  });
  return found;
}

/// The results that the program asks for.
void Preparation::finish() {
  OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
  for (graph::WeightOp op : weightsOfCalls(function)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    op.replaceAllUsesWith(read(b, {op.getSource(), cast<RankedTensorType>(op.getType())}));
    op.erase();
  }
  SmallVector<Value> results;
  for (auto &[what, argument] : prepared)
    results.push_back(read(b, what));
  func::ReturnOp::create(b, function.getLoc(), results);
  SmallVector<Type> types(ValueRange(results).getTypes());
  function.setFunctionType(b.getFunctionType(function.getArgumentTypes(), types));
  for (unsigned i = 0; i < results.size(); ++i) {
    function.setResultAttr(i, "tw.name", b.getStringAttr("prepared." + Twine(i)));
    function.setResultAttr(i, "tw.role", b.getStringAttr("output"));
  }
}

OwningOpRef<ModuleOp> Preparation::take(ModuleOp program) {
  auto main = program.lookupSymbol<func::FuncOp>("main");
  // What is prepared comes behind what is read as it lies.
  SmallVector<graph::WeightOp> weights = weightsOfCalls(main);
  for (bool isDirect : {true, false})
    for (graph::WeightOp &op : weights) {
      if (!op)
        continue;
      Read what = {op.getSource(), cast<RankedTensorType>(op.getType())};
      if (isReadDirectly(what) != isDirect)
        continue;
      OpBuilder b(op);
      op.replaceAllUsesWith(programArgument(b, main, what));
      op.erase();
      op = {};
    }
  finish();
  return std::move(module);
}

} // namespace tw
