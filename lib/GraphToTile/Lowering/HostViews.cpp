// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Lowering/HostViews.h"
#include "GraphToTile/Analysis/Subkernels/WeightStrides.h"
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tw::conversion {

static int64_t sizeOrDynamic(const Extent &extent) {
  return extent.size.value_or(ShapedType::kDynamic);
}

RankedTensorType bufferType(const std::vector<Extent> &shape, Type element) {
  SmallVector<int64_t> sizes(llvm::map_range(shape, sizeOrDynamic));
  return RankedTensorType::get(sizes, element);
}

RankedTensorType HostViews::partsType(const BufferView &view, Type element) const {
  SmallVector<int64_t> sizes(llvm::map_range(view.parts, sizeOrDynamic));
  return RankedTensorType::get(sizes, element);
}

RankedTensorType HostViews::axesType(const BufferView &view, Type element) const {
  SmallVector<int64_t> sizes;
  for (const ReassociationIndices &cut : view.cut) {
    int64_t size = 1;
    for (int64_t part : cut)
      size =
          size < 0 || !view.parts[part].size ? ShapedType::kDynamic : size * *view.parts[part].size;
    sizes.push_back(size);
  }
  return RankedTensorType::get(sizes, element);
}

Value HostViews::size(const Extent &extent) {
  return extent.size ? Value(arith::ConstantIndexOp::create(b, loc, *extent.size))
                     : symbols.at(extent.symbol);
}

Value HostViews::product(Value x, Value y) {
  return x ? Value(arith::MulIOp::create(b, loc, x, y)) : y;
}

Value HostViews::index(Value inFunction) {
  if (auto argument = dyn_cast<BlockArgument>(inFunction))
    return arguments[argument.getArgNumber()];
  Value &known = indices[inFunction];
  if (known)
    return known;
  Operation *op = inFunction.getDefiningOp();
  if (auto dim = dyn_cast<tensor::DimOp>(op); dim && dim.getConstantIndex())
    return known = getValueOrCreateConstantIndexOp(
               b, loc, sizesOf(dim.getSource())[*dim.getConstantIndex()]);
  IRMapping map;
  for (Value operand : op->getOperands())
    map.map(operand, index(operand));
  Value copy = b.clone(*op, map)->getResult(cast<OpResult>(inFunction).getResultNumber());
  return indices[inFunction] = copy;
}

OpFoldResult HostViews::index(OpFoldResult inFunction) {
  auto value = dyn_cast<Value>(inFunction);
  return value && !getConstantIntValue(value) ? OpFoldResult(index(value)) : inFunction;
}

HostViews::Sizes HostViews::sizesOf(Value inFunction) {
  auto type = cast<RankedTensorType>(inFunction.getType());
  Value source = sizeSource(inFunction);
  Operation *op = source.getDefiningOp();
  Sizes given, sizes;
  if (auto sized = dyn_cast_if_present<OffsetSizeAndStrideOpInterface>(op))
    given = sized.getMixedSizes();
  else if (auto empty = dyn_cast_if_present<tensor::EmptyOp>(op))
    given = empty.getMixedSizes();
  else if (auto expand = dyn_cast_if_present<tensor::ExpandShapeOp>(op))
    given = expand.getMixedOutputShape();
  else if (auto collapse = dyn_cast_if_present<tensor::CollapseShapeOp>(op))
    given = collapsed(collapse);
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis))
      sizes.push_back(b.getIndexAttr(type.getDimSize(axis)));
    else if (auto argument = dyn_cast<BlockArgument>(source))
      sizes.push_back(
          tensor::DimOp::create(b, loc, arguments[argument.getArgNumber()], axis).getResult());
    else
      sizes.push_back(isa<tensor::CollapseShapeOp>(op) ? given[axis] : index(given[axis]));
  }
  return sizes;
}

HostViews::Sizes HostViews::collapsed(tensor::CollapseShapeOp op) {
  Sizes from = sizesOf(op.getSrc()), sizes;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    Value size;
    for (int64_t axis : group)
      size = product(size, getValueOrCreateConstantIndexOp(b, loc, from[axis]));
    sizes.push_back(size);
  }
  return sizes;
}

HostViews::Sizes HostViews::partSizes(const TensorUse &use) {
  const BufferView &view = use.view;
  Sizes sizes(view.parts.size()), axes = sizesOf(use.tensor);
  for (auto [axis, cut] : llvm::enumerate(view.cut)) {
    int64_t rest = 1;
    for (int64_t part : cut)
      rest *= view.parts[part].size.value_or(1);
    for (int64_t part : cut) {
      if (view.parts[part].size) {
        sizes[part] = b.getIndexAttr(*view.parts[part].size);
        continue;
      }
      Value whole = getValueOrCreateConstantIndexOp(b, loc, axes[axis]);
      sizes[part] = rest == 1 ? whole
                              : Value(arith::DivUIOp::create(
                                    b, loc, whole, arith::ConstantIndexOp::create(b, loc, rest)));
    }
  }
  return sizes;
}

void HostViews::learn(const TensorUse &use, const std::vector<Extent> &shape) {
  if (use.temporary >= 0 || llvm::all_of(shape, [&](const Extent &extent) {
        return extent.size || symbols.contains(extent.symbol);
      }))
    return;
  Sizes parts = partSizes(use);
  for (auto [extent, group] : llvm::zip(shape, use.view.joined)) {
    if (extent.size || symbols.contains(extent.symbol))
      continue;
    Value size;
    for (int64_t part : group)
      size = product(size, getValueOrCreateConstantIndexOp(b, loc, parts[part]));
    symbols[extent.symbol] = size;
  }
}

