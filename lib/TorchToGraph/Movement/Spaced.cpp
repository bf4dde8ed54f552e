// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Movement/Spaced.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Vision/Taps.h"

using namespace mlir;

namespace tw::lower {

Tensor spaced(Lowering &ctx, const Operand &first, const Operand &last, int64_t steps, DType dtype,
              std::optional<double> base) {
  SmallVector<Tensor> tensors; // ends that are
  for (const Operand &each : {first, last})
    if (auto tensor = each.tensor())
      tensors.push_back(*tensor);
  int64_t middle = steps / 2;
  auto body = [&](GatherBody &body, ValueRange elements) {
    Element e(body.b, body.loc, DType::F64);
    auto of = [&](const Operand &operand, Value element) {
      return operand.scalar() ? operand.scalar()->element(body.b, body.loc, DType::F64)
                              : e.cast(element, operand.tensor()->dtype);
    };
    Value start = of(first, elements.empty() ? Value() : elements.front());
    Value end = of(last, elements.empty() ? Value() : elements.back());
    Value step = e.div(e.sub(end, start), e.constant(double(std::max<int64_t>(steps - 1, 1))));
    Value i = BodyIndex{body.b, body.loc}.toFloat(e, body.position(0));
    Value fromStart = e.add(start, e.mul(step, i));
    Value fromEnd = e.sub(end, e.mul(step, e.sub(e.constant(double(steps - 1)), i)));
    Value value =
        steps == 1 ? start : e.select(e.lt(i, e.constant(double(middle))), fromStart, fromEnd);
    if (base)
      value = e.pow(e.constant(*base), value);
    return e.as(dtype).cast(value, DType::F64);
  };
  return gather(ctx, OpFoldResult(ctx.b.getIndexAttr(steps)), dtype, tensors, body);
}

} // namespace tw::lower
