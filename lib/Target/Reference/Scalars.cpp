// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar operations: the bodies of structured operations and the index arithmetic around them. They
// are repeated, with i64 for index (Target/Common/Operations/LowerScalars.h does what remains);
// positions from data are checked.
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "Target/Common/Operations/Elementwise.h"
#include "Target/Common/Operations/Updates.h"
#include "Target/Reference/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::reference {

Type Emitter::scalarType(Type type) { return target::scalarType(type); }

Type Emitter::sumType(Type type) {
  return isa<FloatType>(type) ? Float64Type::get(type.getContext()) : scalarType(type);
}

Value Emitter::constant(Type type, double number) { return emitNumber(b, loc, type, number); }

Value Emitter::convert(Value value, Type to, bool isSigned) {
  return convertScalarToDtype(b, loc, value, to, /*isUnsignedCast=*/!isSigned);
}

Value Emitter::add(Value x, Value y) { return ArithBuilder(b, loc).add(x, y); }

Value Emitter::mul(Value x, Value y) { return ArithBuilder(b, loc).mul(x, y); }

/// The result is 0 where the index is bad; the first failure of a call is recorded.
Value Emitter::checkIndex(StringRef message, Value index, Value bound) {
  auto it = llvm::find(failures, message);
  int64_t number = it - failures.begin() + 1;
  if (it == failures.end())
    failures.push_back(message.str());
  Value isGood = ix().inside(index, bound);
  Value isBad = arith::XOrIOp::create(b, loc, isGood, constant(b.getI1Type(), 1));
  ifThen(isBad, [&] { recordFailure(b, loc, failureRecord, number, index, bound); });
  return ix().value(ix().select(isGood, index, 0));
}

static FailureOr<Values> branch(Emitter &e, scf::IfOp op, Value condition, const BodyScope &scope) {
  auto types = llvm::map_to_vector(op.getResultTypes(), Emitter::scalarType);
  auto copy =
      scf::IfOp::create(e.b, e.loc, TypeRange(types), condition, !op.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(op->getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(&to.front());
    FailureOr<Values> yielded = e.body(from.front(), {}, scope);
    if (failed(yielded))
      return failure();
    if (!types.empty())
      scf::YieldOp::create(e.b, e.loc, *yielded);
  }
  return Values(copy.getResults());
}

static FailureOr<Values> repeatLoop(Emitter &e, scf::ForOp op, ArrayRef<Value> operands,
                                    const BodyScope &scope) {
  bool hasFailed = false;
  Values results = e.loop(operands[0], operands[1], operands[2], operands.drop_front(3),
                          [&](Ix i, ArrayRef<Value> carried) {
                            Values arguments{e.ix().value(i)};
                            llvm::append_range(arguments, carried);
                            FailureOr<Values> next = e.body(*op.getBody(), arguments, scope);
                            hasFailed |= failed(next);
                            return succeeded(next) ? *next : Values(carried);
                          });
  return hasFailed ? FailureOr<Values>() : results;
}

FailureOr<Values> Emitter::scalarOp(Operation *op, ArrayRef<Value> operands,
                                    const BodyScope &scope) {
  using Result = FailureOr<Values>;
  auto one = [](Value value) { return Result(Values{value}); };
  auto at = [&](int64_t dim) { return one(ix().value(scope.indices[dim])); };
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::ConstantIndexOp o) { return one(constant(b.getI64Type(), o.value())); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>([&](Operation *o) {
        return one(convert(operands[0], scalarType(o->getResult(0).getType()),
                           /*isSigned=*/isa<arith::IndexCastOp>(o)));
      })
      .Case([&](linalg::IndexOp o) { return at(o.getDim()); })
      .Case([&](graph::IndexOp o) { return at(o.getDim()); })
      .Case([&](graph::CheckIndexOp o) {
        return one(checkIndex(o.getMessage(), operands[0], operands[1]));
      })
      .Case([&](tensor::ExtractOp o) {
        return one(load(buffer(o.getTensor()), Indices(llvm::drop_begin(operands))));
      })
      .Case([&](tensor::DimOp o) -> Result {
        std::optional<int64_t> dim = o.getConstantIndex();
        FailureOr<Ix> found = dim ? size({o.getSource(), *dim}) : FailureOr<Ix>();
        return succeeded(found) ? one(ix().value(*found)) : Result();
      })
      .Case([&](scf::IfOp o) { return branch(*this, o, operands[0], scope); })
      .Case([&](scf::ForOp o) { return repeatLoop(*this, o, operands, scope); })
      .Default([&](Operation *o) -> Result {
        if (isa_and_nonnull<arith::ArithDialect, math::MathDialect, ub::UBDialect>(
                o->getDialect())) {
          auto types = llvm::map_to_vector(o->getResultTypes(), scalarType);
          OperationState same(loc, o->getName(), operands, types, o->getAttrs());
          return Values(b.create(same)->getResults());
        }
        return emitCoded(o->getLoc(), Code::TARGET_2)
               << "the reference target cannot do the scalar operation "
               << o->getName().getStringRef();
      });
}

/// Null for tensors.
FailureOr<Values> Emitter::scalarsOf(ValueRange of) {
  return collect<Values>(of, [&](Value value) {
    return isa<TensorType>(value.getType()) ? FailureOr<Value>(Value()) : scalar(value);
  });
}

LogicalResult Emitter::evaluate(Operation *op, const BodyScope &scope) {
  FailureOr<Values> operands = scalarsOf(op->getOperands());
  if (failed(operands))
    return failure();
  FailureOr<Values> results = scalarOp(op, *operands, scope);
  if (succeeded(results))
    for (auto [result, value] : llvm::zip(op->getResults(), *results))
      scalars[result] = value;
  return results;
}

FailureOr<Values> Emitter::body(Block &block, ArrayRef<Value> arguments, const BodyScope &scope) {
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    scalars[argument] = value;
  for (Operation &op : block.without_terminator()) {
    Value term = scope.terms.lookup(&op);
    FailureOr<Value> known = term ? scalar(term) : FailureOr<Value>(Value());
    if (failed(known) || (!term && failed(evaluate(&op, scope))))
      return failure();
    if (term)
      scalars[op.getResult(0)] = *known;
  }
  return scalarsOf(block.getTerminator()->getOperands());
}

} // namespace tw::target::reference
