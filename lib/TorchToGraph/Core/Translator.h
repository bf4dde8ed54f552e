// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a function of the graph level from one of the torch level in one pass over its ops.
#pragma once
#include "TorchToGraph/Core/Registry.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

namespace tw::lower {

/// The builtin type that stands for a torch type in signatures: tensors, i64, f64, i1. Builtin
/// types stand for themselves; null for others.
mlir::Type signatureType(mlir::Type type);
/// Whether it is a tensor of a dtype that we have, of which only the sizes are not stated: it then
/// has those that its operator computes.
bool hasOpenSizes(mlir::Type type);

/// Translates one function and, in its place, those it calls.
class Translator {
public:
  explicit Translator(mlir::func::FuncOp from) : from(from), b(from.getContext()) {}

  /// The new function, inserted before `from` under the same name (the caller erases `from`), or
  /// null after errors: every operator that cannot be lowered has then been reported.
  mlir::func::FuncOp run();

private:
  using Extents = llvm::SmallVector<mlir::OpFoldResult>;

  mlir::func::FuncOp createFunction();
  bool returnResults(mlir::func::FuncOp to);
  void bindArguments(mlir::func::FuncOp to);
  void translateBlock(mlir::Block &block);
  void translateOp(mlir::Operation &op);
  void lowerOp(mlir::Operation &op, LoweringFn lower);
  struct Branch {
    mlir::Block *block;
    llvm::SmallVector<mlir::Value> results;
    llvm::SmallVector<Extents> extents; // of results that are tensors
  };
  void translateIf(torch::IfOp op);
  std::optional<Branch> translateBranch(torch::IfOp op, mlir::Region &from, mlir::Block *into);
  void endBranch(const Branch &branch, llvm::ArrayRef<mlir::Type> types, mlir::Location loc);
  void translateLoop(torch::LoopOp op);
  /// The body of the loop that `op` becomes. Whether all of it could be translated.
  bool translateRound(torch::LoopOp op, mlir::scf::ForOp loop, llvm::ArrayRef<Extents> carriedSizes,
                      bool isCounted);
  void defineAll(mlir::ValueRange old, mlir::ValueRange carried, llvm::ArrayRef<Extents> known,
                 mlir::Location loc);
  llvm::SmallVector<mlir::Value> nextCarried(torch::LoopConditionOp end,
                                             llvm::ArrayRef<mlir::Value> inits,
                                             llvm::ArrayRef<Extents> known);
  void translateCall(mlir::func::CallOp op);
  void translateAssert(torch::RuntimeAssertOp op);
  void translateConversion(mlir::Operation &op);
  void translateCustom(torch::OperatorOp op);
  void requireStatedSizes(mlir::Value result, mlir::Value given, llvm::StringRef name);
  void cloneForeign(mlir::Operation &op);

  bool isPoisoned(mlir::Operation &op);
  /// `op` cannot be translated, so the function cannot; tensors get a stand-in of their type, so
  /// that what is computed from them is looked at too and everything that is refused is said at
  /// once.
  void poison(mlir::Operation &op);
  const Operand &lookup(mlir::Value value);
  /// As a value of signatureType(`value.getType()`); null for what signatures cannot hold.
  mlir::Value materialize(mlir::Value value, mlir::Type type, mlir::Location loc);
  /// The same for what a return or the end of a region hands on; reports what does not fit. Null
  /// for values that an error has made unknown.
  mlir::Value handOn(mlir::Value value, mlir::Type type, mlir::Location loc);
  /// The builtin type of a value: signatureType, or that of the tensor which stands for it. Null
  /// when there is none.
  mlir::Type typeOf(mlir::Value value);
  mlir::Type handedOnType(mlir::Value value, mlir::Type stated);
  void define(mlir::Value torchValue, mlir::Value builtin, mlir::Location loc);

  mlir::func::FuncOp from;
  mlir::OpBuilder b;
  llvm::DenseMap<mlir::Value, Operand> values; // torch-typed
  mlir::IRMapping foreign;                     // builtin-typed
  llvm::StringMap<mlir::Value> symbols;
  Sizes sizes;
  int callDepth = 0;
  bool failed = false;
};

} // namespace tw::lower
