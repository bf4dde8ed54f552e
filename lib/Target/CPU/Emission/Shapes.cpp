// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Emission/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

Point reshapedPoint(Emitter &e, tile::ReshapeOp op, const Point &point) {
  std::vector<Size> from = extentsOf(op.getOperand()), to = extentsOf(op.getResult());
  Point source{Indices(from.size(), Ix(0)), *sourceLane(op, point.lane), point.step};
  if (auto units = unitReshape(op)) {
    for (auto [f, t] : llvm::zip(units->from, units->to))
      source.at[f] = point.at[t];
    return source;
  }
  IndexBuilder ix = e.ix();
  bool keepsLast = !from.empty() && !to.empty() && from.back() == to.back();
  int64_t fromEnd = from.size() - keepsLast, toEnd = to.size() - keepsLast;
  if (keepsLast)
    source.at.back() = point.at.back();
  int64_t same = std::min<int64_t>({sameLeading(from, to), fromEnd, toEnd});
  for (int64_t d = 0; d < same; ++d)
    source.at[d] = point.at[d];
  Ix number = 0;
  for (int64_t d = same; d < toEnd; ++d)
    number = ix.add(ix.mul(number, e.size(to[d])), point.at[d]);
  for (int64_t d = fromEnd - 1; d >= same; --d) {
    Ix extent = e.size(from[d]);
    source.at[d] = d == same ? number : ix.rem(number, extent);
    number = ix.div(number, extent);
  }
  return source;
}

} // namespace

std::optional<Point> sourcePoint(Emitter &e, Operation *op, const Point &point) {
  auto lane = sourceLane(op, point.lane);
  if (!lane)
    return std::nullopt;
  IndexBuilder ix = e.ix();
  return llvm::TypeSwitch<Operation *, std::optional<Point>>(op)
      .Case([&](tile::BroadcastOp o) {
        Point source{point.at, *lane, point.step};
        for (auto [at, extent] : llvm::zip(source.at, extentsOf(o.getOperand())))
          if (extent == Size(1))
            at = 0;
        return source;
      })
      .Case([&](tile::ReshapeOp o) { return reshapedPoint(e, o, point); })
      .Case([&](tile::TransposeOp o) {
        Point source{Indices(point.at.size(), Ix(0)), *lane, point.step};
        for (auto [d, from] : llvm::enumerate(o.getPermutation()))
          source.at[from] = point.at[d];
        return source;
      })
      .Case([&](tile::SliceOp o) {
        Point source{{}, *lane, point.step};
        for (auto [d, at] : llvm::enumerate(point.at))
          source.at.push_back(ix.add(o.getOffsets()[d], ix.mul(at, o.getStrides()[d])));
        if (*lane >= 0)
          source.step *= o.getStrides()[*lane];
        return source;
      });
}

} // namespace tw::target::cpu
