// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/AffineIndex.h"
#include "GraphToTile/Analysis/BodyAnalysis.h"
#include "GraphToTile/Analysis/Combiners.h"
#include "GraphToTile/Analysis/Recognizers.h"
#include "IR/Graph/Mutations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::conversion {
namespace {

/// Puts each operation of a dispatch into the first subkernel that can have it.
class DispatchAnalyzer {
public:
  DispatchAnalyzer(func::FuncOp dispatch, const CallSizes &calls, bool keepsAxes)
      : dispatch(dispatch), keepsAxes(keepsAxes), nests(calls) {}
  DispatchAnalyzer(const DispatchAnalyzer &) = delete;

  FailureOr<DispatchAnalysis> run(std::string &why) {
    if (failed(nests.read(dispatch)))
      return why = nests.why, failure();
    joined.emplace(nests, keepsAxes);
    auto outs = cast<func::ReturnOp>(dispatch.getBody().front().getTerminator()).getOperands();
    for (auto [i, value] : llvm::enumerate(outs)) {
      if (!nests.results.contains(value))
        return why = "it returns what no operation of it computes", failure();
      returned.insert(value);
    }
    auto chain = nests.chains.begin();
    for (size_t i = 0; i <= nests.ops.size(); ++i) {
      for (; chain != nests.chains.end() && chain->after == i; ++chain)
        if (failed(addChain(*chain)))
          return why = reason, failure();
      if (i < nests.ops.size() && failed(addOp(nests.ops[i])))
        return why = reason, failure();
    }
    for (Value value : returned)
      store(value);
    DispatchAnalysis analysis;
    for (SubkernelBuilder &builder : builders)
      analysis.subkernels.push_back(builder.take());
    analysis.temporaries = temporaries;
    return analysis;
  }

private:
  LogicalResult fail(const Twine &text) {
    reason = text.str();
    return failure();
  }
  LogicalResult failBody(const BodyAnalysis &body) {
    return body.why.empty() ? failure() : fail(body.why);
  }

  LogicalResult addOp(OpLoops &nest) {
    for (size_t loop = 0; loop < nest.loops.size(); ++loop)
      for (size_t other = 0; other < loop; ++other)
        for (int atom : nests.table.atoms({nest.loops[loop]}))
          if (llvm::is_contained(nests.table.atoms({nest.loops[other]}), atom))
            return fail("an operation walks over a value along two dimensions at once");
    if (auto conv = dyn_cast<graph::ConvOp>(nest.op))
      return addConvolution(nest, conv);
    if (auto attention = dyn_cast<graph::AttentionOp>(nest.op))
      return addAttention(nest, attention);
    auto op = dyn_cast<linalg::LinalgOp>(nest.op);
    if (auto sort = dyn_cast<graph::SortOp>(nest.op))
      return addSort(nest, sort);
    if (!op)
      return addScan(nest, cast<graph::ScanOp>(nest.op));
    if (std::optional<ContractionParts> parts = matchContraction(op)) {
      FailureOr<bool> isAdded = addContraction(nest, op, *parts);
      if (failed(isAdded) || *isAdded)
        return isAdded;
    }
    if (nest.reduced.empty())
      return addMap(nest, op);
    if (!unreadChecks(*op.getBlock()).empty())
      return fail("a reduction's body checks positions that nothing is read at");
    if (readsWindows(nest, op))
      return addFold(nest, op);
    if (std::optional<ExtremeParts> extreme = matchExtreme(op);
        extreme && isAlongRow(nest, op, *extreme))
      return addArgReduce(nest, op, *extreme);
    return isKnownReduction(op) ? addReduce(nest, op) : addFold(nest, op);
  }

  //===--- where values are ---------------------------------------------------===//

  struct Known {
    int subkernel;
    ResultRef result = {}; // none: it is in memory
    bool isStored = false;
  };

  /// The first subkernel that may read a tensor.
  int earliest(Value root, bool isInMemory) const {
    auto it = values.find(LoopNests::baseOf(root));
    if (it == values.end())
      return 0;
    return it->second.subkernel + (isInMemory || !it->second.result ? 1 : 0);
  }

  int lastSubkernel() const { return int(builders.size()) - 1; }

  int newSubkernel(Location loc) {
    builders.emplace_back(*joined, nests).locations.push_back(loc);
    return lastSubkernel();
  }

