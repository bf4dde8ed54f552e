// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch.prim.If and torch.prim.Loop become scf.if and scf.for.
#include "IR/Coded.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Core/Translator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tw::lower {

/// The type in which a region hands on a value of a torch type; null when it cannot.
static Type handedOnType(Type type) {
  return isa<torch::IntType>(type) ? Type(IndexType::get(type.getContext())) : signatureType(type);
}

/// A branch yields its values and, so that nothing asks an scf.if for sizes, their dynamic sizes.
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
  SmallVector<Type> types, all;
  for (Type type : op.getResultTypes())
    types.push_back(handedOnType(type));
  if (llvm::is_contained(types, Type())) {
    emitCoded(loc, Code::LOWER_3) << "a branch yields a value that is no tensor or number";
    return poison(*op);
  }
  all = types;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      all.append(tensor.getNumDynamicDims(), b.getIndexType());

  auto branch = scf::IfOp::create(b, loc, all, condition->materialize(b, loc), true);
  auto translateBranch = [&](Region &region, Block *into) {
    OpBuilder::InsertionGuard guard(b);
    Sizes::Scope scope(sizes);
    b.setInsertionPointToStart(into);
    translateBlock(region.front());
    SmallVector<Value> yields, extents;
    for (auto [value, type] : llvm::zip(region.front().getTerminator()->getOperands(), types)) {
      Value yielded = lookup(value).isPoison() ? Value() : materialize(value, type, loc);
      if (!yielded)
        return false;
      yields.push_back(yielded);
      auto tensor = dyn_cast<RankedTensorType>(type);
      for (int64_t d = 0; tensor && d < tensor.getRank(); ++d)
        if (tensor.isDynamicDim(d))
          extents.push_back(getValueOrCreateConstantIndexOp(b, loc, sizes.of(b, loc, yielded)[d]));
    }
    llvm::append_range(yields, extents);
    scf::YieldOp::create(b, loc, yields);
    return true;
  };
  bool fine = translateBranch(op.getThenRegion(), branch.thenBlock());
  fine &= translateBranch(op.getElseRegion(), branch.elseBlock());
  if (!fine)
    return poison(*op);
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

/// Whether what ends a round of `loop` always says to go on.
static bool goesOn(Block &body, llvm::function_ref<const Operand &(Value)> lookup) {
  auto end = cast<torch::LoopConditionOp>(body.getTerminator());
  auto scalar = lookup(end.getShouldContinue()).scalar();
  return scalar && scalar->constantInt() == 1;
}

/// Loops over a number of rounds known before the first; the tensors they carry keep their sizes,
/// which is checked where it is not known.
void Translator::translateLoop(torch::LoopOp op) {
  Location loc = op.getLoc();
  Block &body = op.getRegion().front();
  auto refuse = [&](const Twine &what) {
    emitCoded(loc, Code::LOWER_3) << what;
    poison(*op);
  };
  if (lookup(op.getInitialCondition()).scalar()->constantInt() != 1)
    return refuse("loops that end by a condition are not supported, only those over a range");
  SmallVector<Value> inits;
  for (auto [init, argument] : llvm::zip(op.getIterArgsInit(), body.getArguments().drop_front())) {
    Type type = handedOnType(argument.getType());
    Value value = type ? materialize(init, type, loc) : Value();
    if (!value)
      return refuse("a loop carries a value that is no tensor or number");
    inits.push_back(value);
  }
  IndexMath m{b, loc};
  Value rounds = lookup(op.getMaxTripCount()).scalar()->materialize(b, loc);
  auto loop =
      scf::ForOp::create(b, loc, m.value(m.constant(0)), rounds, m.value(m.constant(1)), inits);
  SmallVector<SmallVector<OpFoldResult>> carriedSizes;
  for (Value init : inits)
    carriedSizes.push_back(isa<RankedTensorType>(init.getType()) ? sizes.of(b, loc, init)
                                                                 : SmallVector<OpFoldResult>());
  {
    OpBuilder::InsertionGuard guard(b);
    Sizes::Scope scope(sizes);
    b.setInsertionPointToStart(loop.getBody());
    define(body.getArgument(0), loop.getInductionVar(), loc);
    for (auto [old, carried, known] :
         llvm::zip(body.getArguments().drop_front(), loop.getRegionIterArgs(), carriedSizes)) {
      define(old, carried, loc);
      if (isa<RankedTensorType>(carried.getType()))
        sizes.set(carried, known);
    }
    translateBlock(body);
    if (!goesOn(body, [&](Value v) -> const Operand & { return lookup(v); })) {
      scf::YieldOp::create(b, loc, inits);
      return refuse("loops that end by a condition are not supported, only those over a range");
    }
    SmallVector<Value> next;
    auto end = cast<torch::LoopConditionOp>(body.getTerminator());
    for (auto [value, init, known] : llvm::zip(end.getIterArgs(), inits, carriedSizes)) {
      Value yielded = lookup(value).isPoison() ? Value() : materialize(value, init.getType(), loc);
      if (!yielded) {
        scf::YieldOp::create(b, loc, inits);
        return poison(*op);
      }
      next.push_back(yielded);
      if (isa<RankedTensorType>(init.getType()))
        for (auto [size, before] : llvm::zip(sizes.of(b, loc, yielded), known))
          sizes.requireEqual(b, loc, before, size,
                             "a loop changes the size of what it carries from %lld to %lld");
    }
    scf::YieldOp::create(b, loc, next);
  }
  for (auto [result, value, known] : llvm::zip(op.getResults(), loop.getResults(), carriedSizes)) {
    define(result, value, loc);
    if (isa<RankedTensorType>(value.getType()))
      sizes.set(value, known);
  }
}

} // namespace tw::lower
