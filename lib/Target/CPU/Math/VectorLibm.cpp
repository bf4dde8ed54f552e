// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Math/VectorLibm.h"
#include "Target/Common/Math/F32InF64.h"
#include "Target/Common/Math/Libm.h"
#include "Target/Common/Math/Trigonometry.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Nothing is gained where LLVM unrolls or vectorises `loop`.
void keepAsItIs(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {},
                                              {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

/// The lanes lie in memory, from which libm takes one after the other.
Value callForEachLane(OpBuilder &b, Location loc, StringRef name, ValueRange operands,
                      std::set<std::string> &imports) {
  auto vector = dyn_cast<VectorType>(operands[0].getType());
  if (!vector)
    return callLibm(b, loc, name, operands, imports);
  auto number = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Value> memory;
  for (Value operand : operands) {
    memory.push_back(LLVM::AllocaOp::create(b, loc, pointer, vector, number(1)));
    LLVM::StoreOp::create(b, loc, operand, memory.back());
  }
  auto lanes = scf::ForOp::create(b, loc, number(0), number(vector.getNumElements()), number(1));
  keepAsItIs(lanes);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(lanes.getBody());
    Type element = vector.getElementType();
    SmallVector<Value> places, scalars;
    for (Value lanesOfOperand : memory) {
      places.push_back(LLVM::GEPOp::create(b, loc, pointer, element, lanesOfOperand,
                                           ValueRange(lanes.getInductionVar())));
      scalars.push_back(LLVM::LoadOp::create(b, loc, element, places.back()));
    }
    LLVM::StoreOp::create(b, loc, callLibm(b, loc, name, scalars, imports), places[0]);
  }
  return LLVM::LoadOp::create(b, loc, vector, memory[0]);
}

/// Such as tw.atan2.f32x16.
std::string symbolOf(StringRef name, Type type) {
  Type element = getElementTypeOrSelf(type);
  std::string symbol = ("tw." + name + (element.isF32() ? ".f32" : ".f64")).str();
  if (auto vector = dyn_cast<VectorType>(type))
    symbol += "x" + std::to_string(vector.getNumElements());
  return symbol;
}

void define(Location loc, ModuleOp module, StringRef symbol, StringRef name, ValueRange operands,
            std::set<std::string> &imports) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Type type = operands[0].getType();
  auto signature = LLVM::LLVMFunctionType::get(type, llvm::to_vector(operands.getTypes()));
  auto function = LLVM::LLVMFuncOp::create(b, loc, symbol, signature, LLVM::Linkage::WeakODR);
  function.setVisibility_(LLVM::Visibility::Hidden);
  function.setNoInline(true);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  ValueRange x = function.getArguments();
  auto byCalls = [&] { return callForEachLane(b, loc, name, x, imports); };
  auto trigonometric = trigonometricOf(name, type);
  Value result = trigonometric ? emitTrigonometric(b, loc, *trigonometric, x[0], byCalls)
                 : isComputedInF64(name, type) ? emitInF64(b, loc, name, x)
                                               : byCalls();
  LLVM::ReturnOp::create(b, loc, result);
}

} // namespace

Value callVectorLibm(OpBuilder &b, Location loc, StringRef name, ValueRange operands,
                     std::set<std::string> &imports) {
  Type type = operands[0].getType();
  bool isLibms = !trigonometricOf(name, type) && !isComputedInF64(name, type);
  if (!isa<VectorType>(type) && isLibms)
    return callLibm(b, loc, name, operands, imports);
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string symbol = symbolOf(name, type);
  if (!module.lookupSymbol(symbol))
    define(loc, module, symbol, name, operands, imports);
  return callPure(b, loc, symbol, operands);
}

} // namespace tw::target::cpu
