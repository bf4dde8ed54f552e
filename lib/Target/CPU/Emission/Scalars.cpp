// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes, constants and scalars of the kernel.
#include "IR/Coded.h"
#include "Target/CPU/Emission/Emitter.h"
#include "Target/Common/Operations/Elementwise.h"

using namespace mlir;

namespace tw::target::cpu {
Ix Emitter::size(const Size &size) { return emitSize(b, loc, size, symbols); }

Indices Emitter::sizes(ArrayRef<Size> sizes) {
  return llvm::map_to_vector<4>(sizes, [&](const Size &one) { return size(one); });
}

Indices Emitter::extents(Value tile) {
  return sizes(tile::extentsOf(cast<RankedTensorType>(tile.getType())));
}

Type Emitter::scalarType(Type type) { return target::scalarType(type); }

Type Emitter::memoryType(Type type) {
  if (type.isF16() || type.isBF16())
    return IntegerType::get(type.getContext(), 16);
  return type.isInteger(1) ? IntegerType::get(type.getContext(), 8) : scalarType(type);
}

Value Emitter::constant(Type type, double number) { return emitNumber(b, loc, type, number); }

Value Emitter::scalar(Value value) { return scalars.at(value); }

LogicalResult Emitter::refuse(Operation *op, const Twine &why) {
  return emitCoded(op->getLoc(), Code::TARGET_2) << op->getName() << ": " << why;
}

} // namespace tw::target::cpu
