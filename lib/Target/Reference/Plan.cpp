// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Reference/Plan.h"
#include "Graph/Rows.h"
#include "IR/Graph/Graph.h"
#include "Target/Reference/Contraction.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace tw::target::reference {
namespace {

constexpr int64_t dynamicGuess = 128;
/// Elements worth a box of rows: some ten microseconds of simple work.
constexpr int64_t boxWork = 8192;

Operation *viewSource(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isView(op) ? op : nullptr;
}

Value throughViews(Value value) {
  while (Operation *view = viewSource(value))
    value = view->getOperand(0);
  return value;
}

/// Views that keep every element: what they read can be the storage of what they give.
Value throughReshapes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

class Planner {
public:
  explicit Planner(func::FuncOp kernel) : kernel(kernel) {}

  Plan run() {
    plan.inputs = kernel.getNumArguments() - kernel.getNumResults();
    for (Operation &op : kernel.getBody().front().without_terminator())
      assignStorage(&op);
    bindOuts();
    plan.rows = rows();
    chooseBox();
    for (unsigned input = 0, tensors = 0; input < plan.inputs; ++input)
      if (isa<RankedTensorType>(kernel.getArgument(input).getType()))
        findInPlace(kernel.getArgument(input), tensors++);
    return std::move(plan);
  }

private:
  //===--- storage ---------------------------------------------------------===//

  unsigned fresh(Value value) {
    plan.storages.push_back({value, std::nullopt});
    return plan.storages.size() - 1;
  }

  /// The result takes its init's storage when nobody else wants that.
  void tie(Value result, OpOperand &init) {
    Value source = init.get();
    auto it = plan.storageOf.find(source);
    bool own = it != plan.storageOf.end() && source.hasOneUse();
    plan.storageOf[result] = own ? it->second : fresh(result);
    bool undefined = source.getDefiningOp<tensor::EmptyOp>() || isOutArgument(source);
    if (!own && !undefined)
      plan.copiedInits.insert(&init);
  }

  bool isOutArgument(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getArgNumber() >= plan.inputs;
  }

  void assignStorage(Operation *op) {
    if (isView(op) || isa<tensor::EmptyOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
      return;
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(op)) {
      for (OpResult result : op->getResults())
        tie(result, *dps.getTiedOpOperand(result));
      return;
    }
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        plan.storageOf[result] = fresh(result);
  }

  void bindOuts() {
    auto ret = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
    for (auto [out, value] : llvm::enumerate(ret.getOperands())) {
      auto it = plan.storageOf.find(throughReshapes(value));
      if (it != plan.storageOf.end() && !plan.storages[it->second].out)
        plan.storages[it->second].out = out;
      else
        plan.copies.push_back({value, unsigned(out)});
    }
  }

  //===--- rows ------------------------------------------------------------===//

  int64_t rows() {
    auto attribute = kernel->getAttrOfType<IntegerAttr>("tw.rows");
    int64_t rows = attribute ? attribute.getInt() : 0;
    SmallVector<int64_t> sizes;
    for (Operation &op : kernel.getBody().front().without_terminator()) {
      for (OpOperand &operand : op.getOpOperands())
        if (plan.isComputed(operand.get()))
          rows = std::min(rows, isCompute(&op) || isView(&op) ? sharedRows(operand) : 0);
      for (Value captured : capturedTensors(&op))
        rows = plan.isComputed(captured) ? 0 : rows;
      for (Value result : op.getResults())
        if (plan.storageOf.contains(result))
          rows = std::min(rows, agreeing(&op, cast<RankedTensorType>(result.getType()), sizes));
    }
    // What is copied at the end is copied as a whole.
    return sizes.empty() || !plan.copies.empty() ? 0 : rows;
  }

  /// How many leading sizes agree with those of the results before.
  static int64_t agreeing(Operation *op, RankedTensorType type, SmallVector<int64_t> &sizes) {
    if (!isCompute(op))
      return 0;
    int64_t prefix = std::min(rowPrefix(op), type.getRank());
    if (sizes.empty()) {
      sizes.assign(type.getShape().begin(), type.getShape().end());
      return prefix;
    }
    int64_t d = 0;
    while (d < prefix && d < int64_t(sizes.size()) &&
           (sizes[d] == type.getDimSize(d) || sizes[d] == ShapedType::kDynamic ||
            type.isDynamicDim(d)))
      ++d;
    return d;
  }

