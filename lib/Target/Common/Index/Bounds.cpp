// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Index/Bounds.h"
#include "IR/Tile/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target {

std::optional<BoxAccess> boxOf(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return BoxAccess{load.getBuffer(), load.getPositions(), load.getStrides(),
                     tile::extentsOf(load.getType())};
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return BoxAccess{store.getBuffer(), store.getPositions(), store.getStrides(),
                     tile::extentsOf(store.getTile().getType())};
  return std::nullopt;
}

namespace {

/// A value that is never negative, and what it is at most.
std::optional<Size> most(tile::KernelOp kernel, Value index);

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue())
                                                     : std::nullopt;
}

/// The loop variable of `begin to end step step`, upward.
std::optional<Size> mostOf(tile::KernelOp kernel, tile::ForOp loop) {
  auto begin = constantOf(loop.getBegin()), step = constantOf(loop.getStep());
  if (!begin || *begin < 0 || !step || *step < 1)
    return std::nullopt;
  auto end = most(kernel, loop.getEnd());
  return end ? std::optional(*end - Size(1)) : std::nullopt;
}

std::optional<Size> most(tile::KernelOp kernel, Value index) {
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<tile::ForOp>(argument.getOwner()->getParentOp());
    bool isVariable = loop && argument == loop.getInductionVar();
    return isVariable ? mostOf(kernel, loop) : std::nullopt;
  }
  if (auto number = constantOf(index))
    return *number >= 0 ? std::optional(Size(*number)) : std::nullopt;
  auto binary = [&](Operation *op, auto combine) -> std::optional<Size> {
    auto x = most(kernel, op->getOperand(0)), y = most(kernel, op->getOperand(1));
    return x && y ? std::optional(combine(*x, *y)) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, std::optional<Size>>(index.getDefiningOp())
      .Case([&](tile::ProgramIdOp op) {
        return cast<tile::SizeAttr>(kernel.getGrid()[op.getDim()]).getSize() - Size(1);
      })
      .Case([&](tile::SizeOp op) -> std::optional<Size> {
        Size size = op.getSize().getSize(); // a symbol is never negative; other sizes may be
        return size.asSymbol() ? std::optional(size) : std::nullopt;
      })
      .Case([&](arith::AddIOp op) {
        return binary(op, [](const Size &x, const Size &y) { return x + y; });
      })
      .Case([&](arith::MulIOp op) {
        return binary(op, [](const Size &x, const Size &y) { return x * y; });
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace

bool isSurelyInside(tile::KernelOp kernel, const BoxAccess &box, unsigned dim) {
  Value position = box.positions[dim];
  if (isa<RankedTensorType>(position.getType()))
    return false;
  auto first = most(kernel, position);
  if (!first)
    return false;
  int64_t stride = box.strides.empty() ? 1 : box.strides[dim];
  Size last = *first + (box.extents[dim] - Size(1)) * Size(stride);
  Size size = tile::sizesOf(cast<tile::BufferType>(box.buffer.getType()))[dim];
  auto room = (size - Size(1) - last).constant();
  return room && *room >= 0;
}

bool reachesOnlyElementwise(Value value, const llvm::SmallPtrSetImpl<Operation *> &sinks) {
  SmallVector<Value> work{value};
  llvm::DenseSet<Value> seen{value};
  Block *block = (*sinks.begin())->getBlock();
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (sinks.contains(user))
        continue;
      if (!tile::isElementwise(user) || user->getBlock() != block)
        return false;
      if (seen.insert(user->getResult(0)).second)
        work.push_back(user->getResult(0));
    }
  return true;
}

} // namespace tw::target
