// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-merge-products (Passes.td).
#include "Graph/Passes.h"
#include "Graph/Rows.h"
#include "Graph/Sizes.h"
#include "IR/Coded.h"
#include "IR/Graph/Contraction.h"
#include "IR/Graph/Decisions.h"
#include "IR/Graph/Mutations.h"
#include "IR/Graph/Values.h"
#include "IR/ModelLocation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_MERGEPRODUCTS
#include "Graph/Passes.h.inc"

namespace {

/// Nothing where `map` has no axis that is exactly the loop; -1 where it uses the loop otherwise.
std::optional<int64_t> axisOf(AffineMap map, unsigned loop) {
  if (!map.isFunctionOfDim(loop))
    return std::nullopt;
  auto axis = map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
  return axis && map.isProjectedPermutation() ? int64_t(*axis) : -1;
}

/// An operation that can run along a loop that is longer: over the columns of several weights.
struct Stage {
  linalg::GenericOp op;
  unsigned loop;                 // over the columns
  OpOperand *previous = nullptr; // what reads the result of the stage before

  AffineMap map(OpOperand &operand) { return op.getMatchingIndexingMap(&operand); }
  OpOperand &init() { return *op.getDpsInitOperand(0); }
  int64_t resultAxis() { return *axisOf(map(init()), loop); }
  Value result() { return op->getResult(0); }
};

/// The value that a destination is filled with; null where it is not read. Nothing: neither.
std::optional<Value> filledWith(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return fill.getInputs()[0];
  return init.getDefiningOp<tensor::EmptyOp>() ? std::optional(Value()) : std::nullopt;
}

/// Why `stage` cannot run along more columns; null: it can.
const char *whyNotWider(Stage stage) {
  if (stage.op->getNumResults() != 1 || stage.op.hasIndexSemantics() ||
      !capturedTensors(stage.op).empty())
    return "its elements depend on where they are";
  if (!filledWith(stage.init().get()))
    return "it updates another tensor";
  if (axisOf(stage.map(stage.init()), stage.loop).value_or(-1) < 0)
    return "its columns are no dimension of the result";
  for (OpOperand *operand : stage.op.getDpsInputOperands()) {
    auto axis = axisOf(stage.map(*operand), stage.loop);
    if (!axis || operand == stage.previous)
      continue;
    if (*axis < 0 || !operand->get().getDefiningOp<graph::WeightOp>())
      return "it reads another tensor by columns";
  }
  return nullptr;
}

/// The parallel loop over the columns of the one weight that a product reads.
std::optional<unsigned> columnsOf(linalg::GenericOp op) {
  if (!graph::matchContraction(op) || op.getNumDpsInputs() != 2)
    return std::nullopt;
  bool isFirst = op.getInputs()[0].getDefiningOp<graph::WeightOp>() != nullptr;
  AffineMap weight = op.getIndexingMapsArray()[isFirst ? 0 : 1],
            other = op.getIndexingMapsArray()[isFirst ? 1 : 0];
  if (!op.getInputs()[isFirst ? 0 : 1].getDefiningOp<graph::WeightOp>() ||
      op.getInputs()[isFirst ? 1 : 0].getDefiningOp<graph::WeightOp>())
    return std::nullopt;
  std::optional<unsigned> columns;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel && weight.isFunctionOfDim(loop) &&
        !other.isFunctionOfDim(loop)) {
      if (columns)
        return std::nullopt;
      columns = loop;
    }
  return columns;
}

/// A product and the elementwise operations on its result alone, one after the other.
class Chain {
public:
  explicit Chain(Stage product) : stages{product} {
    why = whyNotWider(product);
    while (!why && follow()) {
    }
    if (!why)
      why = whyNotCut(result());
  }

  Value result() { return stages.back().result(); }