  //===--- boxes -----------------------------------------------------------===//

  RankedTensorType rowType() {
    for (Operation &op : kernel.getBody().front().without_terminator())
      for (Value result : op.getResults())
        if (plan.storageOf.contains(result))
          return cast<RankedTensorType>(result.getType());
    return {};
  }

  static int64_t estimate(RankedTensorType type, int64_t dim) {
    return type.isDynamicDim(dim) ? dynamicGuess : type.getDimSize(dim);
  }

  /// Steps of the largest operation for one row.
  int64_t workOfRow() {
    int64_t most = 1;
    for (Operation &op : kernel.getBody().front().without_terminator()) {
      int64_t rowCount = 1, work = 1;
      for (Value result : op.getResults())
        if (auto type = dyn_cast<RankedTensorType>(result.getType());
            type && type.getRank() >= plan.rows) {
          rowCount = 1;
          for (int64_t d = 0; d < plan.rows; ++d)
            rowCount *= std::max<int64_t>(1, estimate(type, d));
        }
      for (Value value :
           llvm::concat<Value>(llvm::to_vector(op.getOperands()), llvm::to_vector(op.getResults())))
        if (auto type = dyn_cast<RankedTensorType>(value.getType()))
          work = std::max(work, elements(type));
      most = std::max(most, work / rowCount);
    }
    return most;
  }

  static int64_t elements(RankedTensorType type) {
    int64_t count = 1;
    for (int64_t d = 0; d < type.getRank(); ++d)
      count = std::min<int64_t>(int64_t(1) << 40, count * std::max<int64_t>(1, estimate(type, d)));
    return count;
  }

  void chooseBox() {
    if (plan.rows == 0)
      return;
    RankedTensorType type = rowType();
    std::vector<int64_t> box(plan.rows, 1);
    for (Operation &op : kernel.getBody().front().without_terminator())
      preferredBox(&op, box);
    int64_t work = workOfRow();
    for (int64_t size : box)
      work *= size;
    for (int64_t d = plan.rows - 1; d >= 0 && work < boxWork; --d) {
      int64_t more = (boxWork + work - 1) / work, old = box[d];
      box[d] = type.isDynamicDim(d) ? box[d] * more
                                    : std::clamp<int64_t>(box[d] * more, 1, type.getDimSize(d));
      box[d] = std::max<int64_t>(box[d], 1);
      work = work / old * box[d];
    }
    for (auto [d, size] : llvm::enumerate(box))
      plan.box.push_back(!type.isDynamicDim(d) && size >= type.getDimSize(d)
                             ? std::nullopt
                             : std::optional<int64_t>(size));
  }

  //===--- in place --------------------------------------------------------===//

  void findInPlace(BlockArgument input, unsigned number) {
    for (auto [index, storage] : llvm::enumerate(plan.storages))
      if (storage.out && storage.value.getType() == input.getType() &&
          kernel.getResultTypes()[*storage.out] == input.getType() &&
          readBeforeWritten(input, index))
        plan.inPlace.push_back({number, *storage.out});
  }

  bool readBeforeWritten(BlockArgument input, unsigned storage) {
    Operation *firstWriter = nullptr;
    for (Operation &op : kernel.getBody().front().without_terminator())
      for (Value result : op.getResults())
        if (auto it = plan.storageOf.find(result);
            !firstWriter && it != plan.storageOf.end() && it->second == storage)
          firstWriter = &op;
    return llvm::all_of(input.getUses(), [&](OpOperand &use) {
      auto linalg = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!linalg || !linalg.isDpsInput(&use) || sharedRows(use) < plan.rows)
        return false;
      if (use.getOwner() != firstWriter)
        return use.getOwner()->isBeforeInBlock(firstWriter);
      return linalg.getNumReductionLoops() == 0 && linalg.getNumDpsInits() == 1 &&
             linalg.getMatchingIndexingMap(&use).isIdentity() &&
             linalg.getIndexingMapsArray().back().isIdentity();
    });
  }

  func::FuncOp kernel;
  Plan plan;
};

} // namespace

bool Plan::isComputed(Value value) const { return storageOf.contains(throughViews(value)); }

Plan makePlan(func::FuncOp kernel) { return Planner(kernel).run(); }

} // namespace tw::target::reference
