// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Host/HostBuilder.h"
#include "runtime/ProgramABI.h"
#include <cstddef>

using namespace mlir;

namespace tw {

HostBuilder::HostBuilder(ModuleOp module, Location loc)
    : b(module.getContext()), loc(loc), module(module) {
  i64 = b.getI64Type();
  i32 = b.getI32Type();
  i8 = b.getI8Type();
  ptr = LLVM::LLVMPointerType::get(b.getContext());
}

Value HostBuilder::constant(int64_t value) {
  return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
}

Value HostBuilder::constant32(int32_t value) {
  return LLVM::ConstantOp::create(b, loc, i32, b.getI32IntegerAttr(value));
}

Value HostBuilder::offset(Value base, int64_t bytes) {
  return bytes ? offset(base, constant(bytes)) : base;
}

Value HostBuilder::offset(Value base, Value bytes) {
  return LLVM::GEPOp::create(b, loc, ptr, i8, base, ArrayRef<LLVM::GEPArg>{bytes});
}

Value HostBuilder::load(Type type, Value address) {
  return LLVM::LoadOp::create(b, loc, type, address);
}

void HostBuilder::store(Value value, Value address) {
  LLVM::StoreOp::create(b, loc, value, address);
}

Value HostBuilder::element(Type type, Value base, int64_t index) {
  return load(type, offset(base, index * 8));
}

void HostBuilder::storeElement(Value value, Value base, int64_t index) {
  store(value, offset(base, index * 8));
}

Value HostBuilder::add(Value x, Value y) { return LLVM::AddOp::create(b, loc, x, y); }

Value HostBuilder::mul(Value x, Value y) { return LLVM::MulOp::create(b, loc, x, y); }

Value HostBuilder::aligned(Value value) {
  return LLVM::AndOp::create(b, loc, add(value, constant(TW_ALIGNMENT - 1)),
                             constant(-int64_t(TW_ALIGNMENT)));
}

void HostBuilder::copy(Value to, Value from, Value bytes) {
  LLVM::MemmoveOp::create(b, loc, to, from, bytes, /*isVolatile=*/false);
}

Value HostBuilder::text(StringRef text) {
  std::string &name = texts[text];
  if (name.empty()) {
    name = "tw_text_" + std::to_string(texts.size());
    std::string bytes = text.str() + '\0';
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(i8, bytes.size()), /*isConstant=*/true,
                           LLVM::Linkage::Private, name, b.getStringAttr(bytes));
  }
  return address(name);
}

LLVM::LLVMFuncOp HostBuilder::function(StringRef name, Type result, ArrayRef<Type> arguments,
                                       bool exported) {
  b.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(result, arguments);
  auto function = LLVM::LLVMFuncOp::create(
      b, loc, name, type, exported ? LLVM::Linkage::External : LLVM::Linkage::Internal);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  return function;
}

LLVM::LLVMFuncOp HostBuilder::declare(StringRef name, Type result, ArrayRef<Type> arguments) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(b, loc, name, LLVM::LLVMFunctionType::get(result, arguments));
}

Value HostBuilder::address(StringRef function) {
  return LLVM::AddressOfOp::create(b, loc, ptr, function);
}

Value HostBuilder::call(StringRef function, ValueRange arguments) {
  auto op = module.lookupSymbol<LLVM::LLVMFuncOp>(function);
  assert(op && "only functions of the module are called");
  auto call = LLVM::CallOp::create(b, loc, op, arguments);
  return call.getNumResults() ? call.getResult() : Value();
}

Value HostBuilder::callPointer(Type result, Value function, ValueRange arguments) {
  auto type = LLVM::LLVMFunctionType::get(result, llvm::to_vector(arguments.getTypes()));
  SmallVector<Value> operands{function};
  operands.append(arguments.begin(), arguments.end());
  auto call = LLVM::CallOp::create(b, loc, type, operands);
  return call.getNumResults() ? call.getResult() : Value();
}

Value HostBuilder::callRuntime(Type result, Value call, size_t callback, ValueRange arguments) {
  Value callbacks = load(ptr, offset(call, offsetof(tw_call, callbacks)));
  SmallVector<Value> all{load(ptr, offset(call, offsetof(tw_call, runtime)))};
  all.append(arguments.begin(), arguments.end());
  return callPointer(result, load(ptr, offset(callbacks, int64_t(callback))), all);
}

Block *HostBuilder::block() {
  OpBuilder::InsertionGuard guard(b);
  return b.createBlock(b.getInsertionBlock()->getParent(),
                       b.getInsertionBlock()->getParent()->end());
}

void HostBuilder::branch(Block *to, ValueRange arguments) {
  LLVM::BrOp::create(b, loc, arguments, to);
}

