// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tw` dialect of the graph level; operations are described in Graph.td.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "IR/Graph/Graph.dialect.h.inc"
#include "IR/Graph/Graph.enums.h.inc"

namespace tw::graph {
class AttentionInterface;
namespace detail {
void setAttentionMap(AttentionInterface op, unsigned number, mlir::AffineMap map);
mlir::FloatType attentionSumType(AttentionInterface op);
std::pair<mlir::OpOperand *, unsigned> attentionAxisAlong(AttentionInterface op, unsigned dim);
} // namespace detail
} // namespace tw::graph

#include "IR/Graph/AttentionInterface.h.inc"
#define GET_ATTRDEF_CLASSES
#include "IR/Graph/Graph.attrs.h.inc"
#define GET_OP_CLASSES
#include "IR/Graph/Graph.ops.h.inc"

namespace tw::graph {

/// Of a tw.dispatch: the names under which what its kernel computes was configured, before kernels
/// were fused or cut, or equal ones became one. First the one whose configuration the kernel has.
inline constexpr llvm::StringLiteral configuredName = "tw.configured";
/// These names; where nothing has set them the kernel's alone.
mlir::ArrayAttr configuredNames(DispatchOp dispatch);

/// The dimensions of a tw.scatter's iteration space and, for each, an (input, dimension) pair that
/// gives its size; empty when the maps leave a dimension without a size.
std::optional<llvm::SmallVector<std::pair<unsigned, unsigned>>> iterationSizes(ScatterOp op);

} // namespace tw::graph
