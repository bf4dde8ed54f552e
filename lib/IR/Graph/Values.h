// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a model's graph, by number, so that `tilewright check` knows them again behind all
// passes (docs/bisect.md). An operation has the attribute `tw.values`, a list of #tw.value, for
// what its results are known to be; what is not known is not compared. Only check numbers values.
#pragma once
#include "IR/Graph/Graph.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallVector.h"

namespace tw::graph {

inline constexpr llvm::StringLiteral valuesName = "tw.values";
/// In the function of a dispatch, which has several calls, numbers are its own: `tw.inner` of each
/// call says which value (`number`) is which of them (`result`).
inline constexpr llvm::StringLiteral innerName = "tw.inner";

/// All that is known of the results of `op`; or what another list of values says.
llvm::SmallVector<ValueAttr> valuesOf(mlir::Operation *op, llvm::StringRef list = valuesName);
/// What `tensor` is known to be, by its operation or by those that only see it in another shape.
llvm::SmallVector<ValueAttr> valuesOf(mlir::Value tensor);
/// Says what the results of `op` are; an empty list: nothing is known.
void setValues(mlir::Operation *op, llvm::ArrayRef<ValueAttr> values,
               llvm::StringRef list = valuesName);
/// Whether values are numbered anywhere in `op`.
bool hasValues(mlir::Operation *op);

/// `now` has the elements of `old`, which it replaces: dimension i of it is dimension order[i] of
/// old (empty: the same one). To be said before old's uses are replaced.
void keepValues(mlir::Value old, mlir::Value now, llvm::ArrayRef<int64_t> order = {});

/// `now` has the elements of `old` side by side with others: along dimension `axis` of both, from
/// `begin` on. Dimensions behind the axis have the same, static sizes in both; else nothing is
/// kept. To be said before old's uses are replaced.
void keepPart(mlir::Value old, mlir::Value now, int64_t axis, int64_t begin);

/// Calls keepValues for what rewriters and drivers with this listener replace. New operations begin
/// with nothing known.
mlir::RewriterBase::Listener *valueKeeper();

} // namespace tw::graph
