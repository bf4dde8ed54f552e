// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Index/EmitSize.h"
#include "Support/SolveSymbols.h"
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

Ix emitTripCount(OpBuilder &b, Location loc, const Ix &begin, const Ix &end, const Ix &step) {
  IndexBuilder ix(b, loc);
  Ix distance = ix.sub(end, begin);
  if (auto by = step.constant(); by && *by > 0)
    return ix.div(ix.add(ix.max(0, distance), *by - 1), step);
  Value zero = ix.value(0);
  Value isDown = ix.less(step, 0), isNothing = ix.equal(step, 0);
  Ix length = ix.select(isDown, ix.sub(0, distance), distance);
  Ix by = ix.select(isDown, ix.sub(0, step), step);
  by = ix.select(isNothing, 1, by);
  Ix count = ix.div(ix.add(ix.max(0, length), ix.sub(by, 1)), by);
  return ix.select(isNothing, Ix(zero), count);
}

} // namespace tw::target
