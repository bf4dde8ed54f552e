// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/DispatchAnalyzer.h"
#include "IR/ModelLocation.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::conversion {

FailureOr<DispatchAnalysis> DispatchAnalyzer::run(std::string &why) {
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

LogicalResult DispatchAnalyzer::fail(const Twine &text) {
  reason = text.str();
  return failure();
}

LogicalResult DispatchAnalyzer::failBody(const BodyAnalysis &body) {
  return body.why.empty() ? failure() : fail(body.why);
}

static bool isKnownReduction(linalg::LinalgOp op) {
  Block *block = op.getBlock();
  return llvm::all_of(llvm::enumerate(block->getTerminator()->getOperands()), [&](auto yielded) {
    unsigned state = op.getNumDpsInputs() + unsigned(yielded.index());
    return combinerOf(yielded.value(), block->getArgument(state)) != nullptr;
  });
}

/// Whether loops that are not summed over move what is read along an axis.
static bool isReadInWindows(const OpLoops &nest) {
  return llvm::any_of(nest.operands, [](const std::optional<OperandMap> &map) {
    return map &&
           llvm::any_of(map->axes, [](const AxisMap &axis) { return !axis.dimTerms.empty(); });
  });
}

LogicalResult DispatchAnalyzer::addOp(OpLoops &nest) {
  for (size_t loop = 0; loop < nest.loops.size(); ++loop)
    for (size_t other = 0; other < loop; ++other)
      for (int atom : nests.table.atoms({nest.loops[loop]}))
        if (llvm::is_contained(nests.table.atoms({nest.loops[other]}), atom))
          return fail("an operation walks over a value along two dimensions at once");
  if (auto conv = dyn_cast<graph::ConvOp>(nest.op))
    return addConvolution(nest, conv);
  if (auto attention = dyn_cast<graph::AttentionOp>(nest.op))
    return addAttention(nest, attention);
  if (auto gradient = dyn_cast<graph::AttentionGradientOp>(nest.op))
    return addAttentionGradient(nest, gradient);
  auto op = dyn_cast<linalg::LinalgOp>(nest.op);
  if (auto sort = dyn_cast<graph::SortOp>(nest.op))
    return addSort(nest, sort);
  if (!op)
    return addScan(nest, cast<graph::ScanOp>(nest.op));
  if (std::optional<graph::ContractionParts> parts = graph::matchContraction(op)) {
    FailureOr<bool> isAdded = addContraction(nest, op, *parts);
    if (failed(isAdded) || *isAdded)
      return isAdded;
  }
  // Others have windows looked up in their bodies, where a program has one element of what moves
  // them (WindowOperands.h).
  if (isReadInWindows(nest))
    return fail("an operand is read in windows");
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

int DispatchAnalyzer::earliest(Value root, bool isInMemory) const {
  auto it = values.find(LoopNests::baseOf(root));
  if (it == values.end())
    return 0;
  return it->second.subkernel + (isInMemory || !it->second.result ? 1 : 0);
}

int DispatchAnalyzer::newSubkernel(ArrayRef<Location> locations) {
  llvm::append_range(builders.emplace_back(*joined, nests).locations, locations);
  return lastSubkernel();
}

int DispatchAnalyzer::subkernelFor(OpLoops &nest) {
  int least = 0;
  for (auto &operand : nest.operands)
    if (operand)
      least = std::max(least, earliest(operand->root, operand->isInMemory));
  nest.op->walk(
      [&](tensor::ExtractOp look) { least = std::max(least, earliest(look.getTensor(), true)); });
  bool isWhole = !builders.empty() && builders.back().takesOneElement(dimsOf(nest.reduced));
  if (lastSubkernel() < least || builders.empty() || builders.back().isClosed || isWhole ||
      (!nest.reduced.empty() && isBetterEpilogue()))
    return newSubkernel(operatorLocs(nest.op));
  llvm::append_range(builders.back().locations, operatorLocs(nest.op));
  return lastSubkernel();
}

/// Extents that are unknown count as 1.
static int64_t bytesIn(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t extent : type.getShape())
    bytes *= ShapedType::isDynamic(extent) ? 1 : extent;
  return bytes;
}

bool DispatchAnalyzer::isBetterEpilogue() const {
  llvm::SmallPtrSet<Operation *, 8> own;
  for (const Statement &statement : builders.back().loops().statements) {
    if (statement.kind != Statement::Kind::Map)
      return false;
    own.insert(statement.op);
  }
  llvm::SmallSetVector<Value, 4> products, readByOthers, passedOn;
  for (const OpLoops &nest : nests.ops)
    for (const std::optional<OperandMap> &map : nest.operands) {
      Value root = map ? LoopNests::baseOf(map->root) : Value();
      auto known = values.find(root);
      if (known == values.end())
        continue;
      if (!own.contains(nest.op))
        (own.contains(root.getDefiningOp()) ? passedOn : readByOthers).insert(root);
      else if (builders[known->second.subkernel].loops().statements.empty()) // of a template
        products.insert(root);
    }
  if (products.size() != 1 || passedOn.size() != 1 || !nests.chains.empty())
    return false;
  Value product = products.front(), passed = passedOn.front();
  if (readByOthers.contains(product) || returned.contains(product)) // it is written anyway
    return false;
  auto dimsIn = [&](Value value) { return dimsOf(nests.results.lookup(value)); };
  if (dimsIn(product) != dimsIn(passed)) // as transposed, where fusion cannot follow
    return false;
  int64_t whole = 2 * bytesIn(product) + (returned.contains(passed) ? bytesIn(passed) : 0);
  return 2 * bytesIn(passed) < whole;
}

std::vector<int> DispatchAnalyzer::dimsOf(ArrayRef<int> loops) const {
  return joined->of(nests.table.atoms({loops.begin(), loops.end()}));
}

void DispatchAnalyzer::store(Value value) {
  Known &known = values[value];
  if (!known.result || known.isStored)
    return;
  known.isStored = true;
  builders[known.subkernel].store(known.result, value, *dtypeOf(value.getType()));
}

void DispatchAnalyzer::define(Value value, int subkernel, int statement, int result) {
  values[value] = {subkernel, {statement, result}};
}

FailureOr<DimSet> DispatchAnalyzer::read(Draft &draft, OpOperand &operand) {
  Source &source = draft.statement.sources[operand.getOperandNumber()];
  Value value = operand.get();
  if (Value scalar = isa<RankedTensorType>(value.getType()) ? filledWith(value) : value)
    return readScalar(draft, scalar, source);
  auto &map = draft.nest.operands[operand.getOperandNumber()];
  if (!map)
    return fail("an uninitialised tensor is read");
  return readMap(draft, *map, source);
}

FailureOr<DimSet> DispatchAnalyzer::readScalar(Draft &draft, Value scalar, Source &source) {
  source.scalar = scalar;
  FailureOr<DimSet> dims = draft.body.visit(scalar);
  return failed(dims) ? FailureOr<DimSet>(failBody(draft.body)) : dims;
}

FailureOr<DimSet> DispatchAnalyzer::readMap(Draft &draft, const OperandMap &map, Source &source) {
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

FailureOr<Access> DispatchAnalyzer::accessOf(SubkernelBuilder &builder, const OperandMap &map) {
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

LogicalResult DispatchAnalyzer::readOperands(Draft &draft, linalg::LinalgOp op,
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

void DispatchAnalyzer::finish(Draft &draft) {
  int number = builders[draft.subkernel].add(std::move(draft.statement));
  Operation *op = builders[draft.subkernel].loops().statements[number].op;
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    define(result, draft.subkernel, number, int(i));
}

FailureOr<DispatchAnalysis> analyzeDispatch(func::FuncOp dispatch, const CallSizes &calls,
                                            bool keepsAxes, std::string &why) {
  return DispatchAnalyzer(dispatch, calls, keepsAxes).run(why);
}

} // namespace tw::conversion