  /// The first loop program that may read what the operation reads.
  int subkernelFor(OpLoops &nest) {
    int least = 0;
    for (auto &operand : nest.operands)
      if (operand)
        least = std::max(least, earliest(operand->root, operand->isInMemory));
    nest.op->walk(
        [&](tensor::ExtractOp look) { least = std::max(least, earliest(look.getTensor(), true)); });
    bool isWhole = !builders.empty() && builders.back().takesOneElement(dimsOf(nest.reduced));
    if (lastSubkernel() < least || builders.empty() || builders.back().isClosed || isWhole)
      return newSubkernel(nest.op->getLoc());
    builders.back().locations.push_back(nest.op->getLoc());
    return lastSubkernel();
  }

  std::vector<int> dimsOf(ArrayRef<int> loops) const {
    return joined->of(nests.table.atoms({loops.begin(), loops.end()}));
  }

  /// Puts a value into memory.
  void store(Value value) {
    Known &known = values[value];
    if (!known.result || known.isStored)
      return;
    known.isStored = true;
    builders[known.subkernel].store(known.result, value, *dtypeOf(value.getType()));
  }

  void define(Value value, int subkernel, int statement, int result) {
    values[value] = {subkernel, {statement, result}};
  }

  //===--- operands -----------------------------------------------------------===//

  /// One statement in the making.
  struct Draft {
    int subkernel;
    const OpLoops &nest;
    Statement statement;
    BodyAnalysis body;

    Draft(DispatchAnalyzer &analyzer, int subkernel, const OpLoops &nest, Statement::Kind kind,
          Operation *op)
        : subkernel(subkernel), nest(nest), statement{kind, op},
          body(analyzer.builders[subkernel], statement, nest, analyzer.nests, *analyzer.joined,
               analyzer.storing) {
      for (int loop : nest.loops)
        statement.loops.push_back(analyzer.dimsOf({loop}));
      if (op)
        statement.sources.resize(op->getNumOperands());
    }
    Draft(const Draft &) = delete;
  };

  /// Where the elements of an operand come from, and along which dimensions they extend.
  FailureOr<DimSet> read(Draft &draft, OpOperand &operand) {
    Source &source = draft.statement.sources[operand.getOperandNumber()];
    Value value = operand.get();
    if (Value scalar = isa<RankedTensorType>(value.getType()) ? filledWith(value) : value)
      return readScalar(draft, scalar, source);
    auto &map = draft.nest.operands[operand.getOperandNumber()];
    if (!map)
      return fail("an uninitialised tensor is read");
    return readMap(draft, *map, source);
  }

  FailureOr<DimSet> readScalar(Draft &draft, Value scalar, Source &source) {
    source.scalar = scalar;
    FailureOr<DimSet> dims = draft.body.visit(scalar);
    return failed(dims) ? FailureOr<DimSet>(failBody(draft.body)) : dims;
  }

  FailureOr<DimSet> readMap(Draft &draft, const OperandMap &map, Source &source) {
    auto known = values.find(map.root);
    if (!map.isInMemory && known->second.subkernel == draft.subkernel && known->second.result) {
      source.result = known->second.result;
      return builders[draft.subkernel].loops().dimsOf(source.result);
    }
    FailureOr<Access> access = accessOf(builders[draft.subkernel], map);
    if (failed(access))
      return failure();
    source.access = *access;
    return conversion::dimsOf(*access);
  }

  /// How a tensor is read from memory, where it is put if need be.
  FailureOr<Access> accessOf(SubkernelBuilder &builder, const OperandMap &map) {
    auto dtype = dtypeOf(map.root.getType());
    if (!dtype)
      return fail("its dtype has no kernel");
    if (Value base = LoopNests::baseOf(map.root); values.contains(base))
      store(base);
    if (!map.isInMemory)
      return builder.accessOfValue(map.root, *dtype);
    std::optional<Access> access = builder.accessOfMemory(map, *dtype);
    if (!access)
      return fail("one dimension of a tensor is read along several");
    return *access;
  }

  /// Reads those operands that arguments of the body stand for and `isRead`.
  LogicalResult readOperands(Draft &draft, linalg::LinalgOp op,
                             llvm::function_ref<bool(unsigned)> isRead) {
    for (auto [operand, argument] : llvm::zip(op->getOpOperands(), op.getBlock()->getArguments())) {
      if (argument.use_empty() || !isRead(argument.getArgNumber()))
        continue;
      FailureOr<DimSet> dims = read(draft, operand);
      if (failed(dims))
        return failure();
      draft.body.map(argument, *dims);
    }
    return success();
  }

