// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Host/Storage.h"
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "IR/Graph/Mutations.h"
#include "Support/Checked.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw {

using graph::isRename;

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

std::optional<int64_t> bytesOf(RankedTensorType type) {
  if (!type.hasStaticShape())
    return std::nullopt;
  auto elements = checkedProduct(type.getShape());
  return elements ? checkedMul(*elements, (type.getElementTypeBitWidth() + 7) / 8) : std::nullopt;
}

Signature::Signature(func::FuncOp main) {
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto role = main.getArgAttrOfType<StringAttr>(i, "tw.role");
    bool state = role && role.getValue() == "state";
    inputOf.push_back(state ? -1 : inputs++);
    stateOf.push_back(state ? states++ : -1);
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    auto state = main.getResultAttrOfType<StringAttr>(i, "tw.state");
    int number = -1;
    for (unsigned a = 0; state && a < main.getNumArguments(); ++a)
      if (main.getArgAttrOfType<StringAttr>(a, "tw.name") == state)
        number = stateOf[a];
    nextOf.push_back(number);
    outputOf.push_back(number < 0 ? outputs++ : -1);
    writtenInputOf.push_back(-1);
  }
  for (unsigned a = 0; a < main.getNumArguments(); ++a)
    if (auto next = inputOf[a] >= 0 ? graph::nextValueOf(main, a) : std::nullopt)
      writtenInputOf[*next] = inputOf[a];
}

//===----------------------------------------------------------------------===//
// Steps and sets
//===----------------------------------------------------------------------===//

/// Only what touches memory makes a step; everything else happens at the step it precedes.
void StoragePlan::number(Block &block) {
  for (Operation &op : block) {
    bool touches =
        isa<graph::DispatchOp, tensor::InsertSliceOp, tensor::ExtractOp, scf::IfOp, scf::ForOp>(
            op) ||
        op.hasTrait<OpTrait::IsTerminator>();
    int64_t begin = touches ? step++ : step;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        number(inner);
    steps[&op] = {begin, op.getNumRegions() ? step++ : begin};
  }
}

int StoragePlan::find(int set) const {
  while (parents[set] != set)
    set = parents[set] = parents[parents[set]];
  return set;
}

int StoragePlan::find(Value tensor) const {
  tensor = graph::wholeOf(tensor);
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>())
    return find(slice.getSource());
  auto it = setOf.find(tensor);
  assert(it != setOf.end() && "every tensor of @main has a set");
  return find(it->second);
}

void StoragePlan::addSet(Value value, BufferAssignment assignment, int64_t begin) {
  setOf[value] = static_cast<int>(sets.size());
  parents.push_back(static_cast<int>(sets.size()));
  sets.push_back({assignment, begin, std::max(begin, lastAccess(value)),
                  bytesOf(cast<RankedTensorType>(value.getType()))});
}

/// The step until which `use` needs a tensor that is made in `home`: the end of the outermost loop
/// that surrounds the use but not the tensor.
int64_t StoragePlan::accessStep(OpOperand &use, Block *home) const {
  Operation *op = use.getOwner();
  int64_t last = steps.lookup(op).first;
  for (; op && op->getBlock() != home; op = op->getParentOp())
    if (auto loop = dyn_cast_or_null<scf::ForOp>(op->getParentOp()))
      last = std::max(last, steps.lookup(loop).second);
  return last;
}

/// The last step that needs the contents of `root`, its reshapes and slices; -1 if none does.
int64_t StoragePlan::lastAccess(Value root) const {
  int64_t last = -1;
  SmallVector<Value> work{root};
  while (!work.empty())
    for (OpOperand &use : work.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      auto dispatch = dyn_cast<graph::DispatchOp>(user);
      if ((dispatch && dispatch.isDpsInit(&use)) || isa<tensor::DimOp>(user))
        continue; // a destination's contents are not read
      if (isRename(user) || isa<tensor::ExtractSliceOp>(user))
        work.push_back(user->getResult(0));
      else
        last = std::max(last, accessStep(use, root.getParentBlock()));
    }
  return last;
}

/// A tensor.empty that only says what shape a dispatch writes: it needs no memory.
static bool isOnlyDestination(Operation *op) {
  return isa<tensor::EmptyOp>(op) && llvm::all_of(op->getUses(), [](OpOperand &use) {
           auto dispatch = dyn_cast<graph::DispatchOp>(use.getOwner());
           return (dispatch && dispatch.isDpsInit(&use)) || isa<tensor::DimOp>(use.getOwner());
         });
}