  /// Why it stays as it is; null: it may run with others.
  const char *why = nullptr;
  SmallVector<Stage, 2> stages;

private:
  /// The operand of an elementwise operation that reads `value` element by element.
  static OpOperand *elementwiseUse(OpOperand &use) {
    auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!user || user.getNumReductionLoops() > 0 || user.getNumDpsInits() != 1 ||
        !user.isDpsInput(&use))
      return nullptr;
    AffineMap read = user.getMatchingIndexingMap(&use);
    bool isInPlace =
        read.isPermutation() && read == user.getMatchingIndexingMap(user.getDpsInitOperand(0));
    return isInPlace ? &use : nullptr;
  }

  /// Goes on to the one elementwise reader of the result. False: there is none, or `why` it is in
  /// the way.
  bool follow() {
    Stage last = stages.back();
    OpOperand *use =
        last.result().hasOneUse() ? elementwiseUse(*last.result().use_begin()) : nullptr;
    if (!use)
      return false;
    auto op = cast<linalg::GenericOp>(use->getOwner());
    AffineExpr expr = op.getMatchingIndexingMap(use).getResult(last.resultAxis());
    Stage next{op, cast<AffineDimExpr>(expr).getPosition(), use};
    why = whyNotWider(next);
    stages.push_back(next);
    return !why;
  }

  /// Why nobody may read the tensor as a part of a larger one; null: everybody may.
  static const char *whyNotCut(Value tensor) {
    for (OpOperand &use : tensor.getUses()) {
      Operation *user = use.getOwner();
      if (graph::isRename(user)) {
        if (const char *why = whyNotCut(user->getResult(0)))
          return why;
      } else if (elementwiseUse(use)) {
        return "what reads it element by element belongs into its kernel";
      } else if (user->getBlock() != tensor.getParentBlock() ||
                 !isa<linalg::LinalgOp, graph::AttentionInterface, tensor::ExtractSliceOp,
                      tensor::DimOp>(user)) {
        return "what reads it needs it as a tensor of its own";
      }
    }
    return nullptr;
  }
};