  void finish(Draft &draft) {
    int number = builders[draft.subkernel].add(std::move(draft.statement));
    Operation *op = builders[draft.subkernel].loops().statements[number].op;
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      define(result, draft.subkernel, number, int(i));
  }

  //===--- elementwise operations and reductions ------------------------------===//

  LogicalResult addMap(OpLoops &nest, linalg::LinalgOp op) {
    Draft draft(*this, subkernelFor(nest), nest, Statement::Kind::Map, op);
    if (failed(readOperands(draft, op, [](unsigned) { return true; })))
      return failure();
    for (Value value : op.getBlock()->getTerminator()->getOperands()) {
      FailureOr<DimSet> dims = draft.body.visit(value);
      if (failed(dims))
        return failBody(draft.body);
      draft.statement.results.push_back(*dims);
    }
    for (graph::CheckIndexOp check : unreadChecks(*op.getBlock())) {
      FailureOr<DimSet> dims = draft.body.visit(check);
      if (failed(dims))
        return failBody(draft.body);
      for (DimSet &result : draft.statement.results)
        result = unionOf(result, *dims);
    }
    finish(draft);
    return success();
  }

  static bool isKnownReduction(linalg::LinalgOp op) {
    Block *block = op.getBlock();
    return llvm::all_of(llvm::enumerate(block->getTerminator()->getOperands()), [&](auto yielded) {
      unsigned state = op.getNumDpsInputs() + unsigned(yielded.index());
      return combinerOf(yielded.value(), block->getArgument(state)) != nullptr;
    });
  }

  LogicalResult addReduce(OpLoops &nest, linalg::LinalgOp op) {
    Draft draft(*this, subkernelFor(nest), nest, Statement::Kind::Reduce, op);
    draft.statement.dims = dimsOf(nest.reduced);
    unsigned inputs = op.getNumDpsInputs();
    if (failed(readOperands(draft, op, [&](unsigned number) { return number < inputs; })))
      return failure();
    Block *block = op.getBlock();
    for (auto [i, yielded] : llvm::enumerate(block->getTerminator()->getOperands())) {
      BlockArgument state = block->getArgument(inputs + i);
      FailureOr<DimSet> element = draft.body.visit(elementOf(yielded, state));
      if (failed(element))
        return failBody(draft.body);
      if (!dtypeOf(yielded.getType()))
        return fail("a reduction of a dtype without kernels");
      DimSet dims = without(*element, draft.statement.dims);
      OpOperand &init = *op.getDpsInitOperand(i);
      Value filled = filledWith(init.get());
      if (!filled || !isNeutral(filled, *combinerOf(yielded, state))) {
        FailureOr<DimSet> start = read(draft, init);
        if (failed(start))
          return failure();
        dims = unionOf(dims, *start);
      }
      draft.statement.results.push_back(dims);
    }
    finish(draft);
    return success();
  }

  static DimSet without(const DimSet &dims, const std::vector<int> &reduced) {
    DimSet kept;
    llvm::copy_if(dims, std::back_inserter(kept),
                  [&](int dim) { return !llvm::is_contained(reduced, dim); });
    return kept;
  }

  /// Whether it is searched for as tile programs do: in one dimension, from the first element on.
  bool isAlongRow(const OpLoops &nest, linalg::LinalgOp op, const ExtremeParts &parts) const {
    Value least = filledWith(op.getDpsInits()[0]), first = filledWith(op.getDpsInits()[1]);
    bool isFloat = isa<FloatType>(parts.element.getType());
    const Combiner *row = findCombiner(parts.isMax ? (isFloat ? "arith.maximumf" : "arith.maxsi")
                                                   : (isFloat ? "arith.minimumf" : "arith.minsi"));
    return dimsOf(nest.reduced).size() == 1 && least && first && isNeutral(least, *row) &&
           matchPattern(first, m_Zero());
  }

  /// The greatest or least element of a row, and its coordinate.
  LogicalResult addArgReduce(OpLoops &nest, linalg::LinalgOp op, const ExtremeParts &parts) {
    Draft draft(*this, subkernelFor(nest), nest, Statement::Kind::ArgReduce, op);
    draft.statement.dims = dimsOf(nest.reduced);
    unsigned inputs = op.getNumDpsInputs();
    if (failed(readOperands(draft, op, [&](unsigned number) { return number < inputs; })))
      return failure();
    FailureOr<DimSet> element = draft.body.visit(parts.element);
    if (failed(element))
      return failBody(draft.body);
    draft.statement.results.assign(2, without(*element, draft.statement.dims));
    finish(draft);
    return success();
  }