void HostBuilder::branchIf(Value condition, Block *then, Block *otherwise) {
  LLVM::CondBrOp::create(b, loc, condition, then, otherwise);
}

//===----------------------------------------------------------------------===//
// Helpers of every program
//===----------------------------------------------------------------------===//

/// What a parallel kernel needs to run a piece of its loop; lives on tw_launch's stack.
enum ClosureField { Kernel, Buffers, Scalars, Workspace, WorkspaceBytes, ClosureFields };

/// tw_loop_body of every parallel kernel.
static void addBody(HostBuilder &h) {
  auto nothing = LLVM::LLVMVoidType::get(h.b.getContext());
  auto function = h.function("tw_body", nothing, {h.ptr, h.i64, h.i64, h.i64}, false);
  Value closure = function.getArgument(0), begin = function.getArgument(1),
        end = function.getArgument(2), worker = function.getArgument(3);
  Value workspace = h.offset(h.element(h.ptr, closure, Workspace),
                             h.mul(worker, h.element(h.i64, closure, WorkspaceBytes)));
  h.callPointer(nothing, h.element(h.ptr, closure, Kernel),
                {h.element(h.ptr, closure, Buffers), h.element(h.ptr, closure, Scalars), workspace,
                 begin, end});
  LLVM::ReturnOp::create(h.b, h.loc, ValueRange{});
}

static void addLaunch(HostBuilder &h) {
  auto nothing = LLVM::LLVMVoidType::get(h.b.getContext());
  auto function =
      h.function("tw_launch", nothing, {h.ptr, h.ptr, h.ptr, h.ptr, h.i64, h.i64, h.i64}, false);
  function.setNoInline(true);
  Value call = function.getArgument(0);
  Value closure = LLVM::AllocaOp::create(h.b, h.loc, h.ptr, h.i64, h.constant(ClosureFields));
  for (int field : {Kernel, Buffers, Scalars})
    h.storeElement(function.getArgument(1 + field), closure, field);
  h.storeElement(h.load(h.ptr, h.offset(call, offsetof(tw_call, workspace))), closure, Workspace);
  h.storeElement(function.getArgument(6), closure, WorkspaceBytes);
  h.callRuntime(nothing, call, offsetof(tw_callbacks, parallel_for),
                {h.address("tw_body"), closure, function.getArgument(4), function.getArgument(5)});
  LLVM::ReturnOp::create(h.b, h.loc, ValueRange{});
}

static void addTrace(HostBuilder &h) {
  auto nothing = LLVM::LLVMVoidType::get(h.b.getContext());
  auto function = h.function("tw_trace", nothing, {h.ptr, h.i32, h.i32, h.ptr, h.ptr}, false);
  function.setNoInline(true);
  Value call = function.getArgument(0);
  Value callbacks = h.load(h.ptr, h.offset(call, offsetof(tw_call, callbacks)));
  Value trace = h.load(h.ptr, h.offset(callbacks, offsetof(tw_callbacks, trace)));
  Value wanted = LLVM::ICmpOp::create(h.b, h.loc, LLVM::ICmpPredicate::ne, trace,
                                      LLVM::ZeroOp::create(h.b, h.loc, h.ptr));
  Block *tell = h.block(), *done = h.block();
  h.branchIf(wanted, tell, done);
  h.b.setInsertionPointToStart(tell);
  h.callRuntime(nothing, call, offsetof(tw_callbacks, trace), function.getArguments().drop_front());
  h.branch(done);
  h.b.setInsertionPointToStart(done);
  LLVM::ReturnOp::create(h.b, h.loc, ValueRange{});
}

static void addFail(HostBuilder &h) {
  auto nothing = LLVM::LLVMVoidType::get(h.b.getContext());
  auto function = h.function("tw_fail", nothing, {h.ptr, h.ptr, h.i64, h.i64}, false);
  function.setNoInline(true);
  h.callRuntime(nothing, function.getArgument(0), offsetof(tw_callbacks, fail),
                function.getArguments().drop_front());
  LLVM::ReturnOp::create(h.b, h.loc, ValueRange{});
}

static void addCancelled(HostBuilder &h) {
  auto function = h.function("tw_cancelled", h.i32, {h.ptr}, false);
  function.setNoInline(true);
  Value cancelled =
      h.callRuntime(h.i32, function.getArgument(0), offsetof(tw_callbacks, check_cancelled), {});
  LLVM::ReturnOp::create(h.b, h.loc, ValueRange{cancelled});
}

void addHostHelpers(HostBuilder &builder) {
  addBody(builder);
  addLaunch(builder);
  addTrace(builder);
  addFail(builder);
  addCancelled(builder);
}

} // namespace tw
