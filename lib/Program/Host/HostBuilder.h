// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small vocabulary the host entry is written in: fields of tw_call, pointer arithmetic, 64-bit
// integers, and the helper functions every program contains (launch, trace).
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace tw {

class HostBuilder {
public:
  HostBuilder(mlir::ModuleOp module, mlir::Location loc);

  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::Type i64, i32, i8, ptr;

  mlir::Value constant(int64_t value);
  mlir::Value constant32(int32_t value);
  /// `base + bytes`; byte offsets are constants or values.
  mlir::Value offset(mlir::Value base, int64_t bytes);
  mlir::Value offset(mlir::Value base, mlir::Value bytes);
  mlir::Value load(mlir::Type type, mlir::Value address);
  void store(mlir::Value value, mlir::Value address);
  /// `base[index]` of an array of 8-byte values.
  mlir::Value element(mlir::Type type, mlir::Value base, int64_t index);
  void storeElement(mlir::Value value, mlir::Value base, int64_t index);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  /// `value` rounded up to a multiple of TW_ALIGNMENT.
  mlir::Value aligned(mlir::Value value);
  void copy(mlir::Value to, mlir::Value from, mlir::Value bytes);
  /// The address of a NUL-terminated constant string.
  mlir::Value text(llvm::StringRef text);

  /// A new function of `module`, with the insertion point at the start of its first block.
  mlir::LLVM::LLVMFuncOp function(llvm::StringRef name, mlir::Type result,
                                  llvm::ArrayRef<mlir::Type> arguments, bool exported);
  /// The function `name`, or a declaration of it.
  mlir::LLVM::LLVMFuncOp declare(llvm::StringRef name, mlir::Type result,
                                 llvm::ArrayRef<mlir::Type> arguments);
  mlir::Value address(llvm::StringRef function);
  /// Call a function of the module, or one by its address; what it gives, if anything.
  mlir::Value call(llvm::StringRef function, mlir::ValueRange arguments);
  mlir::Value callPointer(mlir::Type result, mlir::Value function, mlir::ValueRange arguments);
  /// Calls a function of tw_callbacks with the runtime's handle before `arguments`; `call` is a
  /// tw_call.
  mlir::Value callRuntime(mlir::Type result, mlir::Value call, size_t callback,
                          mlir::ValueRange arguments);
  /// A block at the end of the current function.
  mlir::Block *block();
  void branch(mlir::Block *to, mlir::ValueRange arguments = {});
  void branchIf(mlir::Value condition, mlir::Block *then, mlir::Block *otherwise);

private:
  mlir::ModuleOp module;
  llvm::StringMap<std::string> texts;
};

/// Adds the helper functions; call once for a module:
///   tw_launch(call, kernel, buffers, scalars, iterations, grain, workspace bytes of a worker)
///   tw_trace(call, dispatch, begin, buffers, scalars)
///   tw_fail(call, message, a, b)
///   tw_cancelled(call) -> i32, 1 where the call is cancelled
void addHostHelpers(HostBuilder &builder);

} // namespace tw