/// Makes a set for every tensor that an operation makes.
void StoragePlan::collect(Block &block) {
  for (Operation &op : block) {
    auto [begin, end] = steps[&op];
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [result, carried] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
        if (isTensor(result)) {
          addSet(result, {}, begin);
          setOf[carried] = setOf[result];
          sets[find(result)].end = std::max(sets[find(result)].end, end);
        }
    } else if (isa<graph::WeightOp>(op)) {
      addSet(op.getResult(0), {BufferKind::Weight, -1}, 0);
    } else if (isa<scf::IfOp>(op)) {
      for (Value result : op.getResults())
        if (isTensor(result))
          addSet(result, {}, end);
      for (Region &region : op.getRegions())
        for (auto [result, value] :
             llvm::zip(op.getResults(), region.front().getTerminator()->getOperands()))
          if (isTensor(result)) {
            Set &set = sets[find(result)];
            set.begin = std::min(set.begin, steps[region.front().getTerminator()].first);
          }
    } else if (!isRename(&op) && !isa<tensor::ExtractSliceOp>(op) && !isOnlyDestination(&op)) {
      for (Value result : op.getResults())
        if (isTensor(result))
          addSet(result, {}, begin);
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        collect(inner);
  }
}

//===----------------------------------------------------------------------===//
// What shares memory
//===----------------------------------------------------------------------===//

/// Lets the sets of `a` and `b` share memory, if at most one has a fixed place and the sizes agree.
/// The caller knows that they do not hold something at the same time.
bool StoragePlan::unite(Value a, Value b) {
  int x = find(a), y = find(b);
  if (x == y)
    return true;
  if (sets[x].fixed() && sets[y].fixed())
    return false;
  if (sets[x].bytes != sets[y].bytes)
    return false;
  if (sets[y].fixed())
    std::swap(x, y);
  parents[y] = x;
  sets[x].begin = std::min(sets[x].begin, sets[y].begin);
  sets[x].end = std::max(sets[x].end, sets[y].end);
  return true;
}

/// A value that some operation writes as a whole, so that it can be told where to.
static bool isMade(Value root) {
  Operation *op = root.getDefiningOp();
  return isa_and_nonnull<graph::DispatchOp, tensor::InsertSliceOp, scf::IfOp, scf::ForOp>(op);
}

/// Results are made where the caller wants them; next values of inputs, if they are `written`, only
/// once it is known which can be made in the input's place.
void StoragePlan::placeOutputs(bool written) {
  Operation *end = main.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(end->getOperands())) {
    int output = signature.outputOf[index];
    if (output < 0 || !isTensor(value) || written != (signature.writtenInputOf[index] >= 0))
      continue;
    Value root = graph::wholeOf(value);
    if (isMade(root) && !sets[find(root)].fixed())
      sets[find(root)].assignment = {BufferKind::Output, output};
  }
}

/// What a branch yields is made where the result of the scf.if is.
void StoragePlan::placeBranches(Block &block) {
  for (Operation &op : block) {
    if (isa<scf::IfOp>(op))
      for (Region &region : op.getRegions())
        for (auto [result, value] :
             llvm::zip(op.getResults(), region.front().getTerminator()->getOperands())) {
          if (!isTensor(result))
            continue;
          Value root = graph::wholeOf(value);
          if (isMade(root) && root.getParentBlock() == &region.front() && !sets[find(root)].fixed())
            unite(result, root);
        }
    if (isa<scf::ForOp>(op))
      placeLoop(&op);
    if (isa<tensor::InsertSliceOp>(op))
      placeInserts(&op);
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        placeBranches(inner);
  }
}

/// The initial value of a loop-carried tensor is made in the loop's buffer when nothing else needs
/// it later; the next value when the current one is no longer needed at that time.
void StoragePlan::placeLoop(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [result, carried, init, next] : llvm::zip(loop.getResults(), loop.getRegionIterArgs(),
                                                      loop.getInitArgs(), yield.getResults())) {
    if (!isTensor(result))
      continue;
    Value first = graph::wholeOf(init);
    bool alone = llvm::count_if(loop.getInitArgs(), [&](Value other) {
                   return isTensor(other) && find(other) == find(first);
                 }) == 1;
    if ((isMade(first) || first.getDefiningOp<tensor::EmptyOp>()) && alone &&
        first.getParentBlock() == loop->getBlock() && !sets[find(first)].fixed() &&
        sets[find(first)].end <= steps[op].first)
      unite(result, first);

    placeNext(loop, carried, graph::wholeOf(next), result);
  }
}

