// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neighbouring elements in memory, in accesses of up to 128 bits. They must be aligned: buffers and
// scratch begin at multiples of 16 bytes (docs/contracts.md, "Target level"), and what is added to
// that is known from how the index is computed.
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Emission/Width.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t mostMultiple = 64;
static_assert(bufferAlignment % accessBytes == 0);

/// The largest power of two, to mostMultiple, that surely divides a number.
static int64_t multipleOfNumber(int64_t number) {
  return number == 0 ? mostMultiple : std::min(number & -number, mostMultiple);
}

static int64_t multipleOfValue(Value value, int depth = 0) {
  constexpr int mostDepth = 12;
  Operation *op = value.getDefiningOp();
  if (depth > mostDepth)
    return 1;
  auto of = [&](Value operand) { return multipleOfValue(operand, depth + 1); };
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar()
               ? std::min(of(loop.getLowerBound()), of(loop.getStep()))
               : 1;
  }
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([&](arith::ConstantOp o) {
        auto number = dyn_cast<IntegerAttr>(o.getValue());
        return number ? multipleOfNumber(number.getInt()) : 1;
      })
      .Case(
          [&](arith::MulIOp o) { return std::min(of(o.getLhs()) * of(o.getRhs()), mostMultiple); })
      .Case<arith::AddIOp, arith::SubIOp, arith::RemUIOp, arith::MinSIOp, arith::MaxSIOp>(
          [&](auto o) { return std::min(of(o.getLhs()), of(o.getRhs())); })
      .Case(
          [&](arith::SelectOp o) { return std::min(of(o.getTrueValue()), of(o.getFalseValue())); })
      .Default([](Operation *) { return 1; });
}

int64_t Emitter::multipleOf(const Ix &index) {
  return index.dynamic() ? multipleOfValue(index.dynamic()) : multipleOfNumber(*index.constant());
}

/// How many of `count` elements an access may have.
static int64_t pieceOf(Type element, const Ix &index, int64_t count) {
  int64_t most =
      std::min({accessBytes / Emitter::bytesOf(element), count, Emitter::multipleOf(index)});
  return int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(most, 1))));
}

SmallVector<Value> Emitter::loadFrom(Value base, Type element, const Ix &index, int64_t count) {
  SmallVector<Value> values;
  Type memory = memoryType(element);
  for (int64_t first = 0, piece; first < count; first += piece) {
    Ix at = ix().add(index, first);
    piece = pieceOf(element, at, count - first);
    if (piece == 1) {
      values.push_back(loadFrom(base, element, at));
      continue;
    }
    Value vector =
        LLVM::LoadOp::create(b, loc, VectorType::get({piece}, memory), address(base, element, at),
                             unsigned(piece * bytesOf(element)));
    for (int64_t i = 0; i < piece; ++i) {
      Value number = constant(b.getI32Type(), double(i));
      values.push_back(fromMemory(LLVM::ExtractElementOp::create(b, loc, vector, number), element));
    }
  }
  return values;
}

void Emitter::storeTo(ValueRange values, Value base, Type element, const Ix &index) {
  auto count = int64_t(values.size());
  for (int64_t first = 0, piece; first < count; first += piece) {
    Ix at = ix().add(index, first);
    piece = pieceOf(element, at, count - first);
    if (piece == 1) {
      storeTo(values[size_t(first)], base, element, at);
      continue;
    }
    Value vector = LLVM::PoisonOp::create(b, loc, VectorType::get({piece}, memoryType(element)));
    for (int64_t i = 0; i < piece; ++i)
      vector = LLVM::InsertElementOp::create(b, loc, vector,
                                             toMemory(values[size_t(first + i)], element),
                                             constant(b.getI32Type(), double(i)));
    LLVM::StoreOp::create(b, loc, vector, address(base, element, at),
                          unsigned(piece * bytesOf(element)));
  }
}

} // namespace tw::target::nvidia
