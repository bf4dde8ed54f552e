// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile-update-in-place (Passes.td).
#include "IR/Coded.h"
#include "IR/Graph/Mutations.h"
#include "IR/Tile/Elementwise.h"
#include "IR/Tile/Variants.h"
#include "Tile/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tw::tile {
#define GEN_PASS_DEF_UPDATEINPLACE
#include "Tile/Passes.h.inc"

namespace {

Access accessOf(KernelOp kernel, unsigned argument) {
  return kernel.getArgument(argument).getAccess();
}

/// Whether a load reads, before a store and in the same block, the elements that it writes.
bool readsBoxOf(LoadOp load, StoreOp store) {
  return load && !load.getMask() && load->getBlock() == store->getBlock() &&
         load->isBeforeInBlock(store) && load.getPositions() == store.getPositions() &&
         load.getStrides() == store.getStrides() &&
         load.getType().getShape() == store.getTile().getType().getShape();
}

/// Whether the store leaves elements what they were in `input`.
bool isCopyOf(StoreOp store, Value input) {
  auto load = store.getTile().getDefiningOp<LoadOp>();
  return load && load.getBuffer() == input && readsBoxOf(load, store);
}

/// Whether the elements that a load reads are among those of the box of a store.
bool readsInside(LoadOp load, StoreOp store) {
  if (load.getMask() || load->getBlock() != store->getBlock() || !load.getStrides().empty() ||
      !store.getStrides().empty() || load.getPositions().size() != store.getPositions().size())
    return false;
  ArrayRef<int64_t> own = load.getType().getShape(), all = store.getTile().getType().getShape();
  for (unsigned d = 0; d < load.getPositions().size(); ++d) {
    Value at = load.getPositions()[d], from = store.getPositions()[d];
    APInt first, begin;
    bool areKnown =
        matchPattern(at, m_ConstantInt(&first)) && matchPattern(from, m_ConstantInt(&begin));
    int64_t offset = areKnown ? first.getSExtValue() - begin.getSExtValue() : 0;
    bool isSameSize = own[d] == all[d] && at == from && !isa<RankedTensorType>(at.getType());
    bool isWithin = (at == from || areKnown) && !ShapedType::isDynamic(own[d]) &&
                    !ShapedType::isDynamic(all[d]) && offset >= 0 && offset + own[d] <= all[d];
    if (!isSameSize && !isWithin)
      return false;
  }
  return true;
}

/// What is done with an output.
struct Stores {
  SmallVector<StoreOp> copies, updates; // in order
};

std::optional<Stores> storesOf(BlockArgument output, ArrayRef<BlockArgument> inputs) {
  Stores stores;
  SmallVector<Operation *> users(output.getUsers());
  for (Operation *user : users) {
    auto store = dyn_cast<StoreOp>(user);
    if (!store || store->getBlock() != users.front()->getBlock())
      return std::nullopt;
    bool isCopy = !store.getUpdate() && !store.getMask() &&
                  llvm::any_of(inputs, [&](Value input) { return isCopyOf(store, input); });
    (isCopy ? stores.copies : stores.updates).push_back(store);
  }
  return stores;
}

/// Whether each element of the inputs is read before it is updated, by the program that does.
bool canShare(KernelOp kernel, ArrayRef<BlockArgument> inputs, BlockArgument output,
              bool needsCopies) {
  auto stores = storesOf(output, inputs);
  if (!stores || kernel.getArgument(output.getArgNumber()).getInit() ||
      (needsCopies && stores->copies.empty()))
    return false;
  // One store of the program covers all that it reads, and all that it writes.
  bool isPlain = stores->updates.size() == 1 && !stores->updates[0].getMask() &&
                 !stores->updates[0].getUpdate();
  if (stores->copies.size() > 1 || (stores->copies.empty() && !isPlain))
    return false;
  StoreOp all = stores->copies.empty() ? stores->updates[0] : stores->copies[0];
  for (BlockArgument input : inputs) {
    if (input.getType() != output.getType())
      return false;
    for (Operation *user : input.getUsers()) {
      auto load = dyn_cast<LoadOp>(user);
      bool isRead = load && (readsBoxOf(load, all) || readsInside(load, all)) &&
                    llvm::all_of(stores->updates,
                                 [&](StoreOp store) { return load->isBeforeInBlock(store); });
      if (!isRead)
        return false;
    }
  }
  return true;
}

/// Whether a tile is made of coordinates, scalars and smaller tiles.
bool isOfPositions(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (!isa<RankedTensorType>(tile.getType()) || isa_and_present<IotaOp, FullOp, BroadcastOp>(op))
    return true;
  auto isShape = [&] { return isa<ReshapeOp, TransposeOp>(op); };
  return op && (isElementwise(op) || isShape()) && llvm::all_of(op->getOperands(), isOfPositions);
}

/// Stores select(mask, x, old) as x where the mask holds.
void storeUnderMask(StoreOp store) {
  auto select = store.getTile().getDefiningOp<arith::SelectOp>();
  auto old = select ? select.getFalseValue().getDefiningOp<LoadOp>() : LoadOp();
  if (store.getMask() || store.getUpdate() || !old || old.getBuffer() != store.getBuffer() ||
      !readsBoxOf(old, store) || !isa<RankedTensorType>(select.getCondition().getType()) ||
      !isOfPositions(select.getCondition()))
    return;
  store.getTileMutable().assign(select.getTrueValue());
  store.getMaskMutable().assign(select.getCondition());
}

SmallVector<int64_t> beginsOf(KernelOp kernel) {
  auto known = kernel->getAttrOfType<DenseI64ArrayAttr>(TileDialect::beginsName);
  return known ? SmallVector<int64_t>(known.asArrayRef()) : SmallVector<int64_t>();
}

/// Removes an input that the kernel does not read.
void dropInput(KernelOp kernel, ArrayRef<graph::DispatchOp> calls, unsigned number) {
  SmallVector<Attribute> arguments(kernel.getArguments().getValue());
  arguments.erase(arguments.begin() + number);
  kernel.setArgumentsAttr(ArrayAttr::get(kernel.getContext(), arguments));
  kernel.getBody().eraseArgument(number);
  for (graph::DispatchOp call : calls)
    call.getInputsMutable().erase(number);
  SmallVector<int64_t> begins = beginsOf(kernel);
  for (int64_t &argument : begins)
    argument -= argument > int64_t(number);
  kernel->setAttr(TileDialect::beginsName, DenseI64ArrayAttr::get(kernel.getContext(), begins));
}

/// Makes `output` a buffer that begins as the inputs, which are one tensor in each call.
void share(KernelOp kernel, ArrayRef<BlockArgument> inputs, BlockArgument output) {
  Stores stores = *storesOf(output, inputs);
  for (BlockArgument input : inputs)
    input.replaceAllUsesWith(output);
  SmallVector<Attribute> arguments(kernel.getArguments().getValue());
  ArgumentAttr was = kernel.getArgument(output.getArgNumber());
  arguments[output.getArgNumber()] =
      ArgumentAttr::get(kernel.getContext(), was.getName(), Access::InOut, {}, {});
  kernel.setArgumentsAttr(ArrayAttr::get(kernel.getContext(), arguments));
  SmallVector<int64_t> begins = beginsOf(kernel);
  begins.append({inputs.front().getArgNumber(), output.getArgNumber()});
  kernel->setAttr(TileDialect::beginsName, DenseI64ArrayAttr::get(kernel.getContext(), begins));
  for (StoreOp copy : stores.copies)
    copy.erase();
  for (StoreOp update : stores.updates)
    storeUnderMask(update);
}

struct UpdateInPlace : impl::UpdateInPlaceBase<UpdateInPlace> {
  void runOnOperation() override {
    llvm::StringMap<SmallVector<graph::DispatchOp>> calls;
    getOperation().walk([&](graph::DispatchOp op) { calls[op.getKernel()].push_back(op); });
    SmallVector<KernelOp> called; // what else there is are variants, which may go
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (calls.contains(kernel.getSymName()))
        called.push_back(kernel);
    for (KernelOp kernel : called)
      update(kernel, calls[kernel.getSymName()]);
  }

