// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/MergeProducts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace tw {

/// The product that may be fused with the only operation that uses it; null: it is none.
static llvm::BinaryOperator *mergeableProduct(llvm::Value *value) {
  auto *product = llvm::dyn_cast<llvm::BinaryOperator>(value);
  bool fits = product && product->getOpcode() == llvm::Instruction::FMul &&
              product->hasAllowContract() && product->hasOneUse();
  return fits ? product : nullptr;
}

/// Numbers of 16 bits are computed in f32, and rounded after each step.
static bool hasFusedOperation(const llvm::Type *type) {
  const llvm::Type *scalar = type->getScalarType();
  return scalar->isFloatTy() || scalar->isDoubleTy();
}

static void mergeInto(llvm::BinaryOperator *sum) {
  bool isDifference = sum->getOpcode() == llvm::Instruction::FSub;
  llvm::BinaryOperator *left = mergeableProduct(sum->getOperand(0));
  llvm::BinaryOperator *product = left ? left : mergeableProduct(sum->getOperand(1));
  if (!product)
    return;
  llvm::IRBuilder<> b(sum);
  llvm::Value *x = product->getOperand(0), *y = product->getOperand(1);
  llvm::Value *other = sum->getOperand(left ? 1 : 0);
  if (isDifference && left)
    other = b.CreateFNeg(other);
  else if (isDifference)
    x = b.CreateFNeg(x);
  llvm::Value *fused = b.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {x, y, other});
  sum->replaceAllUsesWith(fused);
  sum->eraseFromParent();
  product->eraseFromParent();
}

void mergeProducts(llvm::Module &module) {
  for (llvm::Function &function : module) {
    llvm::SmallVector<llvm::BinaryOperator *> sums;
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
          sum && sum->hasAllowContract() && hasFusedOperation(sum->getType()) &&
          (sum->getOpcode() == llvm::Instruction::FAdd ||
           sum->getOpcode() == llvm::Instruction::FSub))
        sums.push_back(sum);
    for (llvm::BinaryOperator *sum : sums)
      mergeInto(sum);
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (llvm::isa<llvm::FPMathOperator>(instruction))
        instruction.setHasAllowContract(false);
  }
}

} // namespace tw
