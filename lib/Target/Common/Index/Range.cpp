// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Index/Range.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

using namespace mlir;

namespace tw::target {

std::optional<Range> Range::of(int64_t least, int64_t most) {
  constexpr int64_t mostKnown = int64_t(1) << 30;
  bool isSmall = least >= -mostKnown && most <= mostKnown;
  return isSmall ? std::optional(Range{least, most}) : std::nullopt;
}

std::optional<Range> sum(const Range &a, const Range &b) {
  return Range::of(a.least + b.least, a.most + b.most);
}

std::optional<Range> product(const Range &a, const Range &b) {
  auto [least, most] =
      std::minmax({a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most});
  return Range::of(least, most);
}

Range unionOf(const Range &a, const Range &b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

std::optional<Range> rangeOf(Operation *op, const Range &a, const Range &b) {
  bool isPlain = a.least >= 0 && b.least >= 1; // for divisions
  return llvm::TypeSwitch<Operation *, std::optional<Range>>(op)
      .Case([&](arith::AddIOp) { return sum(a, b); })
      .Case([&](arith::SubIOp) { return sum(a, {-b.most, -b.least}); })
      .Case([&](arith::MulIOp) { return product(a, b); })
      .Case([&](arith::MinSIOp) {
        return Range{std::min(a.least, b.least), std::min(a.most, b.most)};
      })
      .Case([&](arith::MaxSIOp) {
        return Range{std::max(a.least, b.least), std::max(a.most, b.most)};
      })
      .Case([&](arith::SelectOp) { return unionOf(a, b); })
      .Case<arith::DivUIOp, arith::DivSIOp>([&](Operation *) {
        return isPlain ? std::optional(Range{a.least / b.most, a.most / b.least}) : std::nullopt;
      })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](Operation *) {
        return isPlain ? std::optional(Range{0, std::min(a.most, b.most - 1)}) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<bool> staysInside(const std::optional<Range> &first, int64_t span,
                                std::optional<int64_t> size) {
  if (!first || !size || span < 0)
    return std::nullopt;
  if (first->least >= 0 && first->most + span < *size)
    return true;
  if (first->most < 0 || first->least + span >= *size)
    return false;
  return std::nullopt;
}

} // namespace tw::target
