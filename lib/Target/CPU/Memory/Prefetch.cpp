// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefetches of what the next program reads, beside the loads of this one.
#include "Target/CPU/Emission/Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::cpu {
void Emitter::prefetchNext(tile::LoadOp op, const Ix &index) {
  auto found = llvm::find_if(prefetches, [&](const Prefetch &one) { return one.load == op; });
  if (found == prefetches.end())
    return;
  const Buffer &buffer = buffers.find(op.getBuffer())->second;
  Ix distance = 0;
  for (auto [stride, growth] : llvm::zip(buffer.strides, found->growth))
    distance = ix().add(distance, ix().mul(stride, growth));
  prefetch(buffer.base, buffer.element, ix().add(index, distance), /*toFirstLevel=*/true);
}

void Emitter::prefetch(Value base, Type element, const Ix &index, bool toFirstLevel) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value address = LLVM::GEPOp::create(b, loc, pointer, memoryType(element), base,
                                      ArrayRef<LLVM::GEPArg>{ix().value(index)});
  auto number = [&](int32_t n) { return b.getI32IntegerAttr(n); };
  LLVM::Prefetch::create(b, loc, address, /*rw=*/number(0), /*hint=*/number(toFirstLevel ? 3 : 2),
                         /*cache=*/number(1));
}

} // namespace tw::target::cpu
