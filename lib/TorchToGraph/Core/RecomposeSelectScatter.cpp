// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Core/RecomposeSelectScatter.h"
#include "IR/Torch/AtenOp.h"
#include "IR/Torch/Torch.h"

using namespace mlir;

namespace tw::lower {
namespace {

using Where = torch::Torch<"aten.where.self">;
using Equal = torch::Torch<"aten.eq.Scalar">;
using View = torch::Torch<"aten.view">;
using Arange = torch::Torch<"aten.arange.start_step">;
using Expand = torch::Torch<"aten.expand">;
using Unsqueeze = torch::Torch<"aten.unsqueeze">;

/// The operation of this kind that makes an argument; null if another does.
template <typename Op>
Op madeBy(torch::AtenOp op, StringRef argument) {
  Operation *def = op ? op.arg(argument).getDefiningOp() : nullptr;
  return def && isa<Op>(def) ? Op(def) : Op();
}

/// Sizes that are all known; empty otherwise.
std::optional<SmallVector<int64_t>> sizesOf(Value tensor) {
  auto type = dyn_cast<torch::ValueTensorType>(tensor.getType());
  if (!type || !type.getHasSizes() ||
      llvm::is_contained(type.getSizes(), torch::ValueTensorType::kUnknownSize))
    return std::nullopt;
  return SmallVector<int64_t>(type.getSizes());
}

/// Whether the condition holds at place `index` along `dim` alone, of tensors of these sizes.
bool isOnePlace(Equal equal, ArrayRef<int64_t> sizes, int64_t dim) {
  auto view = madeBy<View>(equal, "self");
  auto arange = madeBy<Arange>(view, "self");
  auto index = equal ? equal.intArg("other") : std::nullopt;
  SmallVector<int64_t> expected(sizes.size(), 1);
  expected[dim] = sizes[dim];
  return arange && arange.intArg("start") == 0 && arange.intArg("end") == sizes[dim] &&
         arange.intArg("step") == 1 && sizesOf(view->getResult(0)) == expected && index &&
         *index >= 0 && *index < sizes[dim];
}

void recompose(Where op) {
  auto expand = madeBy<Expand>(op, "self");
  auto unsqueeze = madeBy<Unsqueeze>(expand, "self");
  Value base = op.arg("other");
  auto sizes = sizesOf(base);
  auto dim = unsqueeze ? unsqueeze.intArg("dim") : std::nullopt;
  if (!dim || !sizes || base.getType() != op->getResult(0).getType() ||
      expand->getResult(0).getType() != base.getType())
    return;
  int64_t rank = int64_t(sizes->size()), axis = *dim < 0 ? *dim + rank : *dim;
  Value source = unsqueeze.arg("self");
  SmallVector<int64_t> part(*sizes);
  if (axis < 0 || axis >= rank)
    return;
  part.erase(part.begin() + axis);
  auto equal = madeBy<Equal>(op, "condition");
  if (sizesOf(source) != part || !isOnePlace(equal, *sizes, axis))
    return;
  OpBuilder b(op);
  auto made = torch::AtenOp::create(b, op.getLoc(), "aten.select_scatter", base.getType(), {},
                                    {{"self", base},
                                     {"src", source},
                                     {"dim", unsqueeze.arg("dim")},
                                     {"index", equal.arg("other")}});
  op->getResult(0).replaceAllUsesWith(made->getResult(0));
}

} // namespace

void recomposeSelectScatter(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto where = dyn_cast<Where>(op))
      recompose(where);
  });
}

} // namespace tw::lower
