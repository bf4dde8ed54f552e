// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Describe.h"
#include "Kernels/Body.h"
#include "Kernels/Chunks.h"
#include "Kernels/Combiners.h"
#include "Kernels/Contraction.h"
#include "Kernels/Places.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::kernels {
namespace {

class Describer {
public:
  Describer(func::FuncOp dispatch, const CallSizes &calls, bool keepsAxes)
      : dispatch(dispatch), keepsAxes(keepsAxes), nests(calls) {}

  FailureOr<Description> run(std::string &why) {
    if (failed(nests.read(dispatch)))
      return why = nests.why, failure();
    joined.emplace(nests, keepsAxes);
    auto outs = cast<func::ReturnOp>(dispatch.getBody().front().getTerminator()).getOperands();
    for (auto [i, value] : llvm::enumerate(outs)) {
      if (!nests.results.contains(value))
        return why = "it returns what no operation of it computes", failure();
      returned.insert(value);
    }
    auto assembly = nests.assemblies.begin();
    for (size_t i = 0; i <= nests.ops.size(); ++i) {
      for (; assembly != nests.assemblies.end() && assembly->after == i; ++assembly)
        if (failed(addAssembly(*assembly)))
          return why = reason, failure();
      if (i < nests.ops.size() && failed(addOp(nests.ops[i])))
        return why = reason, failure();
    }
    for (Value value : returned)
      store(value);
    Description description;
    for (PieceBuilder &piece : pieces)
      llvm::move(cutLongRows(piece.take(), temporaries), std::back_inserter(description.pieces));
    description.temporaries = temporaries;
    return description;
  }

private:
  llvm::LogicalResult fail(const Twine &text) {
    reason = text.str();
    return failure();
  }

  LogicalResult addOp(OpLoops &nest) {
    for (size_t loop = 0; loop < nest.loops.size(); ++loop)
      for (size_t other = 0; other < loop; ++other)
        for (int atom : nests.table.atoms({nest.loops[loop]}))
          if (llvm::is_contained(nests.table.atoms({nest.loops[other]}), atom))
            return fail("an operation walks over a value along two dimensions at once");
    auto op = dyn_cast<linalg::LinalgOp>(nest.op);
    if (!op)
      return addScan(nest, cast<graph::ScanOp>(nest.op));
    if (std::optional<ContractionParts> parts = matchContraction(op))
      return addContraction(nest, op, *parts);
    bool isWindow = !nest.reduced.empty() && readsWindows(nest, op);
    if (!nest.reduced.empty() && (isWindow || !isKnownReduction(op)))
      return addFold(nest, op);
    return addLoops(nest, op);
  }

  //===--- loop programs ------------------------------------------------------===//

  struct Known {
    int piece, step; // step -1: in memory
  };

  /// The first piece that may read a tensor.
  int earliest(Value root, bool isInMemory) const {
    auto it = values.find(LoopNests::baseOf(root));
    return it == values.end() ? 0 : it->second.piece + (isInMemory || it->second.step < 0 ? 1 : 0);
  }

  /// The first loop program that may read what the operation reads.
  PieceBuilder &pieceFor(OpLoops &nest) {
    int least = 0;
    for (auto &operand : nest.operands)
      if (operand)
        least = std::max(least, earliest(operand->root, operand->isInMemory));
    nest.op->walk(
        [&](tensor::ExtractOp look) { least = std::max(least, earliest(look.getTensor(), true)); });
    bool isWhole =
        !pieces.empty() && pieces.back().takesSingly(joined->of(nests.table.atoms(nest.reduced)));
    if (pieces.empty() || int(pieces.size()) <= least || pieces.back().isClosed || isWhole)
      pieces.emplace_back(*joined, nests);
    return pieces.back();
  }

