// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.scan: every line along the dimension is one loop that carries the states.
#include "IR/Graph/Graph.h"
#include "Target/Reference/Operations.h"

using namespace mlir;

namespace tw::target::reference {

LogicalResult emitScan(Operation *op, Emitter &e) {
  auto scan = cast<graph::ScanOp>(op);
  unsigned dim = scan.getDim();
  SmallVector<Buffer> inputs, outs;
  for (Value input : scan.getInputs())
    inputs.push_back(e.buffer(input));
  for (Value result : scan.getResults())
    outs.push_back(e.buffer(result));
  SmallVector<Value> initial;
  for (Value value : scan.getInitial()) {
    FailureOr<Value> scalar = e.scalar(value);
    if (failed(scalar))
      return failure();
    initial.push_back(*scalar);
  }
  SmallVector<Range> lines = e.ranges(inputs[0].sizes);
  Ix length = inputs[0].sizes[dim];
  lines[dim] = {0, 1, true};
  bool good = true;
  e.nest(lines, [&](ArrayRef<Ix> line) {
    e.loop(0, length, 1, initial, [&](Ix i, ArrayRef<Value> states) {
      Indices at(line);
      at[dim] = scan.getReverse() ? e.ix().sub(e.ix().sub(length, 1), i) : i;
      SmallVector<Value> arguments(states);
      for (const Buffer &input : inputs)
        arguments.push_back(e.load(input, e.linear(input, at)));
      auto next = e.body(scan.getBody().front(), arguments, {at});
      good &= succeeded(next);
      if (failed(next))
        return SmallVector<Value>(states);
      for (auto [out, value] : llvm::zip(outs, *next))
        e.store(value, out, e.linear(out, at));
      return *next;
    });
  });
  return success(good);
}

} // namespace tw::target::reference
