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

Subkernel materializeOperand(Subkernel &subkernel, Operand operand, const OperandLayout &layout,
                             int temporary) {
  auto &product = std::get<Contraction>(subkernel.what);
  Access &access = product.*operand;
  BufferSpec from = product.buffers[access.buffer], to{layout.name, from.dtype, layout.shape, true};
  TensorUse given = subkernel.tensors[access.buffer], use{{}, {}, temporary};
  LoopProgram program{product.dims, {from, to}};
  Statement copied{Statement::Kind::Copy};
  copied.sources = {{{}, {}, Access{0, access.axes}, {}}};
  copied.target = Access{1, {}};
  for (auto [dim, extent] : llvm::zip(layout.dims, layout.shape)) {
    program.dims[dim] = extent;
    copied.target->axes.push_back({dim});
  }
  access.axes = copied.target->axes;
  program.statements.push_back(std::move(copied));
  Subkernel copy{std::move(program), {given, use}, subkernel.locations};
  tidy(copy);
  to.isOutput = false;
  replaceBuffer(subkernel, access, to, use);
  return copy;
}

} // namespace tw::conversion