  LogicalResult addLoops(OpLoops &nest, linalg::LinalgOp op) {
    PieceBuilder &piece = pieceFor(nest);
    int number = int(&piece - pieces.data());
    bool isReduction = !nest.reduced.empty();
    piece.locations.push_back(op.getLoc());
    auto keep = [&](Value value) { store(value); };
    BodyReader body(piece, nest, nests, *joined, keep);
    Block *block = op.getBlock();
    unsigned inputs = op.getNumDpsInputs();
    auto accumulated = [&](BlockArgument argument) {
      return argument.getArgNumber() >= inputs && isReduction;
    };
    for (auto [operand, argument] : llvm::zip(op->getOpOperands(), block->getArguments())) {
      if (argument.use_empty() || accumulated(argument))
        continue;
      FailureOr<int> step = read(piece, number, nest, operand, body);
      if (failed(step))
        return failure();
      body.map(argument, *step);
    }
    if (std::optional<ExtremeParts> extreme = matchExtreme(op))
      return addExtreme(piece, number, nest, op, body, *extreme);
    auto yield = block->getTerminator();
    for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
      FailureOr<int> step =
          isReduction ? reduce(piece, number, nest, op, body, i, value) : body.read(value);
      if (failed(step))
        return fail(body.why.empty() ? reason : body.why);
      values[op->getResult(i)] = {number, *step};
    }
    return success();
  }

