// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.scan: every line along the dimension is one loop that carries the states.
#include "Target/Reference/PlainLoops.h"

using namespace mlir;

namespace tw::target::reference {

LogicalResult emitScan(graph::ScanOp scan, Emitter &e) {
  unsigned dim = scan.getDim();
  FailureOr<Values> initial = e.scalarsOf(scan.getInitial());
  if (failed(initial))
    return failure();
  Indices lines = e.buffer(scan.getResult(0)).sizes;
  Ix length = std::exchange(lines[dim], Ix(1));
  bool isGood = true;
  e.nest(lines, [&](ArrayRef<Ix> line) {
    e.loop(0, length, 1, *initial, [&](Ix i, ArrayRef<Value> states) {
      Indices at(line);
      at[dim] = scan.getReverse() ? e.ix().sub(e.ix().sub(length, 1), i) : i;
      Values arguments(states);
      for (Value input : scan.getInputs())
        arguments.push_back(e.load(e.buffer(input), at));
      FailureOr<Values> next = e.body(scan.getBody().front(), arguments, BodyScope{at});
      isGood &= succeeded(next);
      if (failed(next))
        return Values(states);
      for (auto [result, value] : llvm::zip(scan.getResults(), *next))
        e.store(value, e.buffer(result), at);
      return *next;
    });
  });
  return success(isGood);
}

} // namespace tw::target::reference
