// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Tile/IndexForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tw::tile {

std::string coordinateSymbol(int64_t dim) { return "%program_id " + std::to_string(dim); }

std::string loopSymbol(ForOp loop) {
  unsigned depth = 0;
  while ((loop = loop->getParentOfType<ForOp>()))
    ++depth;
  return "%for " + std::to_string(depth);
}

std::optional<Size> indexForm(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return Size(constant.getSExtValue());
  Operation *op = index.getDefiningOp();
  if (!op) {
    auto loop = dyn_cast<ForOp>(index.getParentBlock()->getParentOp());
    bool isInduction = loop && index.getParentBlock() == &loop.getBody().front() &&
                       index == loop.getInductionVar();
    return isInduction ? std::optional(Size::symbol(loopSymbol(loop))) : std::nullopt;
  }
  if (auto id = dyn_cast<ProgramIdOp>(op))
    return Size::symbol(coordinateSymbol(int64_t(id.getDim())));
  if (auto size = dyn_cast<SizeOp>(op))
    return size.getSize().getSize();
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto left = indexForm(op->getOperand(0)), right = indexForm(op->getOperand(1));
  if (!left || !right)
    return std::nullopt;
  return isa<arith::AddIOp>(op)   ? *left + *right
         : isa<arith::SubIOp>(op) ? *left - *right
                                  : *left * *right;
}

/// The induction variable in the last iteration of a loop that runs upward from 0 or more.
static std::optional<Size> lastOf(ForOp loop) {
  auto begin = indexForm(loop.getBegin()), end = indexForm(loop.getEnd()),
       step = indexForm(loop.getStep());
  auto first = begin ? begin->constant() : std::nullopt;
  auto by = step ? step->constant() : std::nullopt;
  if (!first || *first < 0 || !by || *by < 1 || !end)
    return std::nullopt;
  auto trips = loop.constantTripCount();
  return trips && *trips > 0 ? Size(*first + (*trips - 1) * *by) : *end - Size(1);
}

bool isSurelyInside(KernelOp kernel, Operation *access, Value position, const Size &extent,
                    int64_t stride, const Size &size) {
  auto form = isa<IndexType>(position.getType()) ? indexForm(position) : std::nullopt;
  if (!form || !form->isNonNegative())
    return false;
  // What is not negative for any coordinates grows with them, so the last ones are what counts.
  Size last = *form + (extent - Size(1)) * Size(stride);
  for (auto loop = access->getParentOfType<ForOp>(); loop; loop = loop->getParentOfType<ForOp>())
    if (auto most = lastOf(loop))
      last = last.substitute({{loopSymbol(loop), *most}});
  for (auto [d, count] : llvm::enumerate(kernel.getGrid().getAsRange<SizeAttr>()))
    last = last.substitute({{coordinateSymbol(int64_t(d)), count.getSize() - Size(1)}});
  auto room = (size - Size(1) - last).constant();
  return room && *room >= 0;
}

} // namespace tw::tile
