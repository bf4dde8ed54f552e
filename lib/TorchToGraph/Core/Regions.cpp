// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch.prim.If and torch.prim.Loop become scf.if and scf.for.
#include "IR/Coded.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Core/Translator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::lower {

/// The type in which a region hands on `value`, which has the torch type `stated` there; null when
/// it cannot.
Type Translator::handedOnType(Value value, Type stated) {
  if (isa<torch::IntType>(stated))
    return IndexType::get(stated.getContext());
  return value && hasOpenSizes(stated) ? typeOf(value) : signatureType(stated);
}

/// The type in which both branches can hand on values of these types; null when there is none.
static Type commonType(Type a, Type c) {
  if (a == c)
    return a;
  auto x = dyn_cast<RankedTensorType>(a), y = dyn_cast<RankedTensorType>(c);
  if (!x || !y || x.getRank() != y.getRank() || x.getElementType() != y.getElementType())
    return nullptr;
  SmallVector<int64_t> sizes(x.getShape());
  for (auto [size, other] : llvm::zip_equal(sizes, y.getShape()))
    if (size != other)
      size = ShapedType::kDynamic;
  return x.clone(sizes);
}

/// Translates a branch. Its results are in the types that `op` states or, where it does not state
/// their sizes, in their own. Empty when one cannot be handed on, which has been reported.
std::optional<Translator::Branch> Translator::translateBranch(torch::IfOp op, Region &from,
                                                              Block *into) {
  OpBuilder::InsertionGuard guard(b);
  Sizes::Scope scope(sizes);
  b.setInsertionPointToStart(into);
  translateBlock(from.front());
  Branch branch{into, {}, {}};
  for (auto [value, stated] :
       llvm::zip(from.front().getTerminator()->getOperands(), op.getResultTypes())) {
    Type type = handedOnType(value, stated);
    Value yielded = handOn(value, type ? type : b.getNoneType(), op.getLoc());
    if (!yielded)
      return std::nullopt;
    branch.results.push_back(yielded);
    branch.extents.push_back(isa<RankedTensorType>(type) ? sizes.of(b, op.getLoc(), yielded)
                                                         : Extents());
  }
  return branch;
}

/// Ends a branch: it yields its results and, so that nothing asks an scf.if for sizes, their
/// dynamic sizes.
void Translator::endBranch(const Branch &branch, ArrayRef<Type> types, Location loc) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.block);
  SmallVector<Value> yields, extents;
  for (auto [value, sizes, type] : llvm::zip_equal(branch.results, branch.extents, types)) {
    bool fits = value.getType() == type;
    yields.push_back(fits ? value : tensor::CastOp::create(b, loc, type, value).getResult());
    auto tensor = dyn_cast<RankedTensorType>(type);
    for (int64_t d = 0; tensor && d < tensor.getRank(); ++d)
      if (tensor.isDynamicDim(d))
        extents.push_back(getValueOrCreateConstantIndexOp(b, loc, sizes[d]));
  }
  llvm::append_range(yields, extents);
  scf::YieldOp::create(b, loc, yields);
}

/// The branches come first: results may have the sizes that these compute.
void Translator::translateIf(torch::IfOp op) {
  Location loc = op.getLoc();
  auto condition = lookup(op.getCondition()).scalar();
  if (auto known = condition->constantInt()) {
    Block &taken = (*known ? op.getThenRegion() : op.getElseRegion()).front();
    translateBlock(taken);
    for (auto [result, value] : llvm::zip(op.getResults(), taken.getTerminator()->getOperands()))
      values[result] = lookup(value);
    return;
  }
  for (Type type : op.getResultTypes())
    if (!hasOpenSizes(type) && !handedOnType({}, type)) {
      emitCoded(loc, Code::LOWER_3) << "a branch yields a value that is no tensor or number";
      return poison(*op);
    }
  Value holds = condition->materialize(b, loc);
  auto draft = scf::IfOp::create(b, loc, TypeRange(), holds, true, true);
  auto yes = translateBranch(op, op.getThenRegion(), draft.thenBlock());
  auto no = translateBranch(op, op.getElseRegion(), draft.elseBlock());
  if (!yes || !no)
    return poison(*op);
  SmallVector<Type> types, all;
  for (auto [x, y] : llvm::zip_equal(yes->results, no->results)) {
    types.push_back(commonType(x.getType(), y.getType()));
    if (types.back())
      continue;
    emitCoded(loc, Code::LOWER_3) << "one branch yields a " << x.getType() << ", the other a "
                                  << y.getType();
    return poison(*op);
  }
  all = types;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      all.append(tensor.getNumDynamicDims(), b.getIndexType());
  endBranch(*yes, types, loc);
  endBranch(*no, types, loc);
  auto branch = scf::IfOp::create(b, loc, all, holds, false, false);
  branch.getThenRegion().takeBody(draft.getThenRegion());
  branch.getElseRegion().takeBody(draft.getElseRegion());
  draft.erase();
  unsigned next = types.size();
  for (auto [result, value] : llvm::zip(op.getResults(), branch.getResults())) {
    define(result, value, loc);
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (!tensor || tensor.hasStaticShape())
      continue;
    SmallVector<OpFoldResult> known;
    for (int64_t size : tensor.getShape())
      known.push_back(ShapedType::isDynamic(size) ? OpFoldResult(branch.getResult(next++))
                                                  : OpFoldResult(b.getIndexAttr(size)));
    sizes.set(value, known);
  }
}

