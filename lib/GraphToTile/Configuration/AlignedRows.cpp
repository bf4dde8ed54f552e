// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/AlignedRows.h"
#include "GraphToTile/Configuration/OperandCopy.h"

namespace tw::conversion {
using kernels::bytesOf;

static constexpr Operand operands[] = {&Contraction::a, &Contraction::b};

static const BufferSpec &bufferOf(const Contraction &product, Operand operand) {
  return product.buffers[(product.*operand).buffer];
}

/// How many elements a row's length has to be a multiple of.
static int64_t elementsIn(int64_t bytes, const BufferSpec &buffer) {
  return std::max<int64_t>(1, bytes / bytesOf(buffer.dtype));
}

static bool hasUnalignedRows(const BufferSpec &buffer, int64_t bytes) {
  return buffer.shape.size() > 1 && buffer.shape.back().size &&
         *buffer.shape.back().size % elementsIn(bytes, buffer) != 0;
}

/// All of the operand, with nothing beside it in memory, so that what is beyond it reads as 0.
static bool isWhole(const Contraction &product, Operand operand) {
  const BufferSpec &buffer = bufferOf(product, operand);
  return llvm::all_of(llvm::zip(buffer.shape, (product.*operand).axes), [&](auto pair) {
    auto &[extent, axis] = pair;
    return axis.dim >= 0 && axis == Axis{axis.dim} && product.dims[axis.dim] == extent;
  });
}

/// The copy of an operand.
static OperandLayout alignedLayout(const Contraction &product, Operand operand, int64_t bytes) {
  const BufferSpec &buffer = bufferOf(product, operand);
  OperandLayout layout{operand == operands[0] ? "aligned_a" : "aligned_b", {}, buffer.shape};
  for (const Axis &axis : (product.*operand).axes)
    layout.dims.push_back(axis.dim);
  int64_t multiple = elementsIn(bytes, buffer), &row = *layout.shape.back().size;
  row = (row + multiple - 1) / multiple * multiple;
  return layout;
}

/// Operands that are summed along their rows are summed along all of the longer ones.
static void lengthenSum(Contraction &product, const OperandLayout &layout) {
  kernels::ContractionRoles roles = rolesOf(product);
  if (llvm::is_contained(roles.sums, layout.dims.back()))
    product.dims[layout.dims.back()] = layout.shape.back();
}

bool canAlignRows(const Contraction &product, int64_t bytes) {
  auto isUnaligned = [&](Operand operand) {
    return hasUnalignedRows(bufferOf(product, operand), bytes);
  };
  return !kernels::readsWindows(product) && llvm::any_of(operands, isUnaligned) &&
         llvm::all_of(operands, [&](Operand operand) { return isWhole(product, operand); });
}

int64_t bytesToAlign(const Contraction &product, int64_t bytes, bool isRhsWeight, int64_t unknown) {
  int64_t all = 0;
  for (Operand operand : operands) {
    const BufferSpec &buffer = bufferOf(product, operand);
    if (!hasUnalignedRows(buffer, bytes) || (isRhsWeight && operand == operands[1]))
      continue;
    int64_t size = bytesOf(buffer.dtype);
    for (const Extent &extent : buffer.shape)
      size *= extent.size.value_or(extent.most.value_or(unknown));
    all += size;
  }
  return all;
}

Contraction withAlignedRows(Contraction product, int64_t bytes) {
  Contraction given = product;
  for (Operand operand : operands)
    if (hasUnalignedRows(bufferOf(given, operand), bytes)) {
      OperandLayout layout = alignedLayout(given, operand, bytes);
      product.buffers[(product.*operand).buffer].shape = layout.shape;
      lengthenSum(product, layout);
    }
  return product;
}

std::vector<Subkernel> materializeAlignedRows(Subkernel &subkernel, int64_t bytes,
                                              int &temporaries) {
  auto &product = std::get<Contraction>(subkernel.what);
  Contraction given = product;
  std::vector<Subkernel> copies;
  for (Operand operand : operands)
    if (hasUnalignedRows(bufferOf(given, operand), bytes)) {
      OperandLayout layout = alignedLayout(given, operand, bytes);
      copies.push_back(materializeOperand(subkernel, operand, layout, temporaries++));
      lengthenSum(product, layout);
    }
  return copies;
}

} // namespace tw::conversion
