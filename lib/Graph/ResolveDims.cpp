// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-resolve-dims (Passes.td).
#include "Graph/Passes.h"
#include "Graph/Sizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_RESOLVEDIMS
#include "Graph/Passes.h.inc"

namespace {

struct ResolveDims : impl::ResolveDimsBase<ResolveDims> {
  void runOnOperation() override {
    SmallVector<tensor::DimOp> queries;
    getOperation()->walk([&](tensor::DimOp op) { queries.push_back(op); });
    for (tensor::DimOp op : queries) {
      std::optional<int64_t> dim = op.getConstantIndex();
      if (!dim || *dim >= op.getSource().getType().getRank())
        continue;
      OpBuilder b(op);
      Value size =
          getValueOrCreateConstantIndexOp(b, op.getLoc(), resolvedSize(op.getSource(), *dim, b));
      op.replaceAllUsesWith(size);
      op.erase();
    }
  }
};

} // namespace

} // namespace tw
