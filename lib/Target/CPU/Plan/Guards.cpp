// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Plan/Guards.h"
#include "Target/Common/Index/Bounds.h"

using namespace mlir;

namespace tw::target::cpu {

static void addInside(Scene &scene, BlockPlan &plan, Access access) {
  if (scene.inside.insert(access).second)
    plan.inside.push_back(access);
}

void planInside(Scene &scene, Block &block, BlockPlan &plan) {
  for (Operation &op : block)
    if (auto box = boxOf(&op))
      for (unsigned d = 0; d < box->positions.size(); ++d)
        if (isSurelyInside(scene.kernel, *box, d))
          addInside(scene, plan, {&op, d});
}

/// Along a dimension whose positions are a tile.
static void planLinearityGuard(Scene &scene, Operation &op, unsigned d, BlockPlan &plan) {
  auto load = dyn_cast<tile::LoadOp>(op);
  int64_t slope = 0;
  auto guard = load ? planLine(scene, load, d, slope) : std::nullopt;
  if (!guard)
    return;
  plan.lines[{&op, d}] = slope;
  scene.lines[{&op, d}] = slope;
  if (guard->tests.empty() && !guard->testsFirst && !guard->testsLast)
    addInside(scene, plan, {&op, d});
  else
    plan.guards.push_back(*guard);
}

/// Of so many products in loops within a block's loop, as Winograd's algorithm has them for its
/// points, there is no second version for what is stored behind the loop: they are most of the
/// code, and a test for each row takes none of the time (ResNet-50 takes two threads 5 % less to
/// compile). Of fewer, it pays: MobileNetV2 takes 2 % longer without.
static constexpr size_t manyProducts = 4;

static bool hasManyProductsInLoops(Block &block) {
  auto isInner = [](tile::ForOp loop, tile::DotOp dot) { return dot->getParentOp() != loop; };
  return llvm::any_of(block.getOps<tile::ForOp>(), [&](tile::ForOp loop) {
    size_t count = 0;
    loop.walk([&](tile::DotOp dot) { count += isInner(loop, dot) ? 1 : 0; });
    return count >= manyProducts;
  });
}

void planGuards(Scene &scene, Block &block, BlockPlan &plan) {
  bool testsRowsOfStores = hasManyProductsInLoops(block);
  for (Operation &op : block) {
    auto box = boxOf(&op);
    if (!box)
      continue;
    std::vector<Size> sizes = tile::sizesOf(cast<tile::BufferType>(box->buffer.getType()));
    for (unsigned d = 0; d < box->positions.size(); ++d) {
      Value position = box->positions[d];
      if (scene.inside.contains({&op, d}))
        continue;
      if (isa<RankedTensorType>(position.getType())) {
        planLinearityGuard(scene, op, d, plan);
        continue;
      }
      if (!scene.ready.contains(position))
        continue;
      if (testsRowsOfStores && isa<tile::StoreOp>(op) && d + 1 < box->positions.size())
        continue;
      auto extent = box->extents[d].constant();
      int64_t stride = box->strides.empty() ? 1 : box->strides[d];
      auto isInside = extent ? target::staysInside(scene.scalars.range(position),
                                                   (*extent - 1) * stride, sizes[d].constant())
                             : std::nullopt;
      if (isInside == true)
        addInside(scene, plan, {&op, d});
      else if (!isInside) // else no program's test would change what is known
        plan.guards.push_back({{&op, d}, false, {}, false, false});
    }
  }
}

} // namespace tw::target::cpu
