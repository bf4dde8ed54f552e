// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores past the caches. A line that is written in the ordinary way is read from memory first; of
// an output that no cache could hold until its reader comes, that is a third of all traffic.
#include "Target/CPU/Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::cpu {

/// Outputs of at least this many bytes are streamed: more than a core's share of the last cache.
/// Measured (copies of 1 to 64 MiB, then a reader): from 8 MiB on it is faster on an EPYC with
/// 32 MiB; processors with more cache want the output there for longer.
static constexpr int64_t leastStreamed = int64_t(32) << 20;

bool Emitter::isStreamed(Value buffer) {
  auto argument = kernel.getArgument(cast<BlockArgument>(buffer).getArgNumber());
  const Buffer &known = buffers.find(buffer)->second;
  int64_t bytes = bytesOf(known.element);
  for (const Ix &size : known.sizes)
    if (!size.isConstant() || __builtin_mul_overflow(bytes, *size.constant(), &bytes))
      return false;
  return argument.getAccess() == tile::Access::Out && !argument.getInit() &&
         bytes >= leastStreamed && llvm::all_of(buffer.getUsers(), [](Operation *user) {
           auto store = dyn_cast<tile::StoreOp>(user);
           return store && !store.getUpdate();
         });
}

bool Emitter::streamTo(Value value, const Buffer &buffer, const Ix &index) {
  auto type = dyn_cast<VectorType>(value.getType());
  int64_t bytes = type ? type.getNumElements() * bytesOf(buffer.element) : 0;
  // Outputs begin at multiples of TW_ALIGNMENT; a vector that does not would be a fault.
  bool isAligned = bytes >= 16 && bytes <= cpu.vectorBytes && buffer.isStreamed &&
                   isMultipleOf(index, type.getNumElements());
  if (!isAligned)
    return false;
  storeTo(value, buffer.base, buffer.element, index, 1, {}, /*isStreamed=*/true);
  streams = true;
  return true;
}

void Emitter::finishStreams() {
  if (streams) // others may look at the output as soon as the call has returned
    LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.x86.sse.sfence"), ValueRange{});
}

} // namespace tw::target::cpu
