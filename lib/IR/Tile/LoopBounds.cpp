// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Tile/LoopBounds.h"
#include "Support/KernelLimits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::tile {

static std::optional<int64_t> constantOf(Value value) {
  llvm::APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue())
                                                     : std::nullopt;
}

static unsigned bitsOf(int64_t number) {
  return 64 - unsigned(llvm::countl_zero(number < 0 ? 0 - uint64_t(number) : uint64_t(number)));
}

namespace {

/// The arithmetic of a tw::Size.
struct Bits {
  unsigned &most;

  unsigned constant(int64_t value) const { return atLeast(bitsOf(value)); }
  unsigned symbol(const std::string &) const { return atLeast(bitsOf(mostOfSymbol)); }
  unsigned add(unsigned x, unsigned y) const {
    return atLeast(x == 0 ? y : y == 0 ? x : std::max(x, y) + 1);
  }
  unsigned mul(unsigned x, unsigned y) const { // by 0 or 1, mostly
    return x <= 1 ? x * y : y <= 1 ? y * x : atLeast(x + y);
  }
  unsigned floorDiv(unsigned x, unsigned) const { return x; }
  unsigned ceilDiv(unsigned x, unsigned) const { return x; }
  unsigned mod(unsigned, unsigned y) const { return y; }
  unsigned atLeast(unsigned bits) const { return most = std::max(most, bits), bits; }
};

} // namespace

unsigned bitsOf(const Size &size) {
  unsigned most = 0;
  size.build(Bits{most});
  return most;
}

/// How many bits a scalar that was computed without overflow takes at most, its sign aside;
/// nothing where that is not known.
static std::optional<unsigned> bitsOf(Value scalar, int depth = 0) {
  constexpr unsigned mostBits = 61;
  constexpr int deepest = 12;
  if (auto number = constantOf(scalar)) {
    unsigned bits = bitsOf(*number);
    return bits <= mostBits ? std::optional(bits) : std::nullopt;
  }
  if (depth > deepest)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    auto loop = dyn_cast<ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return std::nullopt;
    auto begin = bitsOf(loop.getBegin(), depth + 1), end = bitsOf(loop.getEnd(), depth + 1);
    return begin && end ? std::optional(std::max(*begin, *end)) : std::nullopt;
  }
  Operation *op = scalar.getDefiningOp();
  if (isa<ProgramIdOp>(op))
    return bitsOf(mostPrograms - 1);
  if (auto size = dyn_cast<SizeOp>(op)) {
    unsigned bits = bitsOf(size.getSize().getSize());
    return bits <= mostBits ? std::optional(bits) : std::nullopt;
  }
  unsigned first = isa<arith::SelectOp>(op) ? 1 : 0;
  if (op->getNumOperands() != 2 + first || !scalar.getType().isIndex())
    return std::nullopt;
  auto x = bitsOf(op->getOperand(first), depth + 1),
       y = bitsOf(op->getOperand(first + 1), depth + 1);
  if (!x || !y)
    return std::nullopt;
  std::optional<unsigned> bits =
      llvm::TypeSwitch<Operation *, std::optional<unsigned>>(op)
          .Case<arith::AddIOp, arith::SubIOp>([&](Operation *) { return std::max(*x, *y) + 1; })
          .Case([&](arith::MulIOp) { return *x + *y; })
          .Case<arith::MinSIOp, arith::MaxSIOp, arith::SelectOp>(
              [&](Operation *) { return std::max(*x, *y); })
          .Case<arith::DivSIOp>([&](Operation *) { return *x + 1; })
          .Case<arith::RemSIOp>([&](Operation *) { return *x; })
          .Default([](Operation *) { return std::nullopt; });
  return bits && *bits <= mostBits ? bits : std::nullopt;
}

bool hasSmallBounds(ForOp loop) { return bitsOf(loop.getBegin()) && bitsOf(loop.getEnd()); }

} // namespace tw::tile
