// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-form-dispatches and tw-form-plain-dispatches (Passes.td).
#include "Dispatch/Groups.h"
#include "Dispatch/Passes.h"
#include "Graph/Rows.h"
#include "Graph/Sizes.h"
#include "IR/Coded.h"
#include "IR/DistinctKernels.h"
#include "IR/Graph/Values.h"
#include "IR/ModelLocation.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_FORMDISPATCHES
#define GEN_PASS_DEF_FORMPLAINDISPATCHES
#include "Dispatch/Passes.h.inc"

namespace {

/// Builds the kernel of one group.
class KernelBuilder {
public:
  KernelBuilder(const Group &group, SymbolTable &symbols, DistinctKernels &known, bool hasValues)
      : group(group), symbols(symbols), known(known), hasValues(hasValues) {}

  void build() {
    collectMembers();
    collectEscaping();
    createFunction();
    replaceByDispatch();
  }

private:
  bool isMember(Operation *op) const { return op && members.contains(op); }

  /// Movable into a kernel because it costs nothing there.
  static bool isCloned(Operation *op) {
    return op &&
           (isa<tensor::EmptyOp, tensor::ExtractSliceOp>(op) ||
            op->hasTrait<OpTrait::ConstantLike>()) &&
           !isa<graph::WeightOp>(op);
  }

  /// The group's operations and, before them, what is cloned for them, transitively.
  void collectMembers() {
    for (Operation *op : group.ops)
      members.insert(op);
    for (Operation *op : group.ops)
      addOutside(op);
  }

  void addOutside(Operation *op) {
    auto visit = [&](Value value) {
      Operation *def = value.getDefiningOp();
      if (isMember(def) || clones.contains(def))
        return;
      if (isCloned(def)) {
        addOutside(def);
        clones.insert(def);
      } else {
        inputs.insert(value);
      }
    };
    llvm::for_each(op->getOperands(), visit);
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::for_each(captured, visit);
  }