/// Loops over a number of rounds, or until a condition fails. The tensors they carry keep their
/// sizes, which is checked where it is not known. A loop with a condition carries it last and does
/// nothing in the rounds after it has failed; `tw.while` says that these can be left out:
///
///     scf.for %i = %c0 to %rounds step %c1 iter_args(%x = %x0, %go = %c) {
///       %next:2 = scf.if %go { ... } else { scf.yield %x, %go }
///       scf.yield %next#0, %next#1
///     } {tw.while}
void Translator::translateLoop(torch::LoopOp op) {
  Location loc = op.getLoc();
  Block &body = op.getRegion().front();
  auto end = cast<torch::LoopConditionOp>(body.getTerminator());
  auto first = lookup(op.getInitialCondition()).scalar();
  bool isCounted =
      first->constantInt() == 1 && torch::constantBool(end.getShouldContinue()) == true;
  SmallVector<Value> inits;
  for (auto [init, argument] : llvm::zip(op.getIterArgsInit(), body.getArguments().drop_front())) {
    Type type = handedOnType(init, argument.getType());
    Value value = type ? materialize(init, type, loc) : Value();
    if (!value) {
      emitCoded(loc, Code::LOWER_3) << "a loop carries a value that is no tensor or number";
      return poison(*op);
    }
    inits.push_back(value);
  }
  SmallVector<Extents> carriedSizes;
  for (Value init : inits)
    carriedSizes.push_back(isa<RankedTensorType>(init.getType()) ? sizes.of(b, loc, init)
                                                                 : Extents());
  if (!isCounted)
    inits.push_back(first->materialize(b, loc));
  IndexMath m{b, loc};
  Value rounds = lookup(op.getMaxTripCount()).scalar()->materialize(b, loc);
  auto loop =
      scf::ForOp::create(b, loc, m.value(m.constant(0)), rounds, m.value(m.constant(1)), inits);
  if (!translateRound(op, loop, carriedSizes, isCounted))
    return poison(*op);
  defineAll(op.getResults(), loop.getResults(), carriedSizes, loc);
}

bool Translator::translateRound(torch::LoopOp op, scf::ForOp loop, ArrayRef<Extents> carriedSizes,
                                bool isCounted) {
  Location loc = op.getLoc();
  Block &body = op.getRegion().front();
  auto end = cast<torch::LoopConditionOp>(body.getTerminator());
  SmallVector<Value> inits(loop.getInitArgs());
  OpBuilder::InsertionGuard guard(b);
  Sizes::Scope scope(sizes);
  if (inits.empty())
    loop.getBody()->getTerminator()->erase();
  b.setInsertionPointToStart(loop.getBody());
  if (!isCounted) {
    loop->setAttr("tw.while", b.getUnitAttr());
    ValueRange carried = loop.getRegionIterArgs();
    auto round = scf::IfOp::create(b, loc, loop.getResultTypes(), carried.back(), true);
    scf::YieldOp::create(b, loc, round.getResults());
    b.setInsertionPointToStart(round.elseBlock());
    scf::YieldOp::create(b, loc, carried);
    b.setInsertionPointToStart(round.thenBlock());
  }
  define(body.getArgument(0), loop.getInductionVar(), loc);
  defineAll(body.getArguments().drop_front(), loop.getRegionIterArgs(), carriedSizes, loc);
  translateBlock(body);
  SmallVector<Value> next = nextCarried(end, inits, carriedSizes);
  if (!isCounted && next.size() == end.getIterArgs().size())
    next.push_back(handOn(end.getShouldContinue(), b.getI1Type(), loc));
  bool isComplete = next.size() == inits.size() && !llvm::is_contained(next, Value());
  scf::YieldOp::create(b, loc, isComplete ? next : inits);
  return isComplete;
}

/// Binds torch values to what a loop carries; tensors have these sizes.
void Translator::defineAll(ValueRange old, ValueRange carried, ArrayRef<Extents> known,
                           Location loc) {
  for (auto [value, by, extents] : llvm::zip(old, carried, known)) {
    define(value, by, loc);
    if (isa<RankedTensorType>(by.getType()))
      sizes.set(by, extents);
  }
}

/// What a round of a loop hands to the next, with a check that sizes stay; stops at what it cannot.
SmallVector<Value> Translator::nextCarried(torch::LoopConditionOp end, ArrayRef<Value> inits,
                                           ArrayRef<Extents> known) {
  Location loc = end.getLoc();
  SmallVector<Value> next;
  for (auto [value, init, extents] : llvm::zip(end.getIterArgs(), inits, known)) {
    Value yielded = handOn(value, init.getType(), loc);
    if (!yielded)
      break;
    next.push_back(yielded);
    if (isa<RankedTensorType>(init.getType()))
      for (auto [size, before] : llvm::zip(sizes.of(b, loc, yielded), extents))
        sizes.requireEqual(b, loc, before, size,
                           "a loop changes the size of what it carries from %lld to %lld");
  }
  return next;
}

} // namespace tw::lower
