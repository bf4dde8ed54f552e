// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-read-slices (Passes.td).
#include "Dispatch/Passes.h"
#include "IR/Graph/Graph.h"
#include "IR/Graph/Mutations.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_READSLICES
#include "Dispatch/Passes.h.inc"

namespace {

/// Whether the elements of a slice lie next to each other: dimensions before the last that is cut
/// have one place.
bool isContiguous(tensor::ExtractSliceOp slice) {
  if (!slice.getSourceType().hasStaticShape() || !slice.getType().hasStaticShape() ||
      !slice.getOffsets().empty() || !slice.hasUnitStride())
    return false;
  auto whole = slice.getSourceType().getShape(), sizes = slice.getStaticSizes();
  int64_t dim = int64_t(whole.size()) - 1;
  while (dim >= 0 && sizes[dim] == whole[dim])
    --dim;
  return llvm::all_of(sizes.take_front(std::max<int64_t>(dim, 0)),
                      [](int64_t size) { return size == 1; });
}

/// Whether a slice begins at a multiple of so many bytes in its tensor.
bool isAligned(tensor::ExtractSliceOp slice, int64_t alignment) {
  int64_t elements = 0;
  for (auto [offset, size] : llvm::zip(slice.getStaticOffsets(), slice.getSourceType().getShape()))
    elements = elements * size + offset;
  int64_t bits = std::max<int64_t>(8, slice.getType().getElementTypeBitWidth());
  return elements * (bits / 8) % alignment == 0;
}

/// The slice that is all that the kernel copies; null: it is another one.
tensor::ExtractSliceOp copiedSlice(func::FuncOp kernel) {
  Block &body = kernel.getBody().front();
  auto result = body.getTerminator()->getNumOperands() == 1
                    ? body.getTerminator()->getOperand(0).getDefiningOp<linalg::CopyOp>()
                    : linalg::CopyOp();
  if (!result || kernel.getNumArguments() != 2 ||
      result.getDpsInits()[0] != kernel.getArgument(1) || llvm::range_size(body) != 3)
    return {};
  auto slice = result.getDpsInputs()[0].getDefiningOp<tensor::ExtractSliceOp>();
  return slice && slice.getSource() == kernel.getArgument(0) && isContiguous(slice)
             ? slice
             : tensor::ExtractSliceOp();
}

/// Whether only kernels read it, also in part or under other shapes.
bool isReadByDispatches(Value tensor) {
  return llvm::all_of(tensor.getUsers(), [](Operation *user) {
    bool isView = graph::isRename(user) || isa<tensor::ExtractSliceOp>(user);
    return isView ? isReadByDispatches(user->getResult(0)) : isa<graph::DispatchOp>(user);
  });
}

/// Whether it need not be in memory but for `reader`, into which its kernel may be fused.
bool isMadeFor(Value tensor, Operation *reader) {
  Value whole = graph::wholeOf(tensor);
  return whole.getDefiningOp<graph::DispatchOp>() && whole == tensor &&
         llvm::all_of(whole.getUsers(),
                      [&](Operation *user) { return user == reader || isa<tensor::DimOp>(user); });
}

struct ReadSlices : impl::ReadSlicesBase<ReadSlices> {
  using ReadSlicesBase::ReadSlicesBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<graph::DispatchOp> calls;
    getOperation().walk([&](graph::DispatchOp call) { calls.push_back(call); });
    llvm::SetVector<Operation *> kernels;
    for (graph::DispatchOp call : calls) {
      auto kernel = symbols.lookup<func::FuncOp>(call.getKernel());
      auto slice = kernel ? copiedSlice(kernel) : tensor::ExtractSliceOp();
      if (!slice || !isAligned(slice, alignment) || isMadeFor(call.getInputs()[0], call) ||
          !isReadByDispatches(call.getResult(0)))
        continue;
      OpBuilder b(call);
      Operation *view = b.clone(*slice);
      graph::setValues(view, {});
      view->setOperand(0, call.getInputs()[0]);
      graph::keepValues(call.getResult(0), view->getResult(0));
      call.getResult(0).replaceAllUsesWith(view->getResult(0));
      call.erase();
      kernels.insert(kernel);
    }
    for (Operation *kernel : kernels)
      if (SymbolTable::symbolKnownUseEmpty(kernel, getOperation()))
        kernel->erase();
  }
};

} // namespace

} // namespace tw
