// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greedy, in program order: every operation starts as a group of its own and is offered to the
// groups of its producers. Two groups merge when
//   - they keep a row dimension in common (Rows.h), or are both tiny, or one is only an initial
//   value;
//   - no other group lies on a path between them (the kernels could not be ordered);
//   - what a row keeps between operations stays within what the target allows (FusionLimits);
//   - a second contraction's other operands are small: they are read again for every row.
// Each refusal is remarked with its reason.
#include "Dispatch/Groups.h"
#include "Graph/Rows.h"
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "IR/KernelLength.h"
#include "IR/ModelLocation.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tw {
namespace {

constexpr size_t longestGroup = 48;

class Grouping {
public:
  Grouping(Block &block, Fusion fusion, const FusionLimits &limits, graph::Decisions &decisions)
      : fusion(fusion), limits(limits), decisions(decisions) {
    for (Operation &op : block) {
      if (!isCompute(&op) && !isView(&op))
        continue;
      groupOf[&op] = groups.size();
      groups.push_back(Group{{&op}, numLeadingParallelDims(&op)});
    }
  }

  void run(Block &block) {
    for (Operation &op : block)
      if (groupOf.count(&op))
        for (Operation *producer : producers(&op))
          tryMerge(groupOf.lookup(producer), groupOf.lookup(&op));
  }

