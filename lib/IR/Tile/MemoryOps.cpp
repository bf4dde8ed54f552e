// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that read and write buffers.
#include "IR/Tile/Tile.h"
#include "Support/Counted.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tw::tile;

namespace {

/// What the verifiers of the four accesses have in common.
struct BufferAccess {
  Operation *op;
  BufferType buffer;
  RankedTensorType tile;
  OperandRange positions;
  Value mask;

  LogicalResult verifyCommon() const {
    if (auto why = whyNotTile(tile))
      return op->emitOpError(*why);
    if (int64_t(positions.size()) != buffer.getRank())
      return op->emitOpError() << "gives " << tw::counted(positions.size(), "position")
                               << ", but the buffer has "
                               << tw::counted(buffer.getRank(), "dimension");
    if (tile.getElementType() != buffer.getTileElementType())
      return op->emitOpError() << "the tile's elements are " << tile.getElementType()
                               << ", but the buffer's are " << buffer.getElementType();
    Type wanted = RankedTensorType(tile).clone(IntegerType::get(op->getContext(), 1));
    if (mask && mask.getType() != wanted)
      return op->emitOpError() << "the mask is " << mask.getType() << ", but must be " << wanted;
    return success();
  }

  /// Of load and store: a dimension of the tile for each of the buffer.
  LogicalResult verifyBox(ArrayRef<int64_t> strides) const {
    if (failed(verifyCommon()))
      return failure();
    if (tile.getRank() != buffer.getRank())
      return op->emitOpError() << "the tile has " << tw::counted(tile.getRank(), "dimension")
                               << ", but the buffer has " << buffer.getRank();
    if (!strides.empty() && int64_t(strides.size()) != buffer.getRank())
      return op->emitOpError() << "gives " << tw::counted(strides.size(), "stride")
                               << ", but the buffer has "
                               << tw::counted(buffer.getRank(), "dimension");
    if (llvm::any_of(strides, [](int64_t stride) { return stride < 1; }))
      return op->emitOpError("strides are positive");
    return verifyIndexed(strides);
  }

  LogicalResult verifyIndexed(ArrayRef<int64_t> strides) const {
    auto extents = extentsOf(tile);
    for (auto [d, position] : llvm::enumerate(positions)) {
      auto indices = dyn_cast<RankedTensorType>(position.getType());
      if (!indices)
        continue;
      if (indices.getRank() != 1 || !(extentsOf(indices)[0] == extents[d]))
        return op->emitOpError() << "position " << d << " is " << indices
                                 << ", but must be a tile of rank 1 and extent "
                                 << extents[d].str();
      if (!strides.empty() && strides[d] != 1)
        return op->emitOpError() << "dimension " << d << " is indexed, so its stride must be 1";
    }
    return success();
  }

  /// Of gather and scatter: positions have the tile's shape.
  LogicalResult verifyPointwise() const {
    if (failed(verifyCommon()))
      return failure();
    for (auto [d, position] : llvm::enumerate(positions)) {
      auto indices = cast<RankedTensorType>(position.getType());
      if (indices.clone(tile.getElementType()) != tile)
        return op->emitOpError() << "position " << d << " is " << indices
                                 << ", but must have the shape of " << tile;
    }
    return success();
  }

  LogicalResult verifyPad(Value pad) const {
    if (pad && pad.getType() != tile.getElementType())
      return op->emitOpError() << "the pad value is " << pad.getType()
                               << ", but the tile's elements are " << tile.getElementType();
    return success();
  }

  LogicalResult verifyUpdate(std::optional<Update> update) const {
    Type element = tile.getElementType();
    if (update && *update != Update::Any && element.isInteger(1))
      return op->emitOpError("cannot combine elements of type i1 atomically");
    return success();
  }
};

/// The kernel's argument that `buffer` is.
ArgumentAttr argumentOf(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto kernel = argument ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
  if (!kernel || argument.getArgNumber() >= kernel.getArguments().size())
    return {};
  return kernel.getArgument(argument.getArgNumber());
}

LogicalResult verifyWritten(Operation *op, Value buffer) {
  ArgumentAttr argument = argumentOf(buffer);
  if (argument && argument.getAccess() == Access::In)
    return op->emitOpError() << "writes \"" << argument.getName() << "\", which is an input";
  return success();
}

} // namespace

LogicalResult LoadOp::verify() {
  BufferAccess access{*this, getBuffer().getType(), getType(), getPositions(), getMask()};
  return success(succeeded(access.verifyBox(getStrides())) &&
                 succeeded(access.verifyPad(getPad())));
}

LogicalResult StoreOp::verify() {
  BufferAccess access{*this, getBuffer().getType(), getTile().getType(), getPositions(), getMask()};
  if (getUpdate() == Update::Any)
    return emitOpError("an element of a box is written once: 'any' is for tile.scatter");
  return success(succeeded(access.verifyBox(getStrides())) &&
                 succeeded(access.verifyUpdate(getUpdate())) &&
                 succeeded(verifyWritten(*this, getBuffer())));
}

LogicalResult GatherOp::verify() {
  BufferAccess access{*this, getBuffer().getType(), getType(), getPositions(), getMask()};
  return success(succeeded(access.verifyPointwise()) && succeeded(access.verifyPad(getPad())));
}

LogicalResult ScatterOp::verify() {
  BufferAccess access{*this, getBuffer().getType(), getTile().getType(), getPositions(), getMask()};
  return success(succeeded(access.verifyPointwise()) &&
                 succeeded(access.verifyUpdate(getUpdate())) &&
                 succeeded(verifyWritten(*this, getBuffer())));
}

LogicalResult CheckOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getValue().getType());
  if (getMask() && (!tile || getMask().getType() != tile.clone(IntegerType::get(getContext(), 1))))
    return emitOpError() << "the mask is " << getMask().getType() << ", but the value "
                         << getValue().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Positions: `[%i, %rows : tensor<8xi64>]`
//===----------------------------------------------------------------------===//

static ParseResult parsePositions(OpAsmParser &parser,
                                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &positions,
                                  SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    Type type = parser.getBuilder().getIndexType();
    if (failed(parser.parseOperand(positions.emplace_back())))
      return failure();
    if (succeeded(parser.parseOptionalColon()) && failed(parser.parseType(type)))
      return failure();
    types.push_back(type);
    return success();
  });
}

static void printPositions(OpAsmPrinter &printer, Operation *, OperandRange positions, TypeRange) {
  printer << '[';
  llvm::interleaveComma(positions, printer, [&](Value position) {
    printer << position;
    if (!position.getType().isIndex())
      printer << " : " << position.getType();
  });
  printer << ']';
}

#include "IR/Tile/SizeText.h"
#define GET_OP_CLASSES
#include "IR/Tile/Tile.ops.cpp.inc"
