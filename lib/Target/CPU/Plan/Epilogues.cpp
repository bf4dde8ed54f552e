// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Plan/Epilogues.h"
#include "IR/Tile/Elementwise.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Blocks of a product in tile registers are 2 x 2 of these.
constexpr int64_t tileRows = 16;

class StoreMover {
public:
  StoreMover(Scene &scene, std::vector<Step> &steps, Step &store)
      : scene(scene), steps(steps), store(store), detail(std::get<StoreStep>(store.detail)) {}

  bool run() {
    DotStep *dot = findProduct();
    if (!dot || dot->form != DotStep::Form::Tiles || !storesSums())
      return false;
    dot->noEpilogue = obstacle(*dot);
    if (!dot->noEpilogue.empty())
      return false;
    dot->sums = names;
    dot->epilogue.push_back(std::move(store));
    return true;
  }

private:
  /// The plan of the product that is the last step before the store, or the last one in the loops
  /// that are this step.
  DotStep *findProduct() {
    if (steps.empty())
      return nullptr;
    Step *last = &steps.back();
    while (auto *loop = std::get_if<LoopStep>(&last->detail)) {
      loops.push_back(loop);
      VersionPlan &body = loop->blocks.front().versions.front();
      if (body.steps.empty())
        return nullptr;
      last = &body.steps.back();
    }
    product = dyn_cast<tile::DotOp>(last->op);
    return product ? std::get_if<DotStep>(&last->detail) : nullptr;
  }

  /// Finds the names of the sums on their way out of the loops; false where they do not leave these
  /// as they are.
  bool nameSums() {
    names = {product.getResult()};
    for (Operation *around = product->getParentOp(); names.size() <= loops.size();
         around = around->getParentOp()) {
      auto loop = cast<tile::ForOp>(around);
      auto yielded = loop.getBody().front().getTerminator()->getOperands();
      auto found = llvm::find(yielded, names.back());
      if (found == yielded.end())
        return false;
      names.push_back(loop.getResult(found - yielded.begin()));
    }
    return true;
  }

  /// Whether what is stored is made of the sums.
  bool storesSums() {
    return nameSums() &&
           llvm::any_of(detail.group, [&](tile::StoreOp op) { return readsSums(op.getTile()); });
  }

  bool readsSums(Value tile) {
    return tile == names.back() || anyInBackwardSlice(tile, scene.placed(), [&](Operation *behind) {
             return llvm::is_contained(behind->getOperands(), names.back());
           });
  }

  StringRef obstacle(const DotStep &dot) {
    if (product.getType().getDimSize(0) <= 2 * tileRows)
      return "all rows are one";
    if (StringRef why = obstacleOfLoops(dot); !why.empty())
      return why;
    if (StringRef why = obstacleOfStore(); !why.empty())
      return why;
    if (!llvm::all_of(detail.group, [&](tile::StoreOp op) { return isElementwise(op.getTile()); }))
      return "an element that is stored needs another one's sum";
    return readsWhatComesLater() ? "what is stored needs more than these sums" : "";
  }

  StringRef obstacleOfLoops(const DotStep &dot) {
    if (!loops.empty() && !dot.updatesAccumulator)
      return "each trip has its own sums";
    for (LoopStep *loop : loops) {
      BlockPlan &body = loop->blocks.front();
      if (body.versions.size() > 1)
        return "trips of the loop differ";
      if (llvm::any_of(body.versions.front().results,
                       [](const HandedOver &one) { return one.move || one.copy; }))
        return "sums are copied on their way";
    }
    if (loops.empty())
      return "";
    Operation *outermost = names.back().getDefiningOp();
    for (Operation *loop = product->getParentOp(); loop != outermost->getParentOp();
         loop = loop->getParentOp())
      if (cast<tile::ForOp>(loop).constantTripCount().value_or(0) == 0)
        return "there may be no trip";
    return accessesOutputs(outermost) ? "the loop accesses what is stored to" : "";
  }

  /// Whether `loop` writes to any buffer, or reads one that the store writes to.
  bool accessesOutputs(Operation *loop) {
    return loop
        ->walk([&](Operation *op) {
          bool reads = llvm::any_of(detail.group, [&](tile::StoreOp one) {
            return llvm::is_contained(op->getOperands(), one.getBuffer());
          });
          bool interrupt = reads || isa<tile::StoreOp, tile::ScatterOp>(op);
          return interrupt ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  StringRef obstacleOfStore() {
    using Form = StoreStep::Form;
    if (detail.form != Form::Single && detail.form != Form::Group)
      return "the store has a form of its own";
    const Strips &strips = store.strips;
    if (strips.lane != 1 || strips.lanes == 1 || tileRows % strips.lanes != 0 ||
        !strips.cuts.empty())
      return "the store does not go through rows in vectors";
    if (!store.before.empty())
      return "the store wants tiles in scratch memory";
    if (!detail.limited.empty())
      return "the store may end outside its buffer";
    for (tile::StoreOp op : detail.group)
      if (op.getUpdate() || op.getMask() ||
          llvm::any_of(op.getPositions().getTypes(), llvm::IsaPred<RankedTensorType>))
        return "the store is not plain";
    return "";
  }

  /// Whether all ways from `tile` back to the sums keep each element where it is.
  bool isElementwise(Value tile) {
    SmallVector<Value> rest = {tile};
    llvm::DenseSet<Value> seen;
    while (!rest.empty()) {
      Value value = rest.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (value == names.back() || !op || !seen.insert(value).second)
        continue;
      if (tile::isElementwise(op) && !scene.isPlaced(value))
        llvm::append_range(rest, op->getOperands());
      else if (readsSums(value))
        return false;
    }
    return true;
  }

  /// Whether the store needs what is not there before the product's last step: another value that
  /// the loops carry, or a scalar that is computed behind them and not at the start of the block.
  bool readsWhatComesLater() {
    SmallVector<Value> rest;
    for (tile::StoreOp op : detail.group)
      llvm::append_range(rest, op->getOperands());
    llvm::DenseSet<Value> seen;
    Operation *last = steps.back().op;
    while (!rest.empty()) {
      Value value = rest.pop_back_val();
      Operation *op = inBlock(value);
      if (value == names.back() || !op || !seen.insert(value).second || op->isBeforeInBlock(last))
        continue;
      bool isTile = isa<RankedTensorType>(value.getType());
      if (op == last || (isTile ? scene.isPlaced(value) : !isThereAtStart(value)))
        return true;
      llvm::append_range(rest, op->getOperands());
    }
    return false;
  }

  bool isThereAtStart(Value scalar) {
    Operation *op = inBlock(scalar);
    return !op || (isScalarOperation(op) &&
                   llvm::all_of(op->getOperands(), [&](Value one) { return isThereAtStart(one); }));
  }

  /// The operation of the store's block that makes `value`, if there is one.
  Operation *inBlock(Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == store.op->getBlock() ? op : nullptr;
  }

  Scene &scene;
  std::vector<Step> &steps;
  Step &store;
  StoreStep &detail;
  SmallVector<LoopStep *> loops; // the outermost one first
  tile::DotOp product;
  SmallVector<Value> names; // of the sums: of the product's result first
};

} // namespace

bool moveIntoProduct(Scene &scene, std::vector<Step> &steps, Step &store) {
  return std::holds_alternative<StoreStep>(store.detail) && StoreMover(scene, steps, store).run();
}

} // namespace tw::target::cpu