Value HostViews::tensor(Value inFunction) {
  if (auto argument = dyn_cast<BlockArgument>(inFunction))
    return arguments[argument.getArgNumber()];
  if (auto known = tensors.find(inFunction); known != tensors.end())
    return known->second;
  Value made;
  if (auto defined = buffers.find(inFunction); defined != buffers.end()) {
    made = fromBuffer({inFunction, defined->second.view}, defined->second.buffer);
  } else if (auto copy = inFunction.getDefiningOp<linalg::CopyOp>()) {
    made = tensor(copy.getInputs()[0]);
  } else {
    Operation *view = inFunction.getDefiningOp();
    IRMapping map;
    map.map(view->getOperand(0), tensor(view->getOperand(0)));
    for (Value size : view->getOperands().drop_front())
      map.map(size, index(size));
    made = b.clone(*view, map)->getResult(0);
  }
  return tensors[inFunction] = made;
}

void HostViews::define(const TensorUse &use, Value buffer) {
  if (use.temporary >= 0)
    temporaries[use.temporary] = buffer;
  else
    buffers[use.tensor] = {use.view, buffer};
}

Value HostViews::toBuffer(const TensorUse &use, const std::vector<Extent> &shape) {
  const BufferView &view = use.view;
  if (use.temporary >= 0) {
    Value buffer = temporaries.at(use.temporary);
    if (view.parts.empty())
      return buffer;
    Type element = cast<RankedTensorType>(buffer.getType()).getElementType();
    return tensor::ExpandShapeOp::create(b, loc, partsType(view, element), buffer, view.cut);
  }
  if (auto defined = buffers.find(use.tensor); defined != buffers.end()) {
    const BufferView &own = defined->second.view;
    RankedTensorType type = bufferType(
        shape, cast<RankedTensorType>(defined->second.buffer.getType()).getElementType());
    if (own.cut == view.cut && own.joined == view.joined &&
        type == defined->second.buffer.getType())
      return defined->second.buffer;
  }
  Value tensor = this->tensor(use.tensor);
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  RankedTensorType axes = axesType(view, element), parts = partsType(view, element),
                   whole = bufferType(shape, element);
  if (tensor.getType() != axes)
    tensor = tensor::CastOp::create(b, loc, axes, tensor);
  if (axes != parts)
    tensor = tensor::ExpandShapeOp::create(b, loc, parts, tensor, view.cut, partSizes(use));
  if (view.joined.size() != view.parts.size())
    tensor = tensor::CollapseShapeOp::create(b, loc, tensor, view.joined);
  if (tensor.getType() != whole)
    tensor = tensor::CastOp::create(b, loc, whole, tensor);
  return tensor;
}

Value HostViews::packedWeight(Value tensor, const BufferView &view, const Panels &panels) {
  auto weight = tensor.getDefiningOp<graph::WeightOp>();
  if (!weight)
    return {};
  graph::WeightAttr source = weight.getSource();
  auto strides = weightStrides(source, view);
  if (!strides)
    return {};
  SmallVector<int64_t> sizes, packed;
  for (int axis : panels.order) {
    int64_t size = 1;
    for (int64_t part : view.joined[axis])
      size *= *view.parts[part].size;
    sizes.push_back(size);
    packed.push_back((*strides)[axis]);
  }
  int64_t column = packed.front(), neighbour = packed.back();
  sizes.front() = llvm::divideCeil(sizes.front(), panels.width * panels.parts);
  packed.front() *= panels.width;
  if (panels.parts > 1) {
    packed.insert(packed.begin() + 1, packed.front() * sizes.front());
    sizes.insert(sizes.begin() + 1, panels.parts);
  }
  if (panels.group > 1) {
    sizes.back() /= panels.group;
    packed.back() *= panels.group;
  }
  sizes.push_back(panels.width);
  packed.push_back(column);
  if (panels.group > 1) {
    sizes.push_back(panels.group);
    packed.push_back(neighbour);
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(weight);
  auto type = cast<RankedTensorType>(weight.getType());
  return graph::WeightOp::create(
      b, weight.getLoc(), type.clone(sizes),
      graph::WeightAttr::get(b.getContext(), source.getName(), source.getFile(), source.getOffset(),
                             source.getBytes(), source.getStart(), packed));
}

Value HostViews::fromBuffer(const TensorUse &use, Value buffer) {
  const BufferView &view = use.view;
  auto type = cast<RankedTensorType>(use.tensor.getType());
  RankedTensorType parts = partsType(view, type.getElementType()),
                   axes = axesType(view, type.getElementType());
  if (view.joined.size() != view.parts.size())
    buffer = tensor::ExpandShapeOp::create(b, loc, parts, buffer, view.joined, partSizes(use));
  if (axes != parts)
    buffer = tensor::CollapseShapeOp::create(b, loc, buffer, view.cut);
  if (buffer.getType() != type)
    buffer = tensor::CastOp::create(b, loc, type, buffer);
  return buffer;
}

Value HostViews::empty(const std::vector<Extent> &shape, Type element) {
  SmallVector<OpFoldResult> sizes;
  for (const Extent &extent : shape)
    sizes.push_back(extent.size ? OpFoldResult(b.getIndexAttr(*extent.size))
                                : OpFoldResult(size(extent)));
  return tensor::EmptyOp::create(b, loc, sizes, element);
}

} // namespace tw::conversion
