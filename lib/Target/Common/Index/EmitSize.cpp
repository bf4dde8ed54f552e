// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Index/EmitSize.h"
#include "IR/Tile/LoopBounds.h"
#include "Support/Checked.h"
#include "Support/SolveSymbols.h"
#include "Target/Common/Index/ScalarValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target {
namespace {

/// The arithmetic of a tw::Size.
struct SizeOps {
  OpBuilder &b;
  Location loc;
  const SymbolValues &symbols;

  IndexBuilder ix() { return {b, loc}; }
  Ix constant(int64_t value) { return value; }
  Ix symbol(const std::string &name) { return symbols.at(name); }
  Ix add(const Ix &x, const Ix &y) { return ix().add(x, y); }
  Ix mul(const Ix &x, const Ix &y) { return ix().mul(x, y); }
  Ix floorDiv(const Ix &x, const Ix &y) {
    Ix quotient = truncatedDiv(x, y), rest = ix().sub(x, ix().mul(quotient, y));
    // The remainder has the sign of x: where that is not y's, the quotient was rounded up.
    Value isExact = ix().equal(rest, 0);
    Value isBelow = arith::XOrIOp::create(b, loc, ix().less(rest, 0), ix().less(y, 0));
    return ix().select(isExact, quotient, ix().select(isBelow, ix().sub(quotient, 1), quotient));
  }
  Ix ceilDiv(const Ix &x, const Ix &y) { return ix().sub(0, floorDiv(ix().sub(0, x), y)); }
  Ix mod(const Ix &x, const Ix &y) { return ix().sub(x, mul(floorDiv(x, y), y)); }

  Ix truncatedDiv(const Ix &x, const Ix &y) {
    return arith::DivSIOp::create(b, loc, ix().value(x), ix().value(y)).getResult();
  }
};

} // namespace

Ix emitSize(OpBuilder &b, Location loc, const Size &size, const SymbolValues &symbols) {
  if (auto value = size.constant())
    return *value;
  return size.build(SizeOps{b, loc, symbols});
}

void emitSymbols(OpBuilder &b, Location loc, ArrayRef<std::pair<Size, Value>> equations,
                 SymbolValues &symbols) {
  IndexBuilder ix(b, loc);
  std::set<std::string> known;
  for (const auto &[name, value] : symbols)
    known.insert(name);
  auto sizes = llvm::to_vector(llvm::make_first_range(equations));
  for (const SolvedSymbol &solved : solveSymbols(sizes, known)) {
    Ix offset = emitSize(b, loc, solved.offset, symbols);
    Ix factor = emitSize(b, loc, solved.factor, symbols);
    Ix rest = ix.sub(Ix(equations[solved.equation].second), offset);
    symbols[solved.symbol] =
        factor.is(1)
            ? rest
            : Ix(arith::DivSIOp::create(b, loc, ix.value(rest), ix.value(factor)).getResult());
  }
}

/// ceildiv(distance, by) of unsigned numbers, at most 2^63 - 1. Bounds of no trip are 0 apart.
static Ix emitUnsignedTrips(OpBuilder &b, Location loc, const Ix &distance, const Ix &by) {
  IndexBuilder ix(b, loc);
  Ix rounded = ix.add(ix.div(ix.sub(distance, 1), by), 1);
  Ix trips = by.is(1) ? distance : ix.select(ix.equal(distance, 0), 0, rounded);
  if (auto step = by.constant(); step && uint64_t(*step) > 2)
    return trips; // which fit
  return arith::MinUIOp::create(b, loc, ix.value(trips), ix.value(INT64_MAX)).getResult();
}

Ix emitTripCount(OpBuilder &b, tile::ForOp loop, const Ix &begin, const Ix &end, const Ix &step) {
  Location loc = loop.getLoc();
  IndexBuilder ix(b, loc);
  auto first = begin.constant(), last = end.constant(), by = step.constant();
  if (first && last && by)
    return int64_t(std::min<uint64_t>(tripCount(*first, *last, *by), INT64_MAX));
  // From 0 on, and between positions, differences do not overflow.
  if (by && *by > 0 && (begin.is(0) || tile::hasSmallBounds(loop)))
    return ix.div(ix.add(ix.max(0, ix.sub(end, begin)), *by - 1), step);
  if (begin.same(end) || step.is(0))
    return 0;
  if (by && *by > 0)
    return emitUnsignedTrips(b, loc, ix.sub(ix.max(begin, end), begin), step);
  if (by) // -by is the unsigned 2^63 for the least number
    return emitUnsignedTrips(b, loc, ix.sub(begin, ix.min(begin, end)), int64_t(0 - uint64_t(*by)));
  Value isDown = ix.less(step, 0), isNothing = ix.equal(step, 0);
  Ix least = ix.select(isDown, end, begin), most = ix.select(isDown, begin, end);
  Ix distance = ix.sub(ix.max(least, most), least);
  Ix size = ix.select(isNothing, 1, ix.select(isDown, ix.sub(0, step), step));
  return ix.select(isNothing, 0, emitUnsignedTrips(b, loc, distance, size));
}

} // namespace tw::target