/// Makes `next`, the value that a loop carries on for `carried`, in the loop's buffer, if `carried`
/// is no longer needed then. A sequence of insertions into `carried` happens in place.
void StoragePlan::placeNext(Operation *op, Value carried, Value next, Value result) {
  Block *body = &op->getRegion(0).front();
  SmallVector<Value> chain;
  while (true) {
    auto insert = next.getDefiningOp<tensor::InsertSliceOp>();
    if (!insert || next.getParentBlock() != body)
      break;
    Value dest = graph::wholeOf(insert.getDest());
    if (lastAccess(dest) > steps[insert].first || find(insert.getSource()) == find(dest))
      return;
    chain.push_back(next);
    next = dest;
  }
  if (next != carried) {
    if (!chain.empty() || !next.getDefiningOp<graph::DispatchOp>() ||
        next.getParentBlock() != body || sets[find(next)].fixed() ||
        lastAccess(carried) >= steps[next.getDefiningOp()].first)
      return;
    chain.push_back(next);
  }
  for (Value value : chain)
    unite(result, value);
}

/// A slice is inserted in place when the old tensor has no later use.
void StoragePlan::placeInserts(Operation *op) {
  auto insert = cast<tensor::InsertSliceOp>(op);
  Value dest = graph::wholeOf(insert.getDest());
  if (dest.getDefiningOp<tensor::ExtractSliceOp>())
    return;
  const Set &set = sets[find(dest)];
  bool ours =
      set.assignment.kind == BufferKind::Temporary || set.assignment.kind == BufferKind::Output;
  if (ours && find(insert.getSource()) != find(dest) && set.end <= steps[op].first)
    unite(dest, insert.getResult());
}

static unsigned bitsOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth();
}

/// Whether `assignment` is state, or an input that is written to, and its next value is made where
/// `value` is.
bool StoragePlan::isNextValue(BufferAssignment assignment, Value value) {
  if (assignment.kind != BufferKind::State && assignment.kind != BufferKind::Input)
    return false;
  const auto &old =
      assignment.kind == BufferKind::State ? signature.nextOf : signature.writtenInputOf;
  for (auto [number, next] : llvm::enumerate(main.getBody().front().getTerminator()->getOperands()))
    if (old[number] == assignment.index)
      return same(next, value);
  return false;
}

bool StoragePlan::isWrittenInPlace(unsigned result) {
  Value value = main.getBody().front().getTerminator()->getOperand(result);
  if (signature.writtenInputOf[result] < 0 || !isTensor(value))
    return false;
  BufferAssignment where = assignmentOf(value);
  return where.kind == BufferKind::Input && where.index == signature.writtenInputOf[result];
}

