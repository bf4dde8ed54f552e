// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ToHost.h"
#include "Block.h"
#include "Program/Link.h"
#include "Program/Machine.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include <cstddef>

using namespace mlir;

namespace tw::simulator {
namespace {

class Rewriter {
public:
  explicit Rewriter(ModuleOp module)
      : module(module), b(module.getContext()), loc(module.getLoc()), i32(b.getI32Type()),
        i64(b.getI64Type()), pointer(LLVM::LLVMPointerType::get(b.getContext())),
        nothing(LLVM::LLVMVoidType::get(b.getContext())) {}

  /// Makes the kernel a private function with a further argument, `self`, and an entry of its name
  /// that unpacks the arguments.
  void rewrite(LLVM::LLVMFuncOp kernel, int64_t arguments) {
    std::string name = kernel.getName().str();
    kernel.setSymName(name + "_thread");
    kernel->removeAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
    kernel->removeAttr(NVVM::NVVMDialect::getReqntidAttrName());
    auto types = llvm::to_vector(kernel.getFunctionType().getParams());
    types.push_back(pointer);
    kernel.removeArgAttrsAttr(); // of which there is one for each
    kernel.setFunctionType(LLVM::LLVMFunctionType::get(nothing, types));
    self = kernel.getBody().front().addArgument(pointer, loc);
    kernel.setLinkage(LLVM::Linkage::Internal);
    kernel.walk([&](Operation *op) { replace(op); });
    addEntry(kernel, name);
    addNumber(name + "_arguments", arguments);
    addNumber(name + "_simulated", 1);
  }

  void removeGlobals() {
    for (auto global : llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
      if (global.getAddrSpace() != 0)
        global.erase();
  }

  std::vector<std::string> exports;

private:
  Value field(size_t offset, Type type) {
    Value at = LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), self,
                                   ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    return LLVM::LoadOp::create(b, loc, type, at);
  }

  void replace(Operation *op) {
    b.setInsertionPoint(op);
    Value value;
    if (isa<NVVM::ThreadIdXOp>(op))
      value = field(offsetof(Thread, thread), i32);
    else if (isa<NVVM::BlockIdXOp>(op))
      value = field(offsetof(Thread, block), i32);
    else if (isa<NVVM::GridDimXOp>(op))
      value = field(offsetof(Thread, blocks), i32);
    else if (auto cast = dyn_cast<LLVM::AddrSpaceCastOp>(op); cast && isShared(cast.getArg()))
      value = field(offsetof(Thread, shared), pointer);
    else if (isa<NVVM::Barrier0Op>(op))
      LLVM::CallOp::create(b, loc, LLVM::LLVMFunctionType::get(nothing, {pointer}),
                           ValueRange{field(offsetof(Thread, barrier), pointer), self});
    else
      return;
    if (value)
      op->getResult(0).replaceAllUsesWith(value);
    auto *address = isa<LLVM::AddrSpaceCastOp>(op) ? op->getOperand(0).getDefiningOp() : nullptr;
    op->erase();
    if (address && address->use_empty())
      address->erase();
  }

  static bool isShared(Value value) { return bool(value.getDefiningOp<LLVM::AddressOfOp>()); }

  void addEntry(LLVM::LLVMFuncOp kernel, const std::string &name) {
    b.setInsertionPointToEnd(module.getBody());
    auto entry = LLVM::LLVMFuncOp::create(b, loc, name,
                                          LLVM::LLVMFunctionType::get(nothing, {pointer, pointer}));
    b.setInsertionPointToStart(entry.addEntryBlock(b));
    SmallVector<Value> passed;
    auto types = kernel.getFunctionType().getParams().drop_back();
    for (auto [i, type] : llvm::enumerate(types)) {
      Value at = LLVM::GEPOp::create(b, loc, pointer, i64, entry.getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
      passed.push_back(LLVM::LoadOp::create(b, loc, type, at));
    }
    passed.push_back(entry.getArgument(1));
    LLVM::CallOp::create(b, loc, kernel, passed);
    LLVM::ReturnOp::create(b, loc, ValueRange{});
    exports.push_back(name);
  }

  void addNumber(const std::string &name, int64_t number) {
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, loc, i32, /*isConstant=*/true, LLVM::Linkage::External, name,
                           b.getI32IntegerAttr(int32_t(number)));
    exports.push_back(name);
  }

  ModuleOp module;
  OpBuilder b;
  Location loc;
  Type i32, i64, pointer, nothing;
  Value self;
};

} // namespace

std::vector<std::string> rewriteForHost(ModuleOp device, int64_t arguments,
                                        const std::vector<target::DeviceCode::Entry> &entries) {
  Rewriter rewriter(device);
  for (const target::DeviceCode::Entry &entry : entries)
    rewriter.rewrite(device.lookupSymbol<LLVM::LLVMFuncOp>(entry.name), arguments);
  rewriter.removeGlobals();
  return rewriter.exports;
}

FailureOr<target::DeviceJob> compileForHost(ModuleOp device, const target::GpuArchitecture &,
                                            int64_t arguments,
                                            const std::vector<target::DeviceCode::Entry> &entries) {
  std::vector<std::string> exports = rewriteForHost(device, arguments, entries);
  auto objects = makeObjects(device, hostFeatures(), "");
  if (failed(objects))
    return failure();
  Result<ObjectFile> library = linkLibrary(*objects, exports);
  if (!library)
    return emitError(device.getLoc(), library.error().message);
  return target::DeviceJob([bytes = std::string(library->data(), library->size())](
                               auto &) -> Result<std::string> { return bytes; });
}

} // namespace tw::simulator
