// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ToHost.h"
#include "Block.h"
#include "Program/Link/Link.h"
#include "Program/ObjectCode/Machine.h"
#include "Target/NVIDIA/Product/Emission/Instructions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
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
  void rewrite(LLVM::LLVMFuncOp kernel) {
    std::string name = kernel.getName().str();
    int64_t maps = 0;
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      maps += bool(kernel.getArgAttr(i, LLVM::LLVMDialect::getByValAttrName()));
    int64_t arguments = kernel.getNumArguments() - maps;
    kernel.setSymName(name + "_thread");
    kernel->removeAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
    kernel->removeAttr(NVVM::NVVMDialect::getReqntidAttrName());
    kernel->removeAttr(NVVM::NVVMDialect::getMinctasmAttrName());
    auto types = llvm::to_vector(kernel.getFunctionType().getParams());
    types.push_back(pointer);
    kernel.removeArgAttrsAttr(); // of which there is one for each
    kernel.setFunctionType(LLVM::LLVMFunctionType::get(nothing, types));
    self = kernel.getBody().front().addArgument(pointer, loc);
    kernel.setLinkage(LLVM::Linkage::Internal);
    reserve(kernel);
    SmallVector<Operation *> all;
    kernel.walk([&](Operation *op) { all.push_back(op); });
    for (Operation *op : all)
      replace(op);
    addEntry(kernel, name);
    addNumber(name + "_arguments", arguments);
    addNumber(name + "_maps", maps);
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

  /// Room for operands of operations, and for the sums of products.
  void reserve(LLVM::LLVMFuncOp kernel) {
    b.setInsertionPointToStart(&kernel.getBody().front());
    auto words = [&](int64_t count) -> Value {
      Value number = LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(count));
      return LLVM::AllocaOp::create(b, loc, pointer, i64, number);
    };
    operandArea = words(mostOperands);
    sumArea = words(mostSums);
  }

  Value integer(Value value) {
    if (isa<LLVM::LLVMPointerType>(value.getType()))
      return LLVM::PtrToIntOp::create(b, loc, i64, value);
    return value.getType() == i64 ? value : Value(LLVM::SExtOp::create(b, loc, i64, value));
  }
  Value number(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
  }

  /// Calls an operation of Block.h.
  void call(Operations operation, ArrayRef<Value> operands) {
    auto at = [&](Value base, Type type, size_t i) -> Value {
      return LLVM::GEPOp::create(b, loc, pointer, type, base, ArrayRef<LLVM::GEPArg>{int32_t(i)});
    };
    for (auto [i, operand] : llvm::enumerate(operands))
      LLVM::StoreOp::create(b, loc, integer(operand), at(operandArea, i64, i));
    Value table = field(offsetof(Thread, operations), pointer);
    Value function = LLVM::LoadOp::create(b, loc, pointer, at(table, pointer, operation));
    LLVM::CallOp::create(b, loc, LLVM::LLVMFunctionType::get(nothing, {pointer, pointer}),
                         ValueRange{function, self, operandArea});
  }

  void multiply(NVVM::WgmmaMmaAsyncOp op) {
    LLVM::StoreOp::create(b, loc, op.getInouts(), sumArea);
    call(Multiply,
         {op.getDescriptorA(), op.getDescriptorB(), sumArea, number(op.getShape().getN()),
          number(operandsOf(op.getTypeA())), number(op.getLayoutA() == NVVM::MMALayout::col),
          number(op.getLayoutB() == NVVM::MMALayout::row),
          number(op.getScaleD() == NVVM::WGMMAScaleOut::one), number(whichSums(op))});
    op.replaceAllUsesWith(LLVM::LoadOp::create(b, loc, op.getType(), sumArea).getOperation());
  }

  static int64_t operandsOf(NVVM::WGMMATypes type) {
    return type == NVVM::WGMMATypes::f16 ? OfF16 : type == NVVM::WGMMATypes::bf16 ? OfBF16 : OfTF32;
  }

  static int64_t whichSums(Operation *op) {
    return op->getAttrOfType<IntegerAttr>(target::nvidia::sumsAttribute).getInt();
  }

  /// wgmma with its left operand in registers, as Product/Emission/Instructions.cpp writes it:
  /// results, four registers, a descriptor, whether it adds (or always), and the sums before.
  void multiplyRegisters(LLVM::InlineAsmOp op) {
    StringRef text = op.getAsmString();
    auto type = cast<LLVM::LLVMStructType>(op.getResult(0).getType());
    auto count = int64_t(type.getBody().size());
    ValueRange operands = op.getOperands();
    std::string shape = "m64n" + std::to_string(2 * count) + "k16.f32.";
    bool isTransposed = text.contains(", 1, 1, 1;"); // with the result's columns innermost in b
    if (!text.contains(shape) || (!isTransposed && !text.contains(", 1, 1, 0;")))
      llvm::report_fatal_error("the simulator does not know " + text);
    bool asks = text.contains("setp.ne");
    Value sums = LLVM::UndefOp::create(b, loc, type);
    for (auto [i, sum] : llvm::enumerate(operands.take_back(size_t(count))))
      sums = LLVM::InsertValueOp::create(b, loc, sums, sum, int64_t(i));
    LLVM::StoreOp::create(b, loc, sums, sumArea);
    call(MultiplyRegisters,
         joined({operands[4], asks ? operands[5] : number(1), sumArea, number(2 * count),
                 number(text.contains(shape + "f16") ? OfF16 : OfBF16), number(whichSums(op))},
                joined({operands[0], operands[1], operands[2], operands[3]},
                       ValueRange{number(isTransposed), number(registerSets)})));
    op.getResult(0).replaceAllUsesWith(LLVM::LoadOp::create(b, loc, type, sumArea));
    for (Value part : operands.take_front(4))
      reportChanges(part);
    ++registerSets;
  }

  /// A value is a register: whenever what defines it runs again, the register changes.
  void reportChanges(Value value) {
    OpBuilder::InsertionGuard guard(b);
    if (Operation *op = value.getDefiningOp())
      b.setInsertionPoint(op);
    else
      b.setInsertionPointToStart(cast<BlockArgument>(value).getOwner());
    call(ChangeRegisters, {number(registerSets)});
  }

  static SmallVector<Value> joined(std::initializer_list<Value> first, ValueRange rest) {
    SmallVector<Value> all(first);
    all.append(rest.begin(), rest.end());
    return all;
  }

  /// Hopper's asynchronous operations; false for others.
  bool replaceAsynchronous(Operation *op) {
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case([&](NVVM::BarrierOp o) {
          call(Barrier, {o.getBarrierId() ? o.getBarrierId() : number(0),
                         o.getNumberOfThreads() ? o.getNumberOfThreads() : number(0)});
          return true;
        })
        .Case([&](NVVM::BarrierArriveOp o) {
          return call(ArriveAtBarrier, {o.getBarrierId(), o.getNumberOfThreads()}), true;
        })
        .Case([&](NVVM::SyncWarpOp) { return call(SyncWarp, {}), true; })
        .Case([&](NVVM::MBarrierInitOp o) {
          return call(InitBarrier, {o.getAddr(), o.getCount()}), true;
        })
        .Case([&](NVVM::MBarrierArriveOp o) {
          o.getRes().replaceAllUsesWith(number(0));
          Value count = o.getCount() ? o.getCount() : number(1);
          return call(Arrive, {o.getAddr(), count}), true;
        })
        .Case([&](NVVM::MBarrierArriveExpectTxOp o) {
          return call(ArriveExpecting, {o.getAddr(), o.getTxcount()}), true;
        })
        .Case([&](NVVM::MBarrierTryWaitParityOp o) {
          return call(WaitForBarrier, {o.getAddr(), o.getPhase()}), true;
        })
        .Case([&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp o) {
          call(LoadTile,
               joined({o.getDstMem(), o.getTmaDescriptor(), o.getMbar()}, o.getCoordinates()));
          return true;
        })
        .Case([&](NVVM::CpAsyncBulkGlobalToSharedClusterOp o) {
          return call(LoadBytes, {o.getDstMem(), o.getSrcMem(), o.getMbar(), o.getSize()}), true;
        })
        .Case([&](NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp o) {
          call(StoreTile, joined({o.getTmaDescriptor(), o.getSrcMem()}, o.getCoordinates()));
          return true;
        })
        .Case([&](NVVM::CpAsyncBulkCommitGroupOp) { return call(CommitStores, {}), true; })
        .Case([&](NVVM::CpAsyncBulkWaitGroupOp o) {
          return call(WaitForStores, {number(o.getGroup())}), true;
        })
        .Case([&](NVVM::FenceProxyOp) { return call(FenceProxy, {}), true; })
        .Case([&](NVVM::StMatrixOp o) {
          auto count = int64_t(o.getSources().size());
          return call(StoreMatrices, joined({o.getPtr(), number(count)}, o.getSources())), true;
        })
        .Case([&](NVVM::WgmmaFenceAlignedOp) { return call(FenceProducts, {}), true; })
        .Case([&](NVVM::WgmmaMmaAsyncOp o) { return multiply(o), true; })
        .Case([&](NVVM::WgmmaGroupSyncAlignedOp) { return call(CommitProducts, {}), true; })
        .Case([&](NVVM::WgmmaWaitGroupSyncOp o) {
          return call(WaitForProducts, {number(int64_t(o.getGroup()))}), true;
        })
        .Case([&](NVVM::ElectSyncOp o) {
          Value lane = LLVM::AndOp::create(b, loc, field(offsetof(Thread, thread), i32),
                                           LLVM::ConstantOp::create(b, loc, i32, 31));
          Value zero = LLVM::ConstantOp::create(b, loc, i32, 0);
          o.getResult().replaceAllUsesWith(
              LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, lane, zero));
          return true;
        })
        // What the host has no use for.
        .Case<NVVM::FenceMbarrierInitOp, NVVM::SetMaxRegisterOp, NVVM::GriddepcontrolOp,
              NVVM::PrefetchOp>([](auto) { return true; })
        .Case([&](NVVM::ShflOp o) {
          call(FromLane, {LLVM::BitcastOp::create(b, loc, i32, o.getVal()), o.getOffset()});
          Value bits = LLVM::LoadOp::create(b, loc, i32, operandArea);
          o.getRes().replaceAllUsesWith(
              LLVM::BitcastOp::create(b, loc, o.getRes().getType(), bits));
          return true;
        })
        .Case([&](LLVM::InlineAsmOp o) { return replaceInstruction(o), true; })
        .Default([](Operation *) { return false; });
  }

  /// An instruction on f32 that is written as assembly.
  void replaceInstruction(LLVM::InlineAsmOp op) {
    if (op.getAsmString().contains("wgmma.mma_async"))
      return multiplyRegisters(op);
    auto operation = llvm::StringSwitch<Operations>(op.getAsmString().split(' ').first)
                         .Case("ex2.approx.ftz.f32", Ex2)
                         .Case("rcp.approx.ftz.f32", Rcp)
                         .Case("tanh.approx.f32", Tanh)
                         .Case("div.full.f32", DivideF32)
                         .Default(operationCount);
    if (operation == operationCount)
      llvm::report_fatal_error("the simulator does not know " + op.getAsmString());
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(LLVM::BitcastOp::create(b, loc, i32, operand));
    call(operation, operands);
    Value bits = LLVM::LoadOp::create(b, loc, i32, operandArea);
    op.getResult(0).replaceAllUsesWith(LLVM::BitcastOp::create(b, loc, b.getF32Type(), bits));
  }

  /// The first of the sums that are taken out of what products make.
  static bool isFirstOfSums(LLVM::ExtractValueOp op) {
    return op->hasAttr(target::nvidia::sumsAttribute) && op.getPosition()[0] == 0;
  }

  /// f32 to bf16, to the nearest, ties to even: LLVM would call compiler-rt for it.
  Value narrow(Value single) {
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(b, loc, i32, b.getI32IntegerAttr(int32_t(value)));
    };
    Value bits = LLVM::BitcastOp::create(b, loc, i32, single), shift = constant(16);
    Value high = LLVM::LShrOp::create(b, loc, bits, shift);
    Value odd = LLVM::AndOp::create(b, loc, high, constant(1));
    Value bias = LLVM::AddOp::create(b, loc, odd, constant(0x7fff));
    Value sum = LLVM::AddOp::create(b, loc, bits, bias);
    Value rounded = LLVM::LShrOp::create(b, loc, sum, shift);
    Value isNan = LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::uno, single, single);
    Value result = LLVM::SelectOp::create(b, loc, isNan, constant(0x7fc0), rounded);
    Value half = LLVM::TruncOp::create(b, loc, b.getI16Type(), result);
    return LLVM::BitcastOp::create(b, loc, b.getBF16Type(), half);
  }

  void replace(Operation *op) {
    b.setInsertionPoint(op);
    if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
      if (isFirstOfSums(extract))
        call(ReadSums, {number(whichSums(extract))});
      return;
    }
    if (replaceAsynchronous(op)) {
      op->erase();
      return;
    }
    Value value;
    if (isa<NVVM::ThreadIdXOp>(op))
      value = field(offsetof(Thread, thread), i32);
    else if (isa<NVVM::BlockIdXOp>(op))
      value = field(offsetof(Thread, block), i32);
    else if (isa<NVVM::GridDimXOp>(op))
      value = field(offsetof(Thread, blocks), i32);
    else if (auto address = dyn_cast<LLVM::AddressOfOp>(op); address && isShared(address))
      value = LLVM::AddrSpaceCastOp::create(b, loc, address.getType(),
                                            field(offsetof(Thread, shared), pointer));
    else if (auto truncate = dyn_cast<LLVM::FPTruncOp>(op);
             truncate && op->getResult(0).getType().isBF16())
      value = narrow(truncate.getOperand());
    else if (isa<NVVM::Barrier0Op>(op))
      LLVM::CallOp::create(b, loc, LLVM::LLVMFunctionType::get(nothing, {pointer}),
                           ValueRange{field(offsetof(Thread, barrier), pointer), self});
    else
      return;
    if (value)
      op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  static bool isShared(LLVM::AddressOfOp op) {
    return cast<LLVM::LLVMPointerType>(op.getType()).getAddressSpace() != 0;
  }

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
  Value self, operandArea, sumArea;
  int64_t registerSets = 0;                                  // that products have read so far
  static constexpr int64_t mostOperands = 13, mostSums = 64; // 64-bit words
};

} // namespace

std::vector<std::string> rewriteForHost(ModuleOp device,
                                        const std::vector<target::DeviceCode::Entry> &entries) {
  Rewriter rewriter(device);
  for (const target::DeviceCode::Entry &entry : entries)
    rewriter.rewrite(device.lookupSymbol<LLVM::LLVMFuncOp>(entry.name));
  rewriter.removeGlobals();
  return rewriter.exports;
}

FailureOr<target::DeviceJob> compileForHost(ModuleOp device, const target::GpuArchitecture &,
                                            const std::vector<target::DeviceCode::Entry> &entries) {
  std::vector<std::string> exports = rewriteForHost(device, entries);
  auto objects = makeObjects(device, hostInstructionSet(), "");
  if (failed(objects))
    return failure();
  Result<ObjectFile> library = linkLibrary(*objects, exports);
  if (!library)
    return emitError(device.getLoc(), library.error().message);
  return target::DeviceJob([bytes = std::string(library->data(), library->size())](
                               auto &, auto *, auto *) -> Result<std::string> { return bytes; });
}

} // namespace tw::simulator