/// The result of an elementwise kernel overwrites an input that nothing reads afterwards.
void StoragePlan::reuseDying(Operation *op, const SharedPairs &pairs) {
  auto dispatch = cast<graph::DispatchOp>(op);
  auto known = pairs.find(dispatch.getKernel());
  if (known == pairs.end())
    return;
  SmallVector<Value> tensors;
  for (Value input : dispatch.getInputs())
    if (isTensor(input))
      tensors.push_back(input);
  for (auto [input, out] : known->second) {
    Value from = graph::wholeOf(tensors[input]), to = dispatch.getResult(out);
    if (from.getDefiningOp<tensor::ExtractSliceOp>() || bitsOf(from) != bitsOf(to))
      continue;
    int source = find(from), target = find(to);
    bool shared = llvm::any_of(llvm::enumerate(tensors), [&](auto other) {
      return find(other.value()) == source &&
             !llvm::is_contained(known->second, std::pair(unsigned(other.index()), out));
    });
    bool taken =
        llvm::any_of(dispatch.getResults(),
                     [&](Value other) {
                       return find(other) == source || (other != to && find(other) == target);
                     }) ||
        llvm::any_of(tensors, [&](Value other) { return find(other) == target; });
    bool dies = sets[source].end <= steps[op].first &&
                (!sets[source].fixed() || isNextValue(sets[source].assignment, to)) &&
                sets[target].begin == steps[op].first;
    if (!shared && !taken && dies)
      unite(from, to);
  }
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

StoragePlan::StoragePlan(func::FuncOp main, const SharedPairs &pairs)
    : signature(main), main(main) {
  Block &block = main.getBody().front();
  number(block);
  for (BlockArgument argument : block.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (!isTensor(argument))
      continue;
    int state = signature.stateOf[number];
    addSet(argument,
           state >= 0 ? BufferAssignment{BufferKind::State, state}
                      : BufferAssignment{BufferKind::Input, signature.inputOf[number]},
           0);
  }
  collect(block);
  placeOutputs(/*written=*/false);
  placeBranches(block);
  // From the last to the first: what a result becomes is known then.
  SmallVector<graph::DispatchOp> dispatches;
  main.walk<WalkOrder::PreOrder>([&](graph::DispatchOp op) { dispatches.push_back(op); });
  for (graph::DispatchOp op : llvm::reverse(dispatches))
    reuseDying(op, pairs);
  placeOutputs(/*written=*/true);
  numberTemporaries();
}

void StoragePlan::numberTemporaries() {
  for (auto [index, set] : llvm::enumerate(sets)) {
    if (find(static_cast<int>(index)) != static_cast<int>(index) || set.fixed())
      continue;
    set.assignment.index = static_cast<int>(temporaries.size());
    temporaries.push_back({set.begin, std::max(set.begin, set.end), set.bytes});
  }
  // Values that a loop or the end of the program exchanges go through copies.
  auto stage = [&](Operation *op, int index, Value value) {
    addStaging(op, index, bytesOf(cast<RankedTensorType>(value.getType())));
  };
  main.walk([&](scf::ForOp loop) {
    Operation *yield = loop.getBody()->getTerminator();
    for (auto [index, value, result] : llvm::enumerate(yield->getOperands(), loop.getResults())) {
      bool exchanged = isTensor(value) && !same(value, result) &&
                       llvm::any_of(loop.getResults(), [&](Value other) {
                         return isTensor(other) && find(other) == find(value);
                       });
      if (exchanged)
        stage(yield, static_cast<int>(index), value);
    }
  });
  Operation *end = main.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(end->getOperands()))
    if (signature.nextOf[index] >= 0 && isTensor(value) &&
        assignmentOf(value).kind == BufferKind::State &&
        assignmentOf(value).index != signature.nextOf[index])
      stage(end, static_cast<int>(index), value);
}

/// Why the next value of an argument is not made in its place.
static const char *whyCopied(BufferAssignment where, bool isReadLater) {
  if (where.kind == BufferKind::Output && !isReadLater)
    return "its next value is an output, too";
  return isReadLater ? "its old value is read after the next one is computed"
                     : "its kernel may still need the old value while it writes the new one";
}

void StoragePlan::reportMutations() {
  Operation *end = main.getBody().front().getTerminator();
  for (unsigned a = 0; a < main.getNumArguments(); ++a) {
    auto next = graph::nextValueOf(main, a);
    Value value = next ? end->getOperand(*next) : Value();
    Value root = value && isTensor(value) ? graph::wholeOf(value) : Value();
    if (!root || isa<BlockArgument>(root))
      continue; // an argument: it is not changed, or becomes another one
    int state = signature.stateOf[a];
    BufferAssignment where = assignmentOf(value);
    bool isThere = state < 0 ? isWrittenInPlace(*next)
                             : where.kind == BufferKind::State && where.index == state;
    auto name = main.getArgAttrOfType<StringAttr>(a, "tw.name");
    auto report = emitReport(root.getLoc())
                  << (state < 0 ? "input " : "state ") << name.getValue() << " is ";
    if (isThere) {
      report << "updated in place";
      continue;
    }
    bool isReadLater = lastAccess(main.getArgument(a)) > steps[root.getDefiningOp()].first;
    bool isHidden = state < 0; // made in an output that nobody else sees
    report << "copied at the end of the call: "
           << whyCopied(isHidden ? BufferAssignment() : where, isReadLater);
  }
}

int StoragePlan::addStaging(Operation *op, int index, std::optional<int64_t> bytes) {
  int64_t at = steps.lookup(op).first;
  int number = static_cast<int>(temporaries.size());
  temporaries.push_back({at, at, bytes});
  stagings[{op, index}] = number;
  return number;
}

BufferAssignment StoragePlan::assignmentOf(Value tensor) const {
  return sets[find(tensor)].assignment;
}

bool StoragePlan::same(Value a, Value b) const {
  return find(a) == find(b) && !graph::wholeOf(a).getDefiningOp<tensor::ExtractSliceOp>() &&
         !graph::wholeOf(b).getDefiningOp<tensor::ExtractSliceOp>();
}

int StoragePlan::staging(Operation *op, int index) const {
  auto it = stagings.find({op, index});
  return it == stagings.end() ? -1 : it->second;
}

} // namespace tw
