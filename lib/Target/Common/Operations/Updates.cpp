// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Operations/Updates.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using tw::tile::Update;

namespace tw::target {

LLVM::AtomicBinOp atomicOf(Update update, Type element) {
  bool isFloat = isa<FloatType>(element);
  switch (update) {
  case Update::Add:
    return isFloat ? LLVM::AtomicBinOp::fadd : LLVM::AtomicBinOp::add;
  case Update::Min:
    return isFloat ? LLVM::AtomicBinOp::fminimum : LLVM::AtomicBinOp::min;
  case Update::Max:
    return isFloat ? LLVM::AtomicBinOp::fmaximum : LLVM::AtomicBinOp::max;
  case Update::Any:
    break;
  }
  return LLVM::AtomicBinOp::xchg;
}

void recordFailure(OpBuilder &b, Location loc, Value record, int64_t message, Value value,
                   const Ix &bound) {
  IndexBuilder ix(b, loc);
  auto exchange = LLVM::AtomicCmpXchgOp::create(b, loc, record, ix.value(0), ix.value(message),
                                                LLVM::AtomicOrdering::monotonic,
                                                LLVM::AtomicOrdering::monotonic);
  Value isFirst = LLVM::ExtractValueOp::create(b, loc, exchange.getResult(), 1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(scf::IfOp::create(b, loc, isFirst, false).thenBlock());
  Type pointer = record.getType(), i64 = b.getI64Type();
  for (auto [number, what] : {std::pair(1, value), {2, ix.value(bound)}})
    LLVM::StoreOp::create(
        b, loc, what,
        LLVM::GEPOp::create(b, loc, pointer, i64, record, ArrayRef<LLVM::GEPArg>{int32_t(number)}));
}

} // namespace tw::target