  //===--- folds --------------------------------------------------------------===//

  /// Whether the body looks elements up at places that move along a reduced loop and another one.
  bool readsWindows(const OpLoops &nest, linalg::LinalgOp op) const {
    auto isReduced = [&](unsigned loop) {
      return llvm::is_contained(nest.reduced, nest.loops[loop]);
    };
    bool found = false;
    op->walk([&](tensor::ExtractOp look) {
      for (auto [axis, value] : llvm::enumerate(look.getIndices()))
        if (auto index = affineIndexOf(value, look.getTensor(), int64_t(axis), nests.callSizes()))
          found |= index->loops.size() > 1 &&
                   llvm::any_of(index->loops, [&](auto &term) { return isReduced(term.first); });
    });
    return found;
  }

  /// A reduction that goes from element to element, for all results at once.
  LogicalResult addFold(OpLoops &nest, linalg::LinalgOp op) {
    Draft draft(*this, newSubkernel(op.getLoc()), nest, Statement::Kind::Fold, op);
    draft.statement.dims = dimsOf(nest.reduced);
    SmallVector<int> kept;
    for (int loop : nest.loops)
      if (!llvm::is_contained(nest.reduced, loop))
        kept.push_back(loop);
    std::vector<int> along = dimsOf(kept);
    DimSet states(along);
    llvm::sort(states);
    for (OpOperand &init : op.getDpsInitsMutable())
      if (failed(read(draft, init)))
        return failure();
    unsigned inputs = op.getNumDpsInputs();
    if (failed(readOperands(draft, op, [&](unsigned number) { return number < inputs; })))
      return failure();
    Block *block = op.getBlock();
    for (BlockArgument state : block->getArguments().drop_front(inputs))
      draft.body.map(state, states);
    for (Value next : block->getTerminator()->getOperands()) {
      if (failed(draft.body.visit(next)))
        return failBody(draft.body);
      draft.statement.results.push_back(states);
    }
    finish(draft);
    return success();
  }

  //===--- scans --------------------------------------------------------------===//

  LogicalResult addScan(OpLoops &nest, graph::ScanOp op) {
    Block &block = op.getBody().front();
    unsigned states = op.getInitial().size();
    Value yielded = block.getTerminator()->getOperand(0);
    const Combiner *row = states == 1 ? combinerOf(yielded, block.getArgument(0)) : nullptr;
    bool isKnown = row && row->scan && isNeutral(op.getInitial()[0], *row);
    if (!isKnown)
      return addRecurrence(nest, op);
    Draft draft(*this, subkernelFor(nest), nest, Statement::Kind::Scan, op);
    draft.statement.dims = dimsOf(nest.reduced);
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      FailureOr<DimSet> dims = read(draft, op->getOpOperand(i));
      if (failed(dims))
        return failure();
      draft.body.map(block.getArgument(states + i), *dims);
    }
    FailureOr<DimSet> element = draft.body.visit(elementOf(yielded, block.getArgument(0)));
    if (failed(element) || !dtypeOf(yielded.getType()))
      return failBody(draft.body);
    DimSet along(draft.statement.dims);
    draft.statement.results.push_back(unionOf(*element, along));
    finish(draft);
    return success();
  }

  /// A scan with any body: a loop that carries the states and stores them.
  LogicalResult addRecurrence(OpLoops &nest, graph::ScanOp op) {
    int number = newSubkernel(op.getLoc());
    Draft draft(*this, number, nest, Statement::Kind::Recurrence, op);
    draft.statement.dims = dimsOf(nest.reduced);
    Block &block = op.getBody().front();
    unsigned inputs = op.getInputs().size(), count = op.getInitial().size();
    DimSet states = without(dimsOf(nest.loops), draft.statement.dims);
    llvm::sort(states);
    for (unsigned i = 0; i < inputs + count; ++i) { // the initial states stand behind the inputs
      FailureOr<DimSet> dims = read(draft, op->getOpOperand(i));
      if (failed(dims))
        return failure();
      draft.body.map(block.getArgument(i < inputs ? count + i : i - inputs),
                     i < inputs ? *dims : states);
    }
    for (auto [next, result] : llvm::zip(block.getTerminator()->getOperands(), op.getResults())) {
      if (failed(draft.body.visit(next)))
        return failBody(draft.body);
      auto dtype = dtypeOf(result.getType());
      if (!dtype)
        return fail("its dtype has no kernel");
      draft.statement.carriedDims = states;
      draft.statement.targets.push_back(builders[number].accessOfValue(result, *dtype, true));
      values[result] = {number};
    }
    builders[number].add(std::move(draft.statement));
    builders[number].isClosed = true;
    return success();
  }

