// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph/ConstantRegion.h"
#include "Graph/Rows.h"
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tw {
namespace {

constexpr int64_t alwaysSmall = 1 << 16; // elements that are stored without asking

bool isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || tensor.hasStaticShape();
}

/// A check of a position fails at compile time or never.
bool isEvaluable(Operation *op) {
  if (isMemoryEffectFree(op))
    return true;
  bool isAlways = op->getNumRegions() == 1;
  op->walk([&](Operation *inner) {
    isAlways &=
        inner->getNumRegions() > 0 || isa<graph::CheckIndexOp>(inner) || isMemoryEffectFree(inner);
  });
  return isAlways;
}

/// A computation, or a view of one; a filled tensor is cheaper to make than to load.
bool isComputed(Operation *op) {
  if (isa<linalg::FillOp>(op) || !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  if (isCompute(op) ||
      isa<graph::DispatchOp, tensor::PadOp, tensor::ConcatOp, tensor::GenerateOp>(op))
    return true;
  return isView(op) && isComputed(op->getOperand(0).getDefiningOp());
}

/// Elements of all weights and dense constants that `op` is computed from.
int64_t sourceElements(Operation *op) {
  SetVector<Operation *> slice;
  int64_t elements = 0;
  slice.insert(op);
  for (size_t i = 0; i < slice.size(); ++i) {
    if (isa<graph::WeightOp, arith::ConstantOp>(slice[i]) &&
        isa<RankedTensorType>(slice[i]->getResult(0).getType()))
      elements += rowElements(slice[i]->getResult(0), 0);
    for (Value operand : slice[i]->getOperands())
      if (Operation *def = operand.getDefiningOp())
        slice.insert(def);
  }
  return elements;
}

} // namespace

ConstantRegion::ConstantRegion(Block &block) {
  for (Operation &op : block)
    if (isConstant(&op))
      constant.insert(&op);
}

SmallVector<Value> ConstantRegion::frontier() const {
  SmallVector<Value> values;
  for (Operation *op : constant)
    for (Value result : op->getResults())
      if (isStored(result))
        values.push_back(result);
  return values;
}

bool ConstantRegion::isConstant(Operation *op) const {
  if (!isEvaluable(op) || op->hasTrait<OpTrait::IsTerminator>() ||
      !llvm::all_of(op->getResultTypes(), isStatic))
    return false;
  auto known = [&](Value value) {
    Operation *def = value.getDefiningOp();
    return def && constant.contains(def);
  };
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return llvm::all_of(op->getOperands(), known) && llvm::all_of(captured, known);
}

bool ConstantRegion::isStored(Value result) const {
  Operation *op = result.getDefiningOp();
  if (!isComputed(op) || !llvm::any_of(result.getUsers(), [&](Operation *user) {
        return !constant.contains(op->getBlock()->findAncestorOpInBlock(*user));
      }))
    return false;
  if (rowElements(result, 0) <= std::max(alwaysSmall, 2 * sourceElements(op)))
    return true;
  emitReport(op->getLoc()) << "not evaluated at compile time: the result is much larger than "
                              "what it is computed from";
  return false;
}

OwningOpRef<ModuleOp> outlineConstants(ArrayRef<Value> values, ModuleOp from) {
  Location loc = from.getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  SmallVector<Type> types(llvm::map_range(values, [](Value v) { return v.getType(); }));
  auto function = func::FuncOp::create(b, loc, "constants", b.getFunctionType({}, types));
  b.setInsertionPointToStart(function.addEntryBlock());
  SetVector<Operation *> needed;
  std::function<void(Value)> need = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || needed.contains(op))
      return;
    llvm::for_each(op->getOperands(), need);
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::for_each(captured, need);
    needed.insert(op);
  };
  llvm::for_each(values, need);
  IRMapping map;
  SetVector<Operation *> kernels;
  for (Operation *op : needed) {
    b.clone(*op, map);
    if (auto dispatch = dyn_cast<graph::DispatchOp>(op))
      kernels.insert(SymbolTable::lookupSymbolIn(from, dispatch.getKernelAttr()));
  }
  SmallVector<Value> results(llvm::map_range(values, [&](Value v) { return map.lookup(v); }));
  func::ReturnOp::create(b, loc, results);
  for (Operation *kernel : kernels)
    module->push_back(kernel->clone());
  for (unsigned i = 0; i < values.size(); ++i) {
    function.setResultAttr(i, "tw.name", b.getStringAttr("constant_" + Twine(i)));
    function.setResultAttr(i, "tw.role", b.getStringAttr("output"));
  }
  return module;
}

} // namespace tw