  SmallVector<Group> take(Block &block);

private:
  /// Grouped operations of the same block whose results `op` reads.
  SmallVector<Operation *> producers(Operation *op) const {
    llvm::SmallSetVector<Operation *, 4> found;
    auto add = [&](Value value) {
      if (Operation *def = value.getDefiningOp(); def && groupOf.count(def))
        found.insert(def);
    };
    for (Value operand : op->getOperands())
      add(operand);
    op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), add); });
    return found.takeVector();
  }

  void tryMerge(unsigned from, unsigned to) {
    if (from == to)
      return;
    if (fusion == Fusion::DestinationsOnly && !beginsDestination(groups[from], groups[to]))
      return;
    int64_t rows = commonRows(groups[from], groups[to]);
    if (const char *reason = whyNotMerged(from, to, rows)) {
      emitReport(groups[to].ops.front()->getLoc())
          << "not fused with its producer" << nodeSuffix(groups[from].ops.back()->getLoc()) << ": "
          << reason;
      return;
    }
    Group &target = groups[from];
    for (Operation *op : groups[to].ops) {
      target.ops.push_back(op);
      groupOf[op] = from;
    }
    llvm::sort(target.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    target.rows = rows;
    groups[to].ops.clear();
  }

  /// Null where two groups are to be one, as the configuration says, or for what it costs.
  const char *whyNotMerged(unsigned from, unsigned to, int64_t rows) {
    const Group &first = groups[from], &second = groups[to];
    if (beginsDestination(first, second) && !obstacle(first, second, rows))
      return reaches(from, to) ? anotherBetween : nullptr; // no decision: there is nothing to save
    Location operators[] = {first.ops.back()->getLoc(), second.ops.front()->getLoc()};
    auto wanted = decisions.wanted(graph::DecisionKind::Fuse, operators);
    const char *why = obstacle(first, second, rows);
    if (!why && reaches(from, to))
      why = anotherBetween;
    if (!why && !wanted)
      why = whyNotWorth(first, second, rows);
    else if (!why && !*wanted)
      why = graph::unwanted;
    decisions.note(graph::DecisionKind::Fuse, operators, !why, why ? why : "");
    return why;
  }

  /// Rows the two groups share along every value that goes from one to the other.
  static int64_t commonRows(const Group &from, const Group &to) {
    int64_t rows = std::min(from.rows, to.rows);
    for (Operation *op : to.ops) {
      for (OpOperand &operand : op->getOpOperands())
        if (Operation *def = operand.get().getDefiningOp(); def && contains(from, def))
          rows = std::min(rows, sharedRows(operand));
      for (Value captured : capturedTensors(op))
        if (Operation *def = captured.getDefiningOp(); def && contains(from, def))
          rows = 0;
    }
    return rows;
  }

  /// The operations in all bodies.
  static size_t lengthOf(const Group &group) {
    size_t length = 0;
    for (Operation *op : group.ops)
      op->walk([&](Operation *) { ++length; });
    return length;
  }

  static bool contains(const Group &group, Operation *op) {
    return llvm::is_contained(group.ops, op);
  }

  static bool isInitialValue(const Group &group) {
    return llvm::all_of(
        group.ops, [](Operation *op) { return isa<linalg::FillOp>(op) || isBaseOfScatter(op); });
  }

  /// A copy that is made to be updated: who updates it can as well make it.
  static bool isBaseOfScatter(Operation *op) {
    if (!isa<linalg::CopyOp>(op) || !op->hasOneUse())
      return false;
    auto scatter = dyn_cast<graph::ScatterOp>(*op->user_begin());
    return scatter && llvm::is_contained(scatter.getDpsInits(), op->getResult(0));
  }

  bool isTiny(const Group &group) const {
    return llvm::all_of(group.ops, [&](Operation *op) {
      return llvm::all_of(op->getResults(),
                          [&](Value v) { return rowElements(v, 0) <= limits.tiny; });
    });
  }

  /// Whether `to` puts further parts into a tensor that `from` has begun: what a concatenation is
  /// made of.
  static bool goesOnAssembling(const Group &from, const Group &to) {
    auto assembles = [](Operation *op) {
      return isa<tensor::InsertSliceOp, linalg::FillOp>(op) || isView(op);
    };
    return llvm::all_of(from.ops, assembles) && llvm::all_of(to.ops, assembles) &&
           llvm::any_of(to.ops, [&](Operation *op) {
             auto insert = dyn_cast<tensor::InsertSliceOp>(op);
             return insert && insert.getDest().hasOneUse() &&
                    isa_and_present<tensor::InsertSliceOp>(insert.getDest().getDefiningOp()) &&
                    contains(from, insert.getDest().getDefiningOp());
           });
  }

  /// Whether `from` only begins what `to` goes on writing.
  static bool beginsDestination(const Group &from, const Group &to) {
    return isInitialValue(from) || goesOnAssembling(from, to);
  }

  static constexpr const char *anotherBetween = "another kernel runs between them";

  /// Why two groups cannot be one, whatever it costs.
  const char *obstacle(const Group &from, const Group &to, int64_t rows) const {
    if (from.ops.size() + to.ops.size() > longestGroup ||
        lengthOf(from) + lengthOf(to) > longestKernel)
      return "the kernel would become too long";
    if (beginsDestination(from, to))
      return nullptr;
    if (rows == 0 && !(isTiny(from) && isTiny(to)))
      return "they have no outer parallel dimension in common";
    return nullptr;
  }

  /// Why two groups are better apart.
  const char *whyNotWorth(const Group &from, const Group &to, int64_t rows) const {
    int64_t kept = 0;
    for (Operation *op : from.ops)
      for (Value result : op->getResults())
        kept += rowElements(result, rows);
    if (kept > limits.row)
      return "a row of the values between them is more than the target keeps in one kernel";
    if (areApart(from, to))
      return "convolutions and attention, and products next to pooling, are separate kernels";
    if (rereads(from, to, rows))
      return "a second contraction would read its other operand again for every row";
    return nullptr;
  }

  /// Attention keeps the scores of a block of queries; it has no room for its producers.
  /// Convolutions and windows run over lines and columns, products over all places as one
  /// dimension: in one kernel they would keep each other from it, and nothing fuses.
  static bool areApart(const Group &from, const Group &to) {
    auto has = [](const Group &group, auto holds) { return llvm::any_of(group.ops, holds); };
    auto isConvolution = [](Operation *op) {
      return isa<graph::ConvOp, graph::AttentionInterface>(op);
    };
    if (has(to, isConvolution))
      return true;
    bool isFromWindow = has(from, readsWindows) || has(from, isConvolution);
    return (isFromWindow && has(to, isContraction)) ||
           (has(to, readsWindows) && has(from, isContraction));
  }

  /// Whether it reduces elements that it looks up, as pooling does.
  static bool readsWindows(Operation *op) {
    auto linalg = dyn_cast<linalg::LinalgOp>(op);
    return linalg && linalg.getNumReductionLoops() > 0 && !capturedTensors(op).empty();
  }

  /// True when merging puts a contraction after another one and an operand that does not follow
  /// the rows is large.
  bool rereads(const Group &from, const Group &to, int64_t rows) const {
    if (!llvm::any_of(from.ops, isContraction))
      return false;
    return llvm::any_of(to.ops, [&](Operation *op) {
      return isContraction(op) && llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
               return isa<RankedTensorType>(operand.get().getType()) &&
                      rowElements(operand.get(), std::min(rows, sharedRows(operand))) >
                          limits.reread;
             });
    });
  }

  /// True when a path leads from group `from` to group `to` through a third one.
  bool reaches(unsigned from, unsigned to) const {
    llvm::SmallSetVector<Operation *, 16> work;
    auto addUsers = [&](unsigned group, bool direct) {
      for (Operation *op : groups[group].ops)
        for (Operation *user : op->getUsers())
          if (Operation *top = inBlock(user))
            if (auto it = groupOf.find(top);
                it == groupOf.end() || (it->second != group && !(direct && it->second == to)))
              work.insert(top);
    };
    addUsers(from, true);
    for (size_t i = 0; i < work.size(); ++i) {
      Operation *op = work[i];
      auto it = groupOf.find(op);
      if (it == groupOf.end()) {
        for (Operation *user : op->getUsers())
          if (Operation *top = inBlock(user))
            work.insert(top);
      } else if (it->second == to) {
        return true;
      } else {
        addUsers(it->second, false);
      }
    }
    return false;
  }

  /// The operation of the grouped block that holds `op`; null when there is none.
  Operation *inBlock(Operation *op) const {
    Block *block = groupOf.begin()->first->getBlock();
    return block->findAncestorOpInBlock(*op);
  }

  Fusion fusion;
  FusionLimits limits;
  graph::Decisions &decisions;
  SmallVector<Group> groups;
  DenseMap<Operation *, unsigned> groupOf;
};

