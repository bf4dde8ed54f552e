// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Index/Bounds.h"
#include "IR/Tile/Elementwise.h"
#include "IR/Tile/IndexForm.h"

using namespace mlir;

namespace tw::target {

std::optional<BoxAccess> boxOf(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return BoxAccess{op, load.getBuffer(), load.getPositions(), load.getStrides(),
                     tile::extentsOf(load.getType())};
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return BoxAccess{op, store.getBuffer(), store.getPositions(), store.getStrides(),
                     tile::extentsOf(store.getTile().getType())};
  return std::nullopt;
}

bool isSurelyInside(tile::KernelOp kernel, const BoxAccess &box, unsigned dim) {
  return tile::isSurelyInside(kernel, box.op, box.positions[dim], box.extents[dim],
                              box.strides.empty() ? 1 : box.strides[dim],
                              tile::sizesOf(cast<tile::BufferType>(box.buffer.getType()))[dim]);
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
