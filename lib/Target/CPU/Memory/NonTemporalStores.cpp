// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores past the caches. A line that is written in the ordinary way is read from memory first; of
// an output that no cache could hold until its reader comes, that is a third of all traffic.
#include "Target/CPU/Emission/Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::cpu {

bool Emitter::storeNonTemporal(Value value, const Buffer &buffer, const Ix &index) {
  auto type = dyn_cast<VectorType>(value.getType());
  int64_t bytes = type ? type.getNumElements() * bytesOf(buffer.element) : 0;
  // Outputs begin at multiples of TW_ALIGNMENT; a vector that does not would be a fault.
  bool isAligned = bytes >= 16 && bytes <= cpu.vectorBytes && buffer.isNonTemporal &&
                   isMultipleOf(index, type.getNumElements());
  if (!isAligned)
    return false;
  storeTo(value, buffer.base, buffer.element, index, 1, {}, /*isNonTemporal=*/true);
  streams = true;
  return true;
}

void Emitter::finishNonTemporalStores() {
  if (streams && cpu.storeFence) // others may look at the output as soon as the call has returned
    LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr(cpu.storeFence), ValueRange{});
}

} // namespace tw::target::cpu