  //===--- sorts --------------------------------------------------------------===//

  LogicalResult addSort(OpLoops &nest, graph::SortOp op) {
    Draft draft(*this, subkernelFor(nest), nest, Statement::Kind::Sort, op);
    draft.statement.dims = dimsOf(nest.reduced);
    std::vector<int> along = dimsOf({nest.reduced[0]});
    bool isShorter = nest.reduced.size() > 1; // what is kept has a dimension of its own, or is one
    if (along.empty() && !draft.statement.dims.empty())
      return fail("the first of one element are sorted");
    FailureOr<DimSet> dims = read(draft, op->getOpOperand(0));
    if (failed(dims))
      return failure();
    if (!dtypeOf(op.getInput().getType()))
      return fail("its dtype has no kernel");
    DimSet kept = isShorter ? std::vector<int>(draft.statement.dims) : along;
    if (isShorter)
      kept = without(kept, along);
    draft.statement.results.assign(2, unionOf(without(*dims, along), kept));
    finish(draft);
    return success();
  }

  //===--- chains of insertions -----------------------------------------------===//

  /// How the source of the only part is read along the result, beyond its own ends: what lies there
  /// is the number that the rest is filled with.
  static std::optional<OperandMap> paddedMap(const InsertSliceChain &chain) {
    if (!chain.base || chain.baseMap || chain.parts.size() != 1)
      return std::nullopt;
    const InsertSliceChain::Part &part = chain.parts[0];
    if (!part.map)
      return std::nullopt;
    OperandMap map = *part.map;
    map.isInMemory = true;
    for (auto [d, axis] : llvm::enumerate(part.axes)) {
      if (!axis.isPartial)
        continue;
      auto own = llvm::find_if(map.axes, [&](const AxisMap &a) { return a.dims == axis.dims; });
      if (own == map.axes.end() || !own->isPlain() || axis.stride != 1)
        return std::nullopt;
      *own = {chain.axes[d].dims, -axis.offset, 1, axis.scalarTerms, true};
      for (auto &term : own->scalarTerms)
        term.second = -term.second;
    }
    return map;
  }

  LogicalResult addPadded(const InsertSliceChain &chain, const OperandMap &map,
                          kernel::DType dtype) {
    int number = newSubkernel(chain.parts[0].loc);
    OpLoops none;
    Draft draft(*this, number, none, Statement::Kind::Copy, nullptr);
    Source &source = draft.statement.sources.emplace_back();
    source.pad = filledWith(chain.base);
    if (failed(draft.body.visit(source.pad)))
      return failBody(draft.body);
    FailureOr<Access> access = accessOf(builders[number], map);
    if (failed(access))
      return failure();
    source.access = *access;
    draft.statement.target = builders[number].accessOfValue(chain.result, dtype, true);
    builders[number].add(std::move(draft.statement));
    values[chain.result] = {number};
    return success();
  }

  /// A loop program that stores what the tensor is based on, then the parts, in order: all of an
  /// element's values are stored by one program.
  LogicalResult addChain(const InsertSliceChain &chain) {
    auto dtype = dtypeOf(chain.result.getType());
    if (!dtype)
      return fail("its dtype has no kernel");
    if (std::optional<OperandMap> padded = paddedMap(chain))
      return addPadded(chain, *padded, *dtype);
    int number = newSubkernel(chain.result.getLoc());
    auto copy = [&](Value source, const std::optional<OperandMap> &map, ArrayRef<AxisMap> axes) {
      return addCopy(number, chain, source, map, axes, *dtype);
    };
    bool isInPlace = replacesBase(number, chain, *dtype);
    if (chain.base && !isInPlace && failed(copy(chain.base, chain.baseMap, chain.axes)))
      return failure();
    for (const InsertSliceChain::Part &part : chain.parts) {
      builders[number].locations.push_back(part.loc);
      if (failed(copy(part.source, part.map, part.axes)))
        return failure();
    }
    if (chain.scatter && failed(addUpdates(number, chain, *dtype)))
      return failure();
    builders[number].isClosed = true;
    values[chain.result] = {number};
    return success();
  }