/// Whether both stages compute the same of tensors that are the same, or differ in their columns.
bool areAlike(Stage a, Stage b) {
  if (a.loop != b.loop || a.op.getIndexingMaps() != b.op.getIndexingMaps() ||
      a.op.getIteratorTypes() != b.op.getIteratorTypes() ||
      a.op->getNumOperands() != b.op->getNumOperands() ||
      !OperationEquivalence::isRegionEquivalentTo(&a.op.getRegion(), &b.op.getRegion(),
                                                  OperationEquivalence::IgnoreLocations) ||
      filledWith(a.init().get()) != filledWith(b.init().get()))
    return false;
  auto areOperandsAlike = [&](OpOperand &of, OpOperand &other) {
    auto axis = axisOf(a.map(of), a.loop);
    if (!axis)
      return of.get() == other.get();
    auto type = cast<RankedTensorType>(of.get().getType()),
         second = cast<RankedTensorType>(other.get().getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[*axis] = second.getDimSize(*axis);
    return type.clone(shape) == second && !second.isDynamicDim(*axis) && !type.isDynamicDim(*axis);
  };
  return llvm::all_of(llvm::zip(a.op->getOpOperands(), b.op->getOpOperands()), [&](auto pair) {
    return areOperandsAlike(std::get<0>(pair), std::get<1>(pair));
  });
}

bool areAlike(Chain &a, Chain &b) {
  return a.stages.size() == b.stages.size() &&
         llvm::all_of(llvm::zip(a.stages, b.stages),
                      [](auto pair) { return areAlike(std::get<0>(pair), std::get<1>(pair)); });
}

/// Makes one chain of several that are alike.
class Merger {
public:
  explicit Merger(ArrayRef<Chain> chains) : chains(chains), b(chains.front().stages.front().op) {}

  void run() {
    Value result;
    for (unsigned number = 0; number < chains.front().stages.size(); ++number)
      result = merge(number, result);
    cut(result);
    for (unsigned number = chains.front().stages.size(); number-- > 0;)
      for (const Chain &chain : chains)
        chain.stages[number].op->erase();
  }

private:
  Value merge(unsigned number, Value previous) {
    SmallVector<Stage> parts;
    SmallVector<Location> locations;
    for (const Chain &chain : chains) {
      parts.push_back(chain.stages[number]);
      locations.push_back(parts.back().op.getLoc());
    }
    Stage first = parts.front();
    Location loc = b.getFusedLoc(locations);
    SmallVector<Value> inputs;
    for (OpOperand *operand : first.op.getDpsInputOperands())
      inputs.push_back(operand == first.previous ? previous
                                                 : side(loc, parts, operand->getOperandNumber()));
    Value init = destination(loc, parts);
    auto made = linalg::GenericOp::create(b, loc, init.getType(), inputs, init,
                                          first.op.getIndexingMapsArray(),
                                          first.op.getIteratorTypesArray());
    made.getRegion().takeBody(first.op.getRegion());
    int64_t begin = 0;
    for (Stage part : parts) {
      graph::keepPart(part.result(), made.getResult(0), part.resultAxis(), begin);
      begin += cast<RankedTensorType>(part.result().getType()).getDimSize(part.resultAxis());
    }
    return made.getResult(0);
  }

  /// Operand `number` of all parts side by side.
  Value side(Location loc, ArrayRef<Stage> parts, unsigned number) {
    Stage first = parts.front();
    auto axis = axisOf(first.map(first.op->getOpOperand(number)), first.loop);
    if (!axis)
      return first.op->getOperand(number);
    SmallVector<Value> weights;
    for (Stage part : parts) {
      weights.push_back(part.op->getOperand(number));
      // Weights depend on nothing; a later one comes before what reads all of them.
      weights.back().getDefiningOp()->moveBefore(&b.getInsertionBlock()->front());
    }
    return tensor::ConcatOp::create(b, loc, *axis, weights);
  }

  Value destination(Location loc, ArrayRef<Stage> parts) {
    Stage first = parts.front();
    int64_t axis = first.resultAxis(), columns = 0;
    for (Stage part : parts)
      columns += cast<RankedTensorType>(part.result().getType()).getDimSize(axis);
    SmallVector<OpFoldResult> sizes = resolvedSizes(first.init().get(), b);
    sizes[axis] = b.getIndexAttr(columns);
    Value empty = tensor::EmptyOp::create(b, loc, sizes, getElementTypeOrSelf(first.result()));
    Value fill = *filledWith(first.init().get());
    return fill ? linalg::FillOp::create(b, loc, fill, empty).getResult(0) : empty;
  }

  void cut(Value whole) {
    int64_t offset = 0;
    for (Chain chain : chains) {
      Stage last = chain.stages.back();
      auto type = cast<RankedTensorType>(last.result().getType());
      SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
          strides(type.getRank(), b.getIndexAttr(1)), sizes = resolvedSizes(whole, b);
      offsets[last.resultAxis()] = b.getIndexAttr(offset);
      offset += type.getDimSize(last.resultAxis());
      sizes[last.resultAxis()] = b.getIndexAttr(type.getDimSize(last.resultAxis()));
      Value part =
          tensor::ExtractSliceOp::create(b, last.op.getLoc(), type, whole, offsets, sizes, strides);
      last.result().replaceAllUsesWith(part);
    }
  }

  ArrayRef<Chain> chains;
  OpBuilder b;
};

struct MergeProducts : impl::MergeProductsBase<MergeProducts> {
  void runOnOperation() override {
    graph::Decisions decisions(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        for (SmallVector<Chain> &chains : alike(block))
          if (isTaken(chains, decisions))
            Merger(chains).run();
    decisions.store();
  }

  /// The products of the block that read the same tensor, as lists of those that are alike.
  static std::vector<SmallVector<Chain>> alike(Block &block) {
    std::vector<SmallVector<Chain>> lists;
    llvm::MapVector<Value, SmallVector<unsigned>> listsOf; // by what is multiplied
    for (auto op : block.getOps<linalg::GenericOp>()) {
      auto columns = columnsOf(op);
      if (!columns)
        continue;
      bool isFirst = op.getInputs()[0].getDefiningOp<graph::WeightOp>() != nullptr;
      Chain chain({op, *columns});
      SmallVector<unsigned> &known = listsOf[op.getInputs()[isFirst ? 1 : 0]];
      auto found =
          llvm::find_if(known, [&](unsigned list) { return areAlike(lists[list].front(), chain); });
      if (found == known.end()) {
        known.push_back(lists.size());
        lists.emplace_back();
        found = std::prev(known.end());
      }
      lists[*found].push_back(std::move(chain));
    }
    return lists;
  }

  static bool isTaken(ArrayRef<Chain> chains, graph::Decisions &decisions) {
    if (chains.size() < 2)
      return false;
    SmallVector<Location> operators;
    const char *why = nullptr;
    for (Chain chain : chains) {
      operators.push_back(chain.stages.front().op.getLoc());
      why = why ? why : chain.why;
    }
    if (!why && !decisions.wanted(graph::DecisionKind::Merge, operators).value_or(true))
      why = graph::unwanted;
    decisions.note(graph::DecisionKind::Merge, operators, !why, why ? why : "");
    auto report = emitReport(operators.front());
    report << (why ? "not merged with" : "merged with");
    for (Location other : ArrayRef(operators).drop_front())
      report << nodeSuffix(other);
    if (why)
      report << ": " << why;
    return !why;
  }
};

} // namespace

} // namespace tw