  /// The elements of an operand.
  FailureOr<int> read(PieceBuilder &piece, int number, OpLoops &nest, OpOperand &operand,
                      BodyReader &body) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      return body.read(operand.get());
    if (Value scalar = filledWith(operand.get()))
      return body.read(scalar);
    auto &walk = nest.operands[operand.getOperandNumber()];
    if (!walk)
      return fail("an uninitialised tensor is read");
    return readWalk(piece, number, *walk);
  }

  FailureOr<int> readWalk(PieceBuilder &piece, int number, const OperandWalk &walk) {
    auto known = values.find(walk.root);
    if (!walk.isInMemory && known->second.piece == number && known->second.step >= 0)
      return known->second.step;
    FailureOr<Access> access = accessOf(piece, walk);
    if (failed(access))
      return failure();
    Step load{Step::Kind::Load, piece.dtypeOf(*access)};
    load.access = *access;
    return piece.add(std::move(load));
  }

  /// How a tensor is read from memory, where it is put if need be.
  FailureOr<Access> accessOf(PieceBuilder &piece, const OperandWalk &walk) {
    auto dtype = dtypeOf(walk.root.getType());
    if (!dtype)
      return fail("its dtype has no kernel");
    if (Value base = LoopNests::baseOf(walk.root); values.contains(base))
      store(base);
    if (!walk.isInMemory)
      return piece.accessOfValue(walk.root, *dtype);
    std::optional<Access> access = piece.accessOfMemory(walk, *dtype);
    if (!access)
      return fail("one dimension of a tensor is read along several");
    return *access;
  }

  //===--- assemblies ---------------------------------------------------------===//

  /// How the source of the only part is read along the result, beyond its own ends: what lies there
  /// is the number that the rest is filled with.
  static std::optional<OperandWalk> paddedWalk(const Assembly &assembly) {
    if (!assembly.base || assembly.baseWalk || assembly.parts.size() != 1)
      return std::nullopt;
    const Assembly::Part &part = assembly.parts[0];
    if (!part.walk)
      return std::nullopt;
    OperandWalk walk = *part.walk;
    walk.isInMemory = true;
    for (auto [d, axis] : llvm::enumerate(part.axes)) {
      if (!axis.isPart)
        continue;
      auto own = llvm::find_if(walk.axes, [&](const AxisWalk &a) { return a.dims == axis.dims; });
      if (own == walk.axes.end() || !own->isPlain() || axis.stride != 1)
        return std::nullopt;
      *own = {assembly.axes[d].dims, -axis.offset, 1, axis.places, true};
      for (auto &place : own->places)
        place.second = -place.second;
    }
    return walk;
  }

  LogicalResult addPadded(const Assembly &assembly, const OperandWalk &walk, kernel::DType dtype) {
    PieceBuilder piece(*joined, nests);
    piece.locations.push_back(assembly.parts[0].loc);
    OpLoops none;
    auto keep = [&](Value value) { store(value); };
    BodyReader body(piece, none, nests, *joined, keep);
    FailureOr<int> pad = body.read(filledWith(assembly.base));
    FailureOr<Access> access = accessOf(piece, walk);
    if (failed(pad))
      return fail(body.why);
    if (failed(access))
      return failure();
    Step load{Step::Kind::Load, dtype, {*pad}};
    load.access = *access;
    Step store{Step::Kind::Store, dtype, {piece.add(std::move(load))}};
    store.access = piece.accessOfValue(assembly.result, dtype, true);
    piece.add(std::move(store));
    values[assembly.result] = {int(pieces.size()), -1};
    pieces.push_back(std::move(piece));
    return success();
  }

  /// A loop program that stores what the tensor is based on, then the parts, in order: all of an
  /// element's values are stored by one program.
  LogicalResult addAssembly(const Assembly &assembly) {
    PieceBuilder piece(*joined, nests);
    int number = int(pieces.size());
    auto dtype = dtypeOf(assembly.result.getType());
    if (!dtype)
      return fail("its dtype has no kernel");
    if (std::optional<OperandWalk> padded = paddedWalk(assembly))
      return addPadded(assembly, *padded, *dtype);
    OpLoops none;
    auto keep = [&](Value value) { store(value); };
    BodyReader body(piece, none, nests, *joined, keep);
    auto put = [&](Value source, const std::optional<OperandWalk> &walk,
                   ArrayRef<AxisWalk> axes) -> LogicalResult {
      FailureOr<int> step = walk ? readWalk(piece, number, *walk) : body.read(filledWith(source));
      if (failed(step))
        return body.why.empty() ? failure() : fail(body.why);
      auto access =
          piece.accessOfMemory({assembly.result, SmallVector<AxisWalk>(axes), true}, *dtype, true);
      if (!access)
        return fail("a part is put where a reshape cuts the tensor");
      Step store{Step::Kind::Store, *dtype, {*step}};
      store.access = *access;
      piece.add(std::move(store));
      return success();
    };
    if (assembly.base && failed(put(assembly.base, assembly.baseWalk, assembly.axes)))
      return failure();
    for (const Assembly::Part &part : assembly.parts) {
      piece.locations.push_back(part.loc);
      if (failed(put(part.source, part.walk, part.axes)))
        return failure();
    }
    if (assembly.scatter && failed(addUpdates(piece, number, assembly, *dtype)))
      return failure();
    piece.isClosed = true;
    pieces.push_back(std::move(piece));
    values[assembly.result] = {number, -1};
    return success();
  }

  /// How a scatter combines what is there with an element; null: in no way that has a kernel.
  static const char *combination(graph::ScatterOp op) {
    Type element = cast<RankedTensorType>(op.getType()).getElementType();
    bool isFloat = isa<FloatType>(element);
    if (op.getCombine() == graph::Combine::Set)
      return "";
    if (element.isInteger(1))
      return nullptr;
    switch (op.getCombine()) {
    case graph::Combine::Add:
      return isFloat ? "arith.addf" : "arith.addi";
    case graph::Combine::Mul:
      return isFloat ? "arith.mulf" : "arith.muli";
    case graph::Combine::Min:
      return isFloat ? "arith.minimumf" : op.getIsUnsigned() ? "arith.minui" : "arith.minsi";
    case graph::Combine::Max:
      return isFloat ? "arith.maximumf" : op.getIsUnsigned() ? "arith.maxui" : "arith.maxsi";
    default:
      return nullptr;
    }
  }

  /// One update after the other, in the order of the scatter's loops; side by side only along axes
  /// that it runs along itself.
  LogicalResult addUpdates(PieceBuilder &piece, int number, const Assembly &assembly,
                           kernel::DType dtype) {
    OpLoops nest = *assembly.scatter;
    auto op = cast<graph::ScatterOp>(nest.op);
    const char *combine = combination(op);
    if (!combine)
      return fail("a scatter combines elements in a way that has no kernel");
    piece.locations.push_back(op.getLoc());
    auto keep = [&](Value value) { store(value); };
    BodyReader body(piece, nest, nests, *joined, keep);
    Step fold{Step::Kind::Fold};
    fold.dims = body.folded = joined->of(nests.table.atoms(nest.reduced));
    piece.add(std::move(fold));
    Block &block = op.getBody().front();
    for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
      FailureOr<int> step = read(piece, number, nest, op->getOpOperand(i), body);
      if (failed(step))
        return failure();
      body.map(argument, *step);
    }
    auto yielded = block.getTerminator()->getOperands();
    FailureOr<int> value = body.read(yielded.back());
    if (failed(value))
      return fail(body.why);
    Step update{Step::Kind::Update, dtype, {*value}, combine};
    // Neighbours in memory are never the same element: several of them have a position each.
    std::vector<int> sideBySide;
    if (int loop = assembly.loopOf.back(); loop >= 0 && assembly.axes.back().isPlain())
      sideBySide = joined->of(nests.table.atoms({loop}));
    SmallVector<AxisWalk> axes;
    for (auto [axis, loop] : llvm::enumerate(assembly.loopOf)) {
      axes.push_back(assembly.axes[axis]);
      if (loop >= 0)
        continue;
      axes.back().dims.clear();
      FailureOr<int> position = body.read(yielded[axis]);
      if (failed(position))
        return fail(body.why);
      update.operands.push_back(*position);
      for (int dim : piece.extent(*position))
        if (!llvm::is_contained(body.folded, dim) && !llvm::is_contained(sideBySide, dim))
          piece.takeSingly(dim);
    }
    auto access = piece.accessOfMemory({assembly.result, axes, true}, dtype, true);
    if (!access)
      return fail("a scatter updates what a reshape cuts");
    update.access = *access;
    piece.add(std::move(update));
    piece.add({Step::Kind::Yield});
    return success();
  }

  //===--- reductions ---------------------------------------------------------===//

  FailureOr<int> reduce(PieceBuilder &piece, int number, OpLoops &nest, linalg::LinalgOp op,
                        BodyReader &body, unsigned result, Value yielded) {
    BlockArgument sum = op.getBlock()->getArgument(op.getNumDpsInputs() + result);
    const Combiner *row = combinerOf(yielded, sum);
    if (!row)
      return fail("a reduction's body is no sum, product, maximum, minimum, any or all");
    Operation *last = yielded.getDefiningOp();
    FailureOr<int> element = body.read(last->getOperand(last->getOperand(0) == sum ? 1 : 0));
    auto dtype = dtypeOf(yielded.getType());
    if (failed(element) || !dtype)
      return failure();
    Step step{Step::Kind::Reduce, *dtype, {*element}, row->reduction};
    step.dims = joined->of(nests.table.atoms(nest.reduced));
    int total = step.dims.empty() ? *element : piece.add(std::move(step));
    OpOperand &init = *op.getDpsInitOperand(result);
    if (Value scalar = filledWith(init.get()); scalar && isNeutral(scalar, *row))
      return total;
    FailureOr<int> start = read(piece, number, nest, init, body);
    if (failed(start))
      return failure();
    return piece.add({Step::Kind::Apply, *dtype, {*start, total}, row->operation});
  }

  /// The greatest or least element of a row, and its place.
  LogicalResult addExtreme(PieceBuilder &piece, int number, OpLoops &nest, linalg::LinalgOp op,
                           BodyReader &body, const ExtremeParts &parts) {
    FailureOr<int> element = body.read(parts.element);
    if (failed(element))
      return fail(body.why);
    std::vector<int> dims = joined->of(nests.table.atoms(nest.reduced));
    Value least = filledWith(op.getDpsInits()[0]), first = filledWith(op.getDpsInits()[1]);
    bool isFloat = isa<FloatType>(parts.element.getType());
    const Combiner *row = findCombiner(parts.isMax ? (isFloat ? "arith.maximumf" : "arith.maxsi")
                                                   : (isFloat ? "arith.minimumf" : "arith.minsi"));
    if (dims.size() != 1 || !least || !first || !isNeutral(least, *row) ||
        !matchPattern(first, m_Zero()))
      return fail("the place of the greatest element is searched in another way than along a row");
    auto add = [&](kernel::DType dtype, std::string name, unsigned result) {
      Step step{Step::Kind::Reduce, dtype, {*element}, std::move(name)};
      step.dims = dims;
      values[op->getResult(result)] = {number, piece.add(std::move(step))};
    };
    add(*dtypeOf(parts.element.getType()), row->reduction, 0);
    add(kernel::i64, parts.isMax ? "argmax" : "argmin", 1);
    return success();
  }

  /// Makes a value one that is in memory.
  void store(Value value) {
    Known &known = values[value];
    if (known.step < 0 || !stored.insert(value).second)
      return;
    PieceBuilder &piece = pieces[known.piece];
    auto dtype = *dtypeOf(value.getType());
    Step step{Step::Kind::Store, dtype, {known.step}};
    step.access = piece.accessOfValue(value, dtype, true);
    piece.add(std::move(step));
  }

  //===--- folds --------------------------------------------------------------===//

  static bool isKnownReduction(linalg::LinalgOp op) {
    if (matchExtreme(op))
      return true;
    Block *block = op.getBlock();
    return llvm::all_of(llvm::enumerate(block->getTerminator()->getOperands()), [&](auto yielded) {
      unsigned state = op.getNumDpsInputs() + unsigned(yielded.index());
      return combinerOf(yielded.value(), block->getArgument(state)) != nullptr;
    });
  }

  /// Whether the body looks elements up at places that move along a reduced loop and another one.
  bool readsWindows(const OpLoops &nest, linalg::LinalgOp op) const {
    auto isReduced = [&](unsigned loop) {
      return llvm::is_contained(nest.reduced, nest.loops[loop]);
    };
    bool found = false;
    op->walk([&](tensor::ExtractOp look) {
      for (auto [axis, index] : llvm::enumerate(look.getIndices()))
        if (auto place = placeOf(index, look.getTensor(), int64_t(axis), nests.callSizes()))
          found |= place->loops.size() > 1 &&
                   llvm::any_of(place->loops, [&](auto &term) { return isReduced(term.first); });
    });
    return found;
  }

  /// A reduction that goes from element to element, for all results at once.
  LogicalResult addFold(OpLoops &nest, linalg::LinalgOp op) {
    int number = int(pieces.size());
    PieceBuilder &piece = pieces.emplace_back(*joined, nests);
    piece.locations.push_back(op.getLoc());
    auto keep = [&](Value value) { store(value); };
    BodyReader body(piece, nest, nests, *joined, keep);
    Step fold{Step::Kind::Fold};
    fold.dims = body.folded = joined->of(nests.table.atoms(nest.reduced));
    std::vector<int> kept;
    for (int loop : nest.loops)
      if (!llvm::is_contained(nest.reduced, loop))
        kept.push_back(loop);
    fold.along = joined->of(nests.table.atoms(kept));
    for (OpOperand &init : op.getDpsInitsMutable()) {
      FailureOr<int> step = read(piece, number, nest, init, body);
      if (failed(step))
        return failure();
      fold.operands.push_back(*step);
    }
    int first = piece.add(std::move(fold));
    auto state = [&](Step::Kind kind, unsigned which) {
      Step step{kind, *dtypeOf(op->getResult(which).getType()), {first}};
      step.argument = int(which);
      return piece.add(std::move(step));
    };
    Block *block = op.getBlock();
    unsigned inputs = op.getNumDpsInputs();
    for (auto [operand, argument] : llvm::zip(op->getOpOperands(), block->getArguments())) {
      if (argument.use_empty())
        continue;
      FailureOr<int> step = argument.getArgNumber() >= inputs
                                ? state(Step::Kind::State, argument.getArgNumber() - inputs)
                                : read(piece, number, nest, operand, body);
      if (failed(step))
        return failure();
      body.map(argument, *step);
    }
    Step yield{Step::Kind::Yield};
    for (Value next : block->getTerminator()->getOperands()) {
      FailureOr<int> step = body.read(next);
      if (failed(step))
        return fail(body.why);
      yield.operands.push_back(*step);
    }
    piece.add(std::move(yield));
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      values[op->getResult(i)] = {number, state(Step::Kind::Result, i)};
    return success();
  }

  //===--- scans --------------------------------------------------------------===//

  LogicalResult addScan(OpLoops &nest, graph::ScanOp op) {
    PieceBuilder &piece = pieceFor(nest);
    int number = int(&piece - pieces.data());
    piece.locations.push_back(op.getLoc());
    auto keep = [&](Value value) { store(value); };
    BodyReader body(piece, nest, nests, *joined, keep);
    Block &block = op.getBody().front();
    unsigned states = op.getInitial().size();
    Value yielded = block.getTerminator()->getOperand(0);
    const Combiner *row = states == 1 ? combinerOf(yielded, block.getArgument(0)) : nullptr;
    bool isKnown =
        row && !std::holds_alternative<bool>(row->neutral) && isNeutral(op.getInitial()[0], *row);
    std::vector<int> dims = joined->of(nests.table.atoms(nest.reduced));
    if (!isKnown)
      return fail("a scan's body is no sum, product, maximum or minimum");
    if (dims.size() > 1)
      return fail("a scan runs along what a reshape cuts");
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      FailureOr<int> step = read(piece, number, nest, op->getOpOperand(i), body);
      if (failed(step))
        return failure();
      body.map(block.getArgument(states + i), *step);
    }
    Operation *last = yielded.getDefiningOp();
    FailureOr<int> element =
        body.read(last->getOperand(last->getOperand(0) == block.getArgument(0) ? 1 : 0));
    auto dtype = dtypeOf(yielded.getType());
    if (failed(element) || !dtype)
      return fail(body.why);
    int scanned = *element;
    if (!dims.empty()) {
      Step step{Step::Kind::Scan, *dtype, {*element}, row->reduction};
      step.dims = dims;
      step.predicate = op.getReverse() ? "reverse" : "";
      scanned = piece.add(std::move(step));
    }
    values[op.getResult(0)] = {number, scanned};
    return success();
  }

  //===--- contractions -------------------------------------------------------===//

  LogicalResult addContraction(OpLoops &nest, linalg::LinalgOp op, const ContractionParts &parts) {
    const Combiner *add = findCombiner(parts.isFloat ? "arith.addf" : "arith.addi");
    Value init = filledWith(op.getDpsInits()[0]);
    bool isAdded = !init || !isNeutral(init, *add);
    int temporary = isAdded ? temporaries++ : -1;
    PieceBuilder piece(*joined, nests);
    Contraction spec;
    Value result = op->getResult(0);
    auto sum = dtypeOf(result.getType());
    Access *accesses[] = {&spec.a, &spec.b};
    for (auto [i, access] : llvm::enumerate(accesses)) {
      auto &walk = nest.operands[parts.operands[i]];
      if (!walk)
        return fail("an operand of a contraction is one value");
      if (!sum)
        return fail("its dtype has no kernel");
      FailureOr<Access> found = accessOf(piece, *walk);
      if (failed(found))
        return failure();
      if (llvm::any_of(found->axes, [](const Axis &axis) { return !axis.places.empty(); }))
        return fail("a factor of a contraction begins at a computed place");
      *access = *found;
    }
    spec.c = piece.accessOfValue(result, *sum, true, temporary);
    spec.sum = *sum;
    // Columns are what lies side by side in c.
    if (!spec.c.axes.empty() && spec.a.covers(spec.c.axes.back().dim) &&
        !spec.b.covers(spec.c.axes.back().dim))
      std::swap(spec.a, spec.b);
    piece.locations.push_back(op.getLoc());
    piece.setContraction(std::move(spec));
    piece.isClosed = true;
    if (std::string why = refuse(piece.contraction()); !why.empty())
      return fail("a contraction has no kernel: " + why);
    values[result] = {int(pieces.size()), -1};
    pieces.push_back(std::move(piece));
    return isAdded ? addTo(nest, op, *add, *sum, temporary) : success();
  }

  /// A product that is added to what was there, which fusion does where the product is stored.
  LogicalResult addTo(OpLoops &nest, linalg::LinalgOp op, const Combiner &add, kernel::DType dtype,
                      int temporary) {
    int number = int(pieces.size());
    PieceBuilder &piece = pieces.emplace_back(*joined, nests);
    piece.locations.push_back(op.getLoc());
    auto keep = [&](Value value) { store(value); };
    BodyReader body(piece, nest, nests, *joined, keep);
    FailureOr<int> start = read(piece, number, nest, *op.getDpsInitOperand(0), body);
    if (failed(start))
      return body.why.empty() ? failure() : fail(body.why);
    Step product{Step::Kind::Load, dtype};
    product.access = piece.accessOfValue(op->getResult(0), dtype, false, temporary);
    int loaded = piece.add(std::move(product));
    int sum = piece.add({Step::Kind::Apply, dtype, {*start, loaded}, add.operation});
    values[op->getResult(0)] = {number, sum};
    return success();
  }

  func::FuncOp dispatch;
  bool keepsAxes;
  LoopNests nests;
  std::optional<JoinedDims> joined;
  std::vector<PieceBuilder> pieces;
  int temporaries = 0; // values between pieces so far
  llvm::MapVector<Value, Known> values;
  llvm::DenseSet<Value> stored;
  llvm::SetVector<Value> returned;
  std::string reason;
};

} // namespace

FailureOr<Description> describe(func::FuncOp dispatch, const CallSizes &calls, bool keepsAxes,
                                std::string &why) {
  return Describer(dispatch, calls, keepsAxes).run(why);
}

} // namespace tw::kernels