  /// Whether the result replaces the base: then only the parts are stored.
  bool replacesBase(int number, const InsertSliceChain &chain, kernel::DType dtype) {
    auto base = chain.baseMap ? dyn_cast<BlockArgument>(chain.baseMap->root) : BlockArgument();
    auto result = llvm::find(returned, chain.result);
    auto isPlain = [](const AxisMap &axis) { return axis.isPlain() || axis.dims.size() == 1; };
    if (!base || !chain.baseMap->isInMemory || result == returned.end() ||
        base.getType() != chain.result.getType() || !llvm::all_of(chain.axes, isPlain) ||
        !llvm::all_of(chain.baseMap->axes, [](const AxisMap &axis) { return axis.isPlain(); }))
      return false;
    auto outs = cast<func::ReturnOp>(dispatch.getBody().front().getTerminator()).getOperands();
    auto place = llvm::find(outs, chain.result);
    auto isRead = [](Operation *user) { return !isa<tensor::DimOp>(user); };
    // What else of the dispatch reads it would see it half updated.
    if (llvm::count_if(base.getUsers(), isRead) != 1 ||
        !isa<linalg::CopyOp, tensor::InsertSliceOp, graph::ScatterOp>(
            *llvm::find_if(base.getUsers(), isRead)) ||
        !graph::isReplacedBy(nests.callSizes().all(), {base.getArgNumber()},
                             unsigned(place - outs.begin())))
      return false;
    auto output = builders[number].accessOfMemory(
        {chain.result, SmallVector<AxisMap>(chain.axes), true}, dtype, true);
    auto input = builders[number].accessOfMemory({base, chain.axes, true}, dtype);
    const auto &buffers = builders[number].buffers();
    if (!input || !output || buffers[input->buffer].shape != buffers[output->buffer].shape)
      return false;
    builders[number].beginAs(output->buffer, input->buffer);
    return true;
  }

  LogicalResult addCopy(int number, const InsertSliceChain &chain, Value from,
                        const std::optional<OperandMap> &map, ArrayRef<AxisMap> axes,
                        kernel::DType dtype) {
    OpLoops none;
    Draft draft(*this, number, none, Statement::Kind::Copy, nullptr);
    Source &source = draft.statement.sources.emplace_back();
    if (failed(map ? readMap(draft, *map, source) : readScalar(draft, filledWith(from), source)))
      return failure();
    draft.statement.target = builders[number].accessOfMemory(
        {chain.result, SmallVector<AxisMap>(axes), true}, dtype, true);
    if (!draft.statement.target)
      return fail("a part is put where a reshape cuts the tensor");
    builders[number].add(std::move(draft.statement));
    return success();
  }

