// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that one kernel becomes on a CPU (Target.h says what they are), without what is in
// them. The callable one unpacks its buffers and calls a private one that has each as an argument,
// so that what is known about overlap can be said of them. LLVM optimizes it, inlines it and
// optimizes it again, which takes a tenth of a compilation: inlined first, or left alone, the loops
// of products spill a sum (LLVM 22).
//
//   void k(void **buffers, int64_t *scalars, uint8_t *workspace, int64_t begin, int64_t end)
//   void k_loops(data..., int64_t *scalars, uint8_t *workspace, int64_t begin, int64_t end)
//   void k_info(int64_t *scalars, int64_t out[2])
//   void k_fill(void **buffers, int64_t *scalars)
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace tw::target {

class KernelShell {
public:
  /// `b` is the caller's; it stands where a function is to be filled when that has been made.
  /// `tensors`: how many buffers the kernel has; `mayFail`: a failure record is one more.
  KernelShell(mlir::OpBuilder &b, mlir::Location loc, mlir::ModuleOp into, std::string name,
              unsigned tensors, bool mayFail);

  /// k_loops, with the loop over [begin, end).
  struct Loops {
    mlir::LLVM::LLVMFuncOp function;
    mlir::ValueRange data; // one for each tensor
    mlir::Value failureRecord, scalars, workspace;
    mlir::scf::ForOp iterations;
  };
  /// The builder stands before the loop.
  Loops loops();

  /// k, which calls k_loops.
  void entry();

  /// k_info and k_fill, with their arguments.
  mlir::ValueRange info();
  mlir::ValueRange fill();

  /// The data of tensor number `i`, of an argument `buffers`.
  mlir::Value bufferAt(mlir::Value buffers, unsigned i);

private:
  /// A function that only returns; the builder stands before that.
  mlir::LLVM::LLVMFuncOp function(llvm::StringRef suffix, llvm::ArrayRef<mlir::Type> arguments,
                                  mlir::LLVM::Linkage linkage);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::ModuleOp into;
  std::string name;
  unsigned tensors, buffers;
  mlir::Type pointer, i64;
};

} // namespace tw::target