  /// Results that somebody outside reads. A reshape that leaves is done outside, on its source.
  void collectEscaping() {
    for (Operation *op : group.ops)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return leaves(user); }))
          escaping.insert(result);
    for (Value value : llvm::to_vector(escaping))
      if (Operation *op = value.getDefiningOp(); isView(op))
        moveOutside(op);
  }

  bool leaves(Operation *user) const {
    Operation *top = group.ops.front()->getBlock()->findAncestorOpInBlock(*user);
    return !isMember(top);
  }

  /// Outside users of the view `op` get a clone of it; its source leaves instead.
  void moveOutside(Operation *op) {
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    Operation *outside = b.clone(*op);
    op->getResult(0).replaceUsesWithIf(outside->getResult(0),
                                       [&](OpOperand &use) { return leaves(use.getOwner()); });
    escaping.remove(op->getResult(0));
    Value source = op->getOperand(0);
    if (!isMember(source.getDefiningOp()))
      return;
    escaping.insert(source);
    if (isView(source.getDefiningOp()))
      moveOutside(source.getDefiningOp());
  }

  void createFunction() {
    Operation *last = group.ops.back();
    SmallVector<Type> types(llvm::map_range(inputs, [](Value v) { return v.getType(); }));
    SmallVector<Type> results(llvm::map_range(escaping, [](Value v) { return v.getType(); }));
    types.append(results);
    OpBuilder b(last->getContext());
    Location loc = fusedLoc(b);
    kernel = func::FuncOp::create(loc, "kernel", b.getFunctionType(types, results));
    kernel.setPrivate();
    kernel->setAttr("tw.kernel", b.getUnitAttr());
    Block *entry = kernel.addEntryBlock();
    b.setInsertionPointToStart(entry);
    IRMapping map;
    for (auto [value, argument] : llvm::zip(inputs, entry->getArguments()))
      map.map(value, argument);
    for (Operation *op : clones)
      if (!isa<tensor::EmptyOp>(op))
        graph::setValues(b.clone(*op, map), {}); // its number is not the function's
    cloneMembers(b, map);
    SmallVector<Value> returned;
    for (Value value : escaping)
      returned.push_back(map.lookup(value));
    func::ReturnOp::create(b, loc, returned);
    useDestinations(entry);
  }

  void cloneMembers(OpBuilder &b, IRMapping &map) {
    for (Operation *op : group.ops) {
      // Every operation gets empty tensors of its own, so that each can have its own storage. Its
      // body may look elements up in one too, where a tensor has none.
      SetVector<Value> read(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), read);
      for (Value value : read)
        if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
          map.map(value, b.clone(*empty, map)->getResult(0));
      numberInside(op, b.clone(*op, map));
    }
  }

  /// The numbers of values are the calls'; the function, which may have several, has its own.
  void numberInside(Operation *op, Operation *clone) {
    if (!hasValues)
      return;
    SmallVector<graph::ValueAttr> own;
    for (OpResult result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type)
        continue;
      int64_t number = values++;
      own.push_back(graph::ValueAttr::get(op->getContext(), result.getResultNumber(), number, type,
                                          ArrayRef<int64_t>(), ArrayRef<int64_t>()));
      for (graph::ValueAttr value : graph::valuesOf(result))
        inner.push_back(graph::ValueAttr::get(op->getContext(), number, value.getNumber(),
                                              value.getType(), value.getOrder(), value.getPart()));
    }
    graph::setValues(clone, own);
  }

  /// The chain of inits behind each result ends in an empty tensor; the destination takes its
  /// place.
  void useDestinations(Block *entry) {
    auto ret = cast<func::ReturnOp>(entry->getTerminator());
    for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
      BlockArgument destination = entry->getArgument(inputs.size() + i);
      Value root = value;
      while (auto op = root.getDefiningOp<DestinationStyleOpInterface>())
        root = op.getTiedOpOperand(cast<OpResult>(root))->get();
      if (auto empty = root.getDefiningOp<tensor::EmptyOp>(); empty && empty->hasOneUse()) {
        empty.getResult().replaceAllUsesWith(destination);
        empty.erase();
      }
    }
  }

  void replaceByDispatch() {
    Operation *last = group.ops.back();
    OpBuilder b(last);
    SmallVector<Value> outs;
    SmallVector<Type> results;
    for (Value value : escaping) {
      auto type = cast<RankedTensorType>(value.getType());
      outs.push_back(tensor::EmptyOp::create(b, last->getLoc(), resolvedSizes(value, b),
                                             type.getElementType()));
      results.push_back(type);
    }
    func::FuncOp shared = uniqued();
    auto dispatch =
        graph::DispatchOp::create(b, shared == kernel ? kernel.getLoc() : fusedLoc(b), results,
                                  shared.getName(), inputs.getArrayRef(), outs);
    graph::setValues(dispatch, inner, graph::innerName);
    for (auto [escaped, result] : llvm::zip(escaping, dispatch.getResults())) {
      Value value = escaped;
      graph::keepValues(value, result);
      value.replaceUsesWithIf(result, [&](OpOperand &use) {
        return use.getOwner() != dispatch && leaves(use.getOwner());
      });
    }
    for (Operation *op : llvm::reverse(group.ops))
      op->erase();
  }

  Location fusedLoc(OpBuilder &b) const {
    SmallVector<Location> locs;
    for (Operation *op : group.ops)
      if (!isa<tensor::EmptyOp, linalg::FillOp>(op)) // which operators far apart may share
        llvm::append_range(locs, operatorLocs(op));
    return locs.empty() ? group.ops.back()->getLoc() : b.getFusedLoc(locs);
  }

  /// The kernel, or an earlier one with the same body (then ours is dropped).
  func::FuncOp uniqued() {
    if (auto first = cast<func::FuncOp>(known.insert(kernel)); first != kernel) {
      kernel->erase();
      return first;
    }
    kernel.setName("k" + std::to_string(known.size() - 1));
    symbols.insert(kernel);
    return kernel;
  }

  const Group &group;
  SymbolTable &symbols;
  DistinctKernels &known;
  bool hasValues;                      // of the source, with numbers
  int64_t values = 0;                  // numbered inside so far
  SmallVector<graph::ValueAttr> inner; // which of the source they are
  llvm::SmallPtrSet<Operation *, 16> members;
  llvm::SetVector<Operation *> clones;
  llvm::SetVector<Value> inputs, escaping;
  func::FuncOp kernel;
};

/// The blocks of host-level code: of the function and of the control flow in it.
void collectBlocks(Region &region, SmallVector<Block *> &blocks) {
  for (Block &block : region) {
    blocks.push_back(&block);
    for (Operation &op : block)
      if (!isCompute(&op))
        for (Region &inner : op.getRegions())
          collectBlocks(inner, blocks);
  }
}

void formDispatches(ModuleOp module, Fusion fusion, const FusionLimits &limits) {
  SymbolTable symbols(module);
  bool hasValues = graph::hasValues(module);
  DistinctKernels known;
  SmallVector<Block *> blocks;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function->hasAttr("tw.kernel") && !function.isDeclaration())
      collectBlocks(function.getBody(), blocks);
  graph::Decisions decisions(module);
  for (Block *block : blocks) {
    for (const Group &group : formGroups(*block, fusion, limits, decisions))
      KernelBuilder(group, symbols, known, hasValues).build();
    sortTopologically(block);
  }
  decisions.store();
}

struct FormDispatches : impl::FormDispatchesBase<FormDispatches> {
  using Base::Base;
  void runOnOperation() override {
    formDispatches(getOperation(), Fusion::Full, {tinyElements, rowElements, rereadElements});
  }
};

struct FormPlainDispatches : impl::FormPlainDispatchesBase<FormPlainDispatches> {
  void runOnOperation() override { formDispatches(getOperation(), Fusion::DestinationsOnly, {}); }
};

} // namespace

} // namespace tw