  /// One update after the other, in the order of the scatter's loops; side by side only along axes
  /// that it runs along itself.
  LogicalResult addUpdates(int number, const InsertSliceChain &chain, kernel::DType dtype) {
    const OpLoops &nest = *chain.scatter;
    auto op = cast<graph::ScatterOp>(nest.op);
    builders[number].locations.push_back(op.getLoc());
    Draft draft(*this, number, nest, Statement::Kind::Scatter, op);
    draft.statement.dims = dimsOf(nest.reduced);
    Block &block = op.getBody().front();
    for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
      if (argument.use_empty())
        continue;
      FailureOr<DimSet> dims = read(draft, op->getOpOperand(i));
      if (failed(dims))
        return failure();
      draft.body.map(argument, *dims);
    }
    auto yielded = block.getTerminator()->getOperands();
    if (failed(draft.body.visit(yielded.back())))
      return failBody(draft.body);
    // Neighbours in memory are never the same element: several of them have a position each.
    std::vector<int> sideBySide;
    if (int loop = chain.loopOf.back(); loop >= 0 && chain.axes.back().isPlain())
      sideBySide = dimsOf({loop});
    SmallVector<AxisMap> axes;
    for (auto [axis, loop] : llvm::enumerate(chain.loopOf)) {
      axes.push_back(chain.axes[axis]);
      if (loop >= 0)
        continue;
      axes.back().dims.clear();
      draft.statement.positions.push_back(int(axis));
      FailureOr<DimSet> position = draft.body.visit(yielded[axis]);
      if (failed(position))
        return failBody(draft.body);
      for (int dim : *position)
        if (!llvm::is_contained(draft.statement.dims, dim) && !llvm::is_contained(sideBySide, dim))
          builders[number].takeOneElement(dim);
    }
    draft.statement.target =
        builders[number].accessOfMemory({chain.result, axes, true}, dtype, true);
    if (!draft.statement.target)
      return fail("a scatter updates what a reshape cuts");
    builders[number].add(std::move(draft.statement));
    return success();
  }

  //===--- contractions -------------------------------------------------------===//

  /// False where the template does not cover it: a loop program does then.
  FailureOr<bool> addContraction(OpLoops &nest, linalg::LinalgOp op,
                                 const ContractionParts &parts) {
    const Combiner *add = findCombiner(parts.isFloat ? "arith.addf" : "arith.addi");
    Value init = filledWith(op.getDpsInits()[0]);
    bool isAdded = !init || !isNeutral(init, *add);
    int temporary = isAdded ? temporaries++ : -1;
    SubkernelBuilder builder(*joined, nests);
    Contraction spec;
    Value result = op->getResult(0);
    auto sum = dtypeOf(result.getType());
    Access *accesses[] = {&spec.a, &spec.b};
    for (auto [i, access] : llvm::enumerate(accesses)) {
      auto &map = nest.operands[parts.operands[i]];
      if (!map)
        return false;
      if (!sum)
        return fail("its dtype has no kernel");
      FailureOr<Access> found = accessOf(builder, *map);
      if (failed(found))
        return failure();
      if (llvm::any_of(found->axes, [](const Axis &axis) { return !axis.scalarTerms.empty(); }))
        return false;
      *access = *found;
    }
    spec.c = builder.accessOfValue(result, *sum, true, temporary);
    spec.sum = *sum;
    // Columns are what lies side by side in c.
    if (!spec.c.axes.empty() && spec.a.covers(spec.c.axes.back().dim) &&
        !spec.b.covers(spec.c.axes.back().dim))
      std::swap(spec.a, spec.b);
    builder.locations.push_back(op.getLoc());
    builder.setContraction(std::move(spec));
    builder.isClosed = true;
    if (!refuse(builder.contraction()).empty())
      return false;
    values[result] = {int(builders.size())};
    builders.push_back(std::move(builder));
    if (isAdded && failed(addToInit(nest, op, *sum, temporary)))
      return failure();
    return true;
  }

  /// A product that is added to what was there, which fusion does where the product is stored: a
  /// reduction of the one element that the product is.
  LogicalResult addToInit(OpLoops &nest, linalg::LinalgOp op, kernel::DType dtype, int temporary) {
    int number = newSubkernel(op.getLoc());
    Draft draft(*this, number, nest, Statement::Kind::AddToInit, op);
    draft.statement.loops.clear(); // its body is not looked at
    OpOperand &init = *op.getDpsInitOperand(0);
    FailureOr<DimSet> start = read(draft, init);
    if (failed(start))
      return failure();
    Value result = op->getResult(0);
    Access product = builders[number].accessOfValue(result, dtype, false, temporary);
    draft.statement.results = {unionOf(*start, conversion::dimsOf(product))};
    draft.statement.sources[0] = {{}, {}, product, {}};
    finish(draft);
    return success();
  }

  //===--- convolutions -------------------------------------------------------===//

  LogicalResult addConvolution(OpLoops &nest, graph::ConvOp op) {
    Value init = filledWith(op.getInit());
    if (!op.isResultLast())
      return fail("a convolution has channels first");
    if (!init || !(matchPattern(init, m_Zero()) || matchPattern(init, m_AnyZeroFloat())))
      return fail("a convolution is added to what is there");
    if (!dtypeOf(op.getResult().getType()))
      return fail("its dtype has no kernel");
    SubkernelBuilder builder(*joined, nests);
    Convolution spec;
    int *buffers[] = {&spec.x, &spec.w};
    for (auto [number, buffer] : llvm::enumerate(buffers)) {
      FailureOr<Access> access = accessOf(builder, *nest.operands[number]);
      if (failed(access))
        return failure();
      int64_t channels = number == 0 ? op.inputChannels() : -1;
      for (auto [axis, read] : llvm::enumerate(access->axes)) {
        if (read.stride != 1 || !read.scalarTerms.empty() ||
            (read.offset != 0 && int64_t(axis) != channels))
          return fail("a convolution reads a part of a tensor");
        if (int64_t(axis) == channels)
          spec.firstChannel = read.offset;
      }
      *buffer = access->buffer;
    }
    if (!describe(builder, op, nest, spec))
      return fail("a reshape cuts the result of a convolution");
    builder.locations.push_back(op.getLoc());
    builder.setConvolution(std::move(spec));
    builder.isClosed = true;
    if (std::string why = refuse(builder.getConvolution()); !why.empty())
      return fail("a convolution has no kernel: " + why);
    values[op.getResult()] = {int(builders.size())};
    builders.push_back(std::move(builder));
    return success();
  }

  /// The sizes of a convolution, and its result. False when a dimension of that is none of the
  /// kernel's.
  bool describe(SubkernelBuilder &builder, graph::ConvOp op, const OpLoops &nest,
                Convolution &spec) {
    spec.sum = *dtypeOf(op.getResult().getType());
    spec.groups = int64_t(op.getGroups());
    spec.isTransposed = op.getTransposed();
    spec.isChannelsFirst = !op.isInputLast();
    spec.y = builder.accessOfValue(op.getResult(), spec.sum, true).buffer;
    auto inputAxis = [&](int64_t axis) { return builder.buffers()[spec.x].shape[axis]; };
    auto weightAxis = [&](int64_t axis) { return builder.buffers()[spec.w].shape[axis]; };
    SmallVector<Extent> sizes;
    for (int loop : nest.loops) {
      auto size = builder.extentOf(loop);
      if (!size)
        return false;
      sizes.push_back(*size);
    }
    int64_t spatial = op.getSpatialRank();
    spec.batch = sizes.front();
    spec.outputs = sizes.back();
    if (spec.outputs.size)
      *spec.outputs.size /= spec.groups;
    spec.channels = weightAxis(spatial);
    for (int64_t d = 0; d < spatial; ++d)
      spec.spatial.push_back({inputAxis(op.inputDim(d)), sizes[op.resultDim(d)], weightAxis(d),
                              op.getStrides()[d], op.getDilations()[d], op.getPaddingLow()[d]});
    auto isKept = [](const Extent &size) { return size.size != 1; };
    return builder.buffers()[spec.y].shape.size() == size_t(llvm::count_if(sizes, isKept));
  }

  //===--- attention ----------------------------------------------------------===//

  LogicalResult addAttention(OpLoops &nest, graph::AttentionOp op) {
    FloatAttr scale;
    if (!matchPattern(op.getScale(), m_Constant(&scale)))
      return fail("the scale of an attention is computed at the call");
    SubkernelBuilder builder(*joined, nests);
    Attention spec;
    spec.scale = scale.getValueAsDouble();
    spec.isCausal = op.getCausal();
    spec.sum = *dtypeOf(op.sumType());
    Access *accesses[] = {&spec.query, &spec.key, &spec.value,
                          op.getMask() ? &spec.mask.emplace() : nullptr};
    for (auto [number, access] : llvm::enumerate(accesses)) {
      if (!access)
        continue;
      FailureOr<Access> found = accessOf(builder, *nest.operands[number]);
      if (failed(found))
        return failure();
      if (llvm::any_of(found->axes, [](const Axis &axis) { return !axis.scalarTerms.empty(); }))
        return fail("an operand of an attention begins at a computed place");
      *access = *found;
    }
    Access *stored[] = {&spec.output, op.getNumResults() > 1 ? &spec.logSumExp.emplace() : nullptr};
    for (OpResult result : op->getResults())
      *stored[result.getResultNumber()] =
          builder.accessOfValue(result, *dtypeOf(result.getType()), true);
    std::pair<int *, unsigned> roles[] = {{&spec.queries, op.queryDim()},
                                          {&spec.keys, op.keyDim()},
                                          {&spec.depth, op.depthDim()},
                                          {&spec.width, op.widthDim()}};
    for (auto [role, dim] : roles) {
      auto found = builder.joinedDim(nest.loops[dim]);
      if (!found)
        return fail("a reshape cuts a dimension of an attention");
      *role = *found;
    }
    builder.locations.push_back(op.getLoc());
    builder.setAttention(std::move(spec));
    builder.isClosed = true;
    if (std::string why = refuse(builder.getAttention()); !why.empty())
      return fail("an attention has no kernel: " + why);
    for (Value result : op->getResults())
      values[result] = {int(builders.size())};
    builders.push_back(std::move(builder));
    return success();
  }

  func::FuncOp dispatch;
  bool keepsAxes;
  LoopNests nests;
  std::optional<JoinedDims> joined;
  std::vector<SubkernelBuilder> builders;
  int temporaries = 0; // values between subkernels so far
  llvm::MapVector<Value, Known> values;
  llvm::SetVector<Value> returned;
  std::string reason;
  std::function<void(Value)> storing = [this](Value value) { store(value); };
};

} // namespace

FailureOr<DispatchAnalysis> analyzeDispatch(func::FuncOp dispatch, const CallSizes &calls,
                                            bool keepsAxes, std::string &why) {
  return DispatchAnalyzer(dispatch, calls, keepsAxes).run(why);
}

} // namespace tw::conversion
