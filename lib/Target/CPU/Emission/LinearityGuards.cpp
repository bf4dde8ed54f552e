// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tests of a guard on positions that are a tile (Plan/LinearPositions.cpp): whether they are a
// straight line, and its ends are inside the buffer.
#include "Target/CPU/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// What scalars must not exceed, so that no sum of positions wraps.
constexpr int64_t mostExact = int64_t(1) << 40;

class LinearityGuard {
public:
  LinearityGuard(Emitter &e, const Guard &guard)
      : e(e), guard(guard), load(cast<tile::LoadOp>(guard.access.first)),
        tile(load.getPositions()[guard.access.second]), last(e.ix().sub(e.extents(tile)[0], 1)) {}

  FailureOr<Value> emit() {
    Value holds;
    for (const LinearityTest &test : guard.tests) {
      FailureOr<Value> own = testOf(test);
      if (failed(own))
        return failure();
      holds = e.both(holds, *own);
    }
    const Ix &size = e.buffers.find(load.getBuffer())->second.sizes[guard.access.second];
    for (bool atEnd : {false, true}) {
      if (!(atEnd ? guard.testsLast : guard.testsFirst))
        continue;
      FailureOr<Value> position = e.evaluate(tile, {{atEnd ? last : Ix(0)}, -1, 1});
      if (failed(position))
        return failure();
      holds = e.both(holds, e.ix().inside(Ix::of(*position), size));
    }
    return holds;
  }

private:
  FailureOr<Value> elementAt(Value of, bool atEnd) {
    Point point;
    for (const Size &extent : extentsOf(of))
      point.at.push_back(extent == Size(1) || !atEnd ? Ix(0) : last);
    return e.evaluate(of, point);
  }

  FailureOr<Value> compare(arith::CmpIPredicate predicate, FailureOr<Value> x, FailureOr<Value> y) {
    if (failed(x) || failed(y))
      return failure();
    return arith::CmpIOp::create(e.b, e.loc, predicate, *x, *y).getResult();
  }

  FailureOr<Value> testOf(const LinearityTest &test) {
    using Predicate = arith::CmpIPredicate;
    switch (test.kind) {
    case LinearityTest::Kind::Small:
      return e.ix().inside(e.ix().add(e.index(test.x), mostExact), 2 * mostExact);
    case LinearityTest::Kind::Compare:
      return compare(test.isMax ? Predicate::sge : Predicate::sle, elementAt(test.x, test.atEnd),
                     elementAt(test.y, test.atEnd));
    case LinearityTest::Kind::SameAtBothEnds:
      return compare(Predicate::eq, elementAt(test.x, false), elementAt(test.x, true));
    case LinearityTest::Kind::Equals:
      return compare(Predicate::eq, elementAt(test.x, false),
                     e.constant(e.b.getI1Type(), test.wanted));
    }
    return failure();
  }

  Emitter &e;
  const Guard &guard;
  tile::LoadOp load;
  Value tile;
  Ix last; // the coordinate of the last position
};

} // namespace

FailureOr<Value> Emitter::linearityGuard(const Guard &guard) {
  return LinearityGuard(*this, guard).emit();
}

} // namespace tw::target::cpu
