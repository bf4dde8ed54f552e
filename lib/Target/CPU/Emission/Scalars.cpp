// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes, constants and scalars of the kernel.
#include "IR/Coded.h"
#include "Target/CPU/Emission/Emitter.h"
#include "Target/Common/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Emits the arithmetic of a tw::Size. Sizes are checked by the call, so nothing overflows.
struct SizeOps {
  Emitter &e;
  Ix constant(int64_t value) { return value; }
  Ix symbol(const std::string &name) { return e.symbols.at(name); }
  Ix add(const Ix &a, const Ix &b) { return e.ix().add(a, b); }
  Ix mul(const Ix &a, const Ix &b) { return e.ix().mul(a, b); }
  Ix floorDiv(const Ix &a, const Ix &b) {
    IndexBuilder ix = e.ix();
    Ix quotient = truncatedDiv(a, b), rest = ix.sub(a, ix.mul(quotient, b));
    // The remainder has the sign of a: where that is not b's, the quotient was rounded up.
    Value isExact = ix.equal(rest, 0);
    Value isBelow = arith::XOrIOp::create(e.b, e.loc, ix.less(rest, 0), ix.less(b, 0));
    return ix.select(isExact, quotient, ix.select(isBelow, ix.sub(quotient, 1), quotient));
  }
  Ix ceilDiv(const Ix &a, const Ix &b) {
    IndexBuilder ix = e.ix();
    return ix.sub(0, floorDiv(ix.sub(0, a), b));
  }
  Ix mod(const Ix &a, const Ix &b) { return e.ix().sub(a, mul(floorDiv(a, b), b)); }

  Ix truncatedDiv(const Ix &a, const Ix &b) {
    return arith::DivSIOp::create(e.b, e.loc, e.ix().value(a), e.ix().value(b)).getResult();
  }
};

} // namespace

Ix Emitter::size(const Size &size) {
  if (auto value = size.constant())
    return *value;
  return size.build(SizeOps{*this});
}

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
