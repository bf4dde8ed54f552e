// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/OperandCopy.h"
#include "GraphToTile/Analysis/Subkernels/SubkernelBuilder.h"

namespace tw::conversion {

/// Makes `access` read `buffer`, which nothing else of the product reads.
static void replaceBuffer(Subkernel &subkernel, Access &access, const BufferSpec &buffer,
                          const TensorUse &use) {
  auto &product = std::get<Contraction>(subkernel.what);
  if (product.a.buffer == product.b.buffer) { // x times x
    access.buffer = product.c.buffer++;
    product.buffers.insert(product.buffers.begin() + access.buffer, buffer);
    subkernel.tensors.insert(subkernel.tensors.begin() + access.buffer, use);
    return;
  }
  product.buffers[access.buffer] = buffer;
  subkernel.tensors[access.buffer] = use;
}

static Statement copyOf(const std::vector<Axis> &from, const std::vector<Axis> &to) {
  Statement copied{Statement::Kind::Copy};
  copied.sources = {{{}, {}, Access{0, from}, {}}};
  copied.target = Access{1, to};
  return copied;
}

/// Makes a copy whose buffers lie alike run along its dimensions in the order of memory.
static void inOrderOfMemory(LoopProgram &program) {
  Statement &copied = program.statements.front();
  std::vector<Extent> dims;
  std::vector<Axis> axes;
  for (const Axis &axis : copied.target->axes) {
    axes.push_back({int(dims.size())});
    dims.push_back(program.dims[axis.dim]);
  }
  program.dims = dims;
  copied = copyOf(axes, axes);
}

Subkernel materializeOperand(Subkernel &subkernel, Operand operand, const OperandLayout &layout,
                             int temporary) {
  auto &product = std::get<Contraction>(subkernel.what);
  Access &access = product.*operand;
  BufferSpec from = product.buffers[access.buffer], to{layout.name, from.dtype, layout.shape, true};
  TensorUse given = subkernel.tensors[access.buffer], use{{}, {}, temporary};
  LoopProgram program{product.dims, {from, to}};
  std::vector<Axis> axes;
  for (auto [dim, extent] : llvm::zip(layout.dims, layout.shape)) {
    program.dims[dim] = extent;
    axes.push_back({dim});
  }
  program.statements.push_back(copyOf(access.axes, axes));
  if (access.axes == axes)
    inOrderOfMemory(program);
  access.axes = axes;
  Subkernel copy{std::move(program), {given, use}, subkernel.locations};
  tidy(copy);
  to.isOutput = false;
  replaceBuffer(subkernel, access, to, use);
  return copy;
}

} // namespace tw::conversion
