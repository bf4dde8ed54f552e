// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Emission/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tw::target::nvidia {

static Value constant(OpBuilder &b, Location loc, Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

/// `shfl.sync.bfly` moves 32 bits.
static Value exchangeWord(OpBuilder &b, Location loc, Value word, int64_t lanes) {
  auto i32 = [&](int64_t value) { return constant(b, loc, b.getI32Type(), value); };
  return NVVM::ShflOp::create(b, loc, word.getType(), i32(-1), word, i32(lanes),
                              i32(lanesOfWarp - 1), NVVM::ShflKind::bfly, UnitAttr());
}

Value fromLane(OpBuilder &b, Location loc, Value value, int64_t lanes) {
  Type type = value.getType(), i32 = b.getI32Type(), i64 = b.getI64Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 32)
    return exchangeWord(b, loc, value, lanes);
  if (isa<FloatType>(type)) {
    Type integer = b.getIntegerType(bits);
    Value same = arith::BitcastOp::create(b, loc, integer, value);
    return arith::BitcastOp::create(b, loc, type, fromLane(b, loc, same, lanes));
  }
  if (bits < 32) {
    Value word = exchangeWord(b, loc, arith::ExtUIOp::create(b, loc, i32, value), lanes);
    return arith::TruncIOp::create(b, loc, type, word);
  }
  Value half = constant(b, loc, i64, 32);
  Value high = arith::ShRUIOp::create(b, loc, value, half);
  Value words[] = {arith::TruncIOp::create(b, loc, i32, value),
                   arith::TruncIOp::create(b, loc, i32, high)};
  for (Value &word : words)
    word = arith::ExtUIOp::create(b, loc, i64, exchangeWord(b, loc, word, lanes));
  return arith::OrIOp::create(b, loc, words[0], arith::ShLIOp::create(b, loc, words[1], half));
}

} // namespace tw::target::nvidia
