// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/OneLaneStores.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <optional>

namespace tw {

/// The only lane that a mask holds for.
static std::optional<unsigned> singleLane(llvm::Value *mask) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(mask);
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  std::optional<unsigned> lane;
  for (unsigned i = 0; constant && type && i < type->getNumElements(); ++i) {
    llvm::Constant *holds = constant->getAggregateElement(i);
    if (holds && holds->isNullValue())
      continue;
    if (!holds || !holds->isOneValue() || lane)
      return std::nullopt;
    lane = i;
  }
  return lane;
}

static void storeSingleLane(llvm::IntrinsicInst *store) {
  llvm::Value *vector = store->getArgOperand(0), *address = store->getArgOperand(1);
  std::optional<unsigned> lane = singleLane(store->getArgOperand(2));
  if (!lane)
    return;
  llvm::IRBuilder<> b(store);
  llvm::Type *element = vector->getType()->getScalarType();
  uint64_t offset = *lane * store->getDataLayout().getTypeStoreSize(element);
  llvm::Align align = llvm::commonAlignment(store->getParamAlign(1).valueOrOne(), offset);
  llvm::Value *place = b.CreateConstInBoundsGEP1_64(element, address, *lane);
  b.CreateAlignedStore(b.CreateExtractElement(vector, *lane), place, align)
      ->setAAMetadata(store->getAAMetadata());
  store->eraseFromParent();
}

void storeSingleLanes(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (auto *store = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          store && store->getIntrinsicID() == llvm::Intrinsic::masked_store)
        storeSingleLane(store);
}

} // namespace tw