/// True when `op` connects two operations of its group: reads one and is read by one, maybe in the
/// body of it.
bool isInner(Operation *op, const Group &group) {
  Operation *source = op->getOperand(0).getDefiningOp();
  return source && llvm::is_contained(group.ops, source) &&
         llvm::any_of(op->getUsers(), [&](Operation *user) {
           return llvm::is_contained(group.ops, op->getBlock()->findAncestorOpInBlock(*user));
         });
}

SmallVector<Group> Grouping::take(Block &block) {
  SmallVector<Group> taken;
  for (Group &group : groups) {
    // Removing an outer view can lay open the next one.
    for (bool changed = true; changed;) {
      auto outer = llvm::find_if(group.ops,
                                 [&](Operation *op) { return isView(op) && !isInner(op, group); });
      changed = outer != group.ops.end();
      if (changed)
        group.ops.erase(outer);
    }
    if (!group.ops.empty() && !llvm::all_of(group.ops, isView))
      taken.push_back(std::move(group));
  }
  llvm::sort(taken, [](const Group &a, const Group &b) {
    return a.ops.back()->isBeforeInBlock(b.ops.back());
  });
  return taken;
}

} // namespace

SmallVector<Group> formGroups(Block &block, Fusion fusion, const FusionLimits &limits,
                              graph::Decisions &decisions) {
  Grouping grouping(block, fusion, limits, decisions);
  grouping.run(block);
  return grouping.take(block);
}

} // namespace tw
