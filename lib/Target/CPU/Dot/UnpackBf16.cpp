// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Dot/UnpackBf16.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tw::target::cpu {

std::pair<Value, Value> unpack(Emitter &e, Value bf16) {
  int64_t count = int64_t(cast<VectorType>(bf16.getType()).getNumElements());
  auto type = VectorType::get(count, e.b.getI16Type());
  Value halves = LLVM::BitcastOp::create(e.b, e.loc, type, bf16);
  Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(type));
  auto above = [&](int64_t upper) -> Value {
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < count / 2; ++i) {
      int64_t from = i / 4 * 8 + i % 4 + upper;
      order.append({from, count + from});
    }
    Value both = vector::ShuffleOp::create(e.b, e.loc, zero, halves, order);
    return LLVM::BitcastOp::create(e.b, e.loc, VectorType::get(count / 2, e.b.getF32Type()), both);
  };
  return {above(0), above(4)};
}

void reorder(Emitter &e, MutableArrayRef<Value> vectors, bool isBack) {
  if (vectors.empty()) // of a product without columns
    return;
  int64_t width = int64_t(cast<VectorType>(vectors.front().getType()).getNumElements());
  SmallVector<int64_t> from, to(2 * width);
  for (int64_t i = 0; i < 2 * width; ++i)
    from.push_back(i % width / 4 * 8 + i % 4 + i / width * 4);
  for (int64_t i = 0; i < 2 * width; ++i)
    to[from[i]] = i;
  ArrayRef<int64_t> order = isBack ? to : from;
  for (size_t i = 0; i < vectors.size(); i += 2) {
    Value x = vectors[i], y = vectors[i + 1];
    vectors[i] = vector::ShuffleOp::create(e.b, e.loc, x, y, order.take_front(width));
    vectors[i + 1] = vector::ShuffleOp::create(e.b, e.loc, x, y, order.drop_front(width));
  }
}

} // namespace tw::target::cpu