  /// Arguments are inputs, then outputs: as dispatches give them.
  void update(KernelOp kernel, ArrayRef<graph::DispatchOp> calls) {
    Block &body = kernel.getBody().front();
    graph::DispatchOp call = calls.front();
    unsigned inputs = 0, count = kernel.getArguments().size();
    while (inputs < count && accessOf(kernel, inputs) == Access::In)
      ++inputs;
    for (unsigned output = inputs; output < count; ++output)
      for (unsigned first = 0; first < inputs && accessOf(kernel, output) == Access::Out; ++first) {
        Value old = graph::wholeOf(call.getInputs()[first]);
        SmallVector<unsigned> numbers;
        SmallVector<BlockArgument> same;
        for (unsigned input = first; input < inputs; ++input)
          if (graph::wholeOf(call.getInputs()[input]) == old) {
            numbers.push_back(input);
            same.push_back(body.getArgument(input));
          }
        // What is no state costs the same in memory of its own, unless most of it is copied.
        bool needsCopies = !isa<BlockArgument>(old);
        if (canShare(kernel, same, body.getArgument(output), needsCopies) &&
            graph::isReplacedBy(calls, numbers, output - inputs)) {
          dropVariants(kernel, "it updates a buffer in place");
          share(kernel, same, body.getArgument(output));
          for (unsigned again : llvm::reverse(ArrayRef(numbers).drop_front()))
            dropInput(kernel, calls, again);
          inputs -= unsigned(numbers.size() - 1);
          output -= unsigned(numbers.size() - 1);
          count -= unsigned(numbers.size() - 1);
        }
      }
  }
};

} // namespace

} // namespace tw::tile
