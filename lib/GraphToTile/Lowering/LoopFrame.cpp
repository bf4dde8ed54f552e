// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Lowering/LoopFrame.h"
#include "GraphToTile/Analysis/Subkernels/LoopProperties.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;

namespace tw::conversion {

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static Type typeOf(Builder &b, kernel::DType dtype) {
  switch (dtype) {
  case kernel::f16:
    return b.getF16Type();
  case kernel::bf16:
    return b.getBF16Type();
  case kernel::f32:
    return b.getF32Type();
  case kernel::f64:
    return b.getF64Type();
  default:
    return b.getIntegerType(dtype == kernel::i1                          ? 1
                            : dtype == kernel::i8 || dtype == kernel::u8 ? 8
                            : dtype == kernel::i16                       ? 16
                            : dtype == kernel::i32                       ? 32
                                                                         : 64);
  }
}

/// Whether a dimension is shared out among programs: it is longer than one block.
static bool isCut(const Extent &extent, const LoopTiling &tiling) {
  return tiling.block > 0 && !(extent.size && *extent.size <= tiling.block);
}

Size LoopFrame::sizeOf(const Extent &extent) const {
  return extent.size ? Size(*extent.size) : Size::symbol(extent.symbol);
}

LoopFrame::LoopFrame(TileBuilder &b, StringRef name, const LoopProgram &program,
                     const LoopConfiguration &configuration)
    : b(b), program(program) {
  if (configuration.parts > 1)
    sharedDims = partDims(program);
  createKernel(name, configuration);
  Value zero = b.index(0);
  int next = 0;
  for (size_t d = 0; d < program.dims.size(); ++d) {
    const LoopTiling &tiling = configuration.tilings[d];
    bool isBlock = isCut(program.dims[d], tiling);
    DimPart part{isBlock ? Size(tiling.block) : size(int(d)), zero, isBlock};
    if (isBlock) // the number of its block so far
      part.first = isAligned(int(d)) ? parts[sharedDims[0]].first
                                     : Value(tile::ProgramIdOp::create(b.b, b.loc, next++));
    part.hasEdge = isBlock && tiling.block > 1 &&
                   !(program.dims[d].size && *program.dims[d].size % tiling.block == 0);
    parts.push_back(part);
  }
  for (size_t d = 0; d < program.dims.size(); ++d)
    if (parts[d].isBlock)
      parts[d].first = b.mul(parts[d].first, configuration.tilings[d].block);
}

void LoopFrame::createKernel(StringRef name, const LoopConfiguration &configuration) {
  MLIRContext *context = b.b.getContext();
  auto attribute = [&](const Size &size) { return tile::SizeAttr::get(context, size); };
  llvm::SetVector<StringRef> symbols;
  auto declare = [&](const Extent &extent) {
    if (!extent.size)
      symbols.insert(extent.symbol);
  };
  llvm::for_each(program.dims, declare);
  for (const BufferSpec &spec : program.buffers)
    llvm::for_each(spec.shape, declare);
  SmallVector<Type> types;
  SmallVector<Attribute> arguments, declared, grid;
  for (auto [number, spec] : llvm::enumerate(program.buffers)) {
    bool isBegun = program.begin && program.begin->output == int(number);
    SmallVector<tile::SizeAttr> shape;
    for (const Extent &extent : spec.shape)
      shape.push_back(attribute(sizeOf(extent)));
    types.push_back(tile::BufferType::get(context, shape, typeOf(b.b, spec.dtype)));
    tile::Access access = isBegun         ? tile::Access::InOut
                          : spec.isOutput ? tile::Access::Out
                                          : tile::Access::In;
    arguments.push_back(tile::ArgumentAttr::get(context, spec.name, access, {}, {}));
  }
  for (auto [i, scalar] : llvm::enumerate(program.scalars)) {
    types.push_back(typeOf(b.b, scalar.second));
    arguments.push_back(
        tile::ArgumentAttr::get(context, "n" + std::to_string(i), tile::Access::Scalar, {}, {}));
  }
  for (auto &[argument, symbol] : program.sizes) {
    types.push_back(b.b.getIndexType());
    arguments.push_back(tile::ArgumentAttr::get(context, "size_" + symbol, tile::Access::Scalar, {},
                                                b.b.getStringAttr(symbol)));
  }
  for (StringRef symbol : symbols)
    declared.push_back(tile::SymbolAttr::get(context, symbol, 0, INT64_MAX, 1));
  SmallVector<int64_t> blocks;
  for (size_t d = 0; d < program.dims.size(); ++d) {
    const LoopTiling &tiling = configuration.tilings[d];
    if (!isCut(program.dims[d], tiling) || isAligned(int(d)))
      continue;
    grid.push_back(attribute(ceilDiv(size(int(d)), tiling.block)));
    blocks.push_back(tiling.programs);
  }
  if (grid.empty())
    grid.push_back(attribute(1)), blocks.push_back(1);
  kernel = tile::KernelOp::create(b.b, b.loc, name, b.b.getArrayAttr(arguments),
                                  b.b.getArrayAttr(declared), b.b.getArrayAttr(grid));
  kernel->setAttr(tile::TileDialect::destinationsName, b.b.getUnitAttr());
  kernel->setAttr(tile::TileDialect::blockName, b.b.getDenseI64ArrayAttr(blocks));
  if (program.begin)
    kernel->setAttr(tile::TileDialect::beginsName,
                    b.b.getDenseI64ArrayAttr({program.begin->input, program.begin->output}));
  Block *body =
      b.b.createBlock(&kernel.getBody(), {}, types, SmallVector<Location>(types.size(), b.loc));
  b.b.setInsertionPointToEnd(body);
}

Value LoopFrame::scalar(Value argument) {
  auto known = llvm::find_if(program.scalars, [&](auto &s) { return s.first == argument; });
  return kernel.getBody().getArgument(
      unsigned(program.buffers.size() + (known - program.scalars.begin())));
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

Extents LoopFrame::extentsOf(ArrayRef<int> dims) const {
  Extents extents(parts.size(), Size(1));
  for (int dim : dims)
    extents[dim] = parts[dim].extent;
  return extents;
}

Value LoopFrame::coordinates(int dim) { return b.iota(extentsOf(dim), dim, parts[dim].first); }

Value LoopFrame::inside(const Extents &extents) {
  Value mask;
  for (int dim = 0; dim < int(parts.size()); ++dim)
    if (parts[dim].hasEdge && !isOne(extents[dim])) {
      Value size = b.full(b.toI64(b.index(this->size(dim))), extentsOf({}));
      mask = b.both(mask, b.isLess(coordinates(dim), size));
    }
  return mask ? b.broadcast(mask, extents) : mask;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LoopFrame::Box LoopFrame::boxOf(const Access &access) {
  Box box;
  for (const Axis &axis : access.axes) {
    box.strides.push_back(axis.stride);
    Value position = axis.dim >= 0 ? b.mul(parts[axis.dim].first, axis.stride) : b.index(0);
    if (axis.offset != 0)
      position = b.add(position, b.index(axis.offset));
    for (auto [number, factor] : axis.scalarTerms)
      position = b.add(position, b.mul(b.toIndex(scalar(program.scalars[number].first)), factor));
    for (auto [dim, factor] : axis.dimTerms)
      position = b.add(position, b.mul(parts[dim].first, factor));
    box.positions.push_back(position);
    box.extents.push_back(axis.dim >= 0 ? parts[axis.dim].extent : Size(1));
  }
  if (llvm::all_of(box.strides, [](int64_t stride) { return stride == 1; }))
    box.strides.clear();
  return box;
}

/// Axes of the access in the order of dimensions, then those that are one element.
static SmallVector<int, 12> axesInOrder(const Access &access) {
  auto axes = llvm::to_vector_of<int, 12>(llvm::seq<int>(0, int(access.axes.size())));
  auto rank = [&](int axis) { return unsigned(access.axes[axis].dim); }; // -1 last
  llvm::stable_sort(axes, [&](int x, int y) { return rank(x) < rank(y); });
  return axes;
}

static std::vector<int> dimsOf(const Access &access) {
  std::vector<int> dims;
  for (const Axis &axis : access.axes)
    if (axis.dim >= 0)
      dims.push_back(axis.dim);
  return dims;
}

bool LoopFrame::goesBeyond(const Access &access) const {
  return llvm::any_of(llvm::zip(access.axes, program.buffers[size_t(access.buffer)].shape),
                      [&](auto pair) {
                        auto &[axis, size] = pair;
                        return axis.dim >= 0 && axis == Axis{axis.dim} && size.size &&
                               program.dims[size_t(axis.dim)].size.value_or(0) > *size.size;
                      });
}

Value LoopFrame::load(const Access &access, Value pad) {
  Box box = boxOf(access);
  Value source = buffer(access.buffer);
  Type element = cast<tile::BufferType>(source.getType()).getTileElementType();
  if (!pad && goesBeyond(access))
    pad = b.constant(cast<TypedAttr>(b.b.getZeroAttr(element)));
  Value tile = tile::LoadOp::create(b.b, b.loc, tile::tileType(box.extents, element), source,
                                    box.positions, box.strides, Value(), pad);
  return b.reshape(b.transpose(tile, axesInOrder(access)), extentsOf(dimsOf(access)));
}

/// A tile with an axis for each dimension as the box of an access has it.
Value LoopFrame::asBox(const Access &access, const Box &box, Value tile) {
  SmallVector<int, 12> axes = axesInOrder(access), back(axes.size());
  Extents kept;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    kept.push_back(box.extents[axis]);
    back[axis] = int(i);
  }
  return b.transpose(b.reshape(b.broadcast(tile, extentsOf(dimsOf(access))), kept), back);
}

/// Where a block ends beyond its dimension, but not beyond the buffer; null if it does not.
Value LoopFrame::insideParts(const Access &access) {
  std::vector<int> dims;
  for (const Axis &axis : access.axes)
    if (axis.dim >= 0 && axis.isPartial)
      dims.push_back(axis.dim);
  Extents extents = extentsOf(dims);
  return inside(extents);
}

void LoopFrame::store(const Access &access, Value tile) {
  Box box = boxOf(access);
  Value mask = insideParts(access);
  if (mask)
    mask = asBox(access, box, mask);
  tile::StoreOp::create(b.b, b.loc, asBox(access, box, tile), buffer(access.buffer), box.positions,
                        box.strides, mask, /*drop=*/false, nullptr);
}

void LoopFrame::update(const Access &access, Value tile, ArrayRef<Value> positions,
                       Combine combine) {
  Box box = boxOf(access);
  for (size_t axis = 0, next = 0; axis < access.axes.size(); ++axis)
    if (access.axes[axis].dim < 0)
      box.positions[axis] = positions[next++];
  Value mask = insideParts(access);
  if (mask)
    mask = asBox(access, box, mask);
  Value value = asBox(access, box, tile), target = buffer(access.buffer);
  if (combine)
    value = combine(tile::LoadOp::create(b.b, b.loc, value.getType(), target, box.positions,
                                         ArrayRef<int64_t>(), Value(), Value()),
                    value);
  tile::StoreOp::create(b.b, b.loc, value, target, box.positions, ArrayRef<int64_t>(), mask,
                        /*drop=*/false, nullptr);
}

void LoopFrame::updateElements(const Access &access, Value tile, ArrayRef<Value> positions,
                               Combine combine) {
  std::vector<int> dims = dimsOf(access);
  Extents extents = extentsOf(dims);
  SmallVector<Value> points;
  size_t next = 0;
  for (const Axis &axis : access.axes)
    points.push_back(
        b.broadcast(axis.dim < 0 ? positions[next++] : coordinates(axis.dim), extents));
  Value mask = inside(extents), value = b.broadcast(tile, extents), target = buffer(access.buffer);
  if (combine)
    value = combine(
        tile::GatherOp::create(b.b, b.loc, value.getType(), target, points, mask, Value()), value);
  tile::ScatterOp::create(b.b, b.loc, value, target, points, mask, /*drop=*/false, nullptr);
}

} // namespace tw::conversion
