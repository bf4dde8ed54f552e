// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/TransposedRhs.h"
#include "GraphToTile/Analysis/SubkernelBuilder.h"

namespace tw::conversion {
using kernels::ContractionRoles;

Subkernel materializeTransposedRhs(Subkernel &subkernel, int temporary) {
  auto &product = std::get<Contraction>(subkernel.what);
  ContractionRoles roles = rolesOf(product);
  BufferSpec from = product.buffers[product.b.buffer];
  BufferSpec to{"transposed", from.dtype, {}, true};
  Statement copied{Statement::Kind::Copy};
  copied.sources = {{{}, {}, Access{0, product.b.axes}, {}}};
  copied.target = Access{1, {}};
  for (auto *dims : {&roles.batch, &roles.sums, &roles.columns})
    for (int dim : *dims)
      if (product.b.covers(dim)) {
        copied.target->axes.push_back({dim});
        to.shape.push_back(product.dims[dim]);
      }
  std::vector<Axis> transposed = copied.target->axes;
  TensorUse use{{}, {}, temporary};
  LoopProgram program{product.dims, {from, to}};
  program.statements.push_back(std::move(copied));
  Subkernel copy{
      std::move(program), {subkernel.tensors[product.b.buffer], use}, subkernel.locations};
  tidy(copy);
  to.isOutput = false;
  product.b.axes = transposed;
  if (product.a.buffer != product.b.buffer) {
    product.buffers[product.b.buffer] = to;
    subkernel.tensors[product.b.buffer] = use;
  } else { // x times x transposed
    product.b.buffer = product.c.buffer++;
    product.buffers.insert(product.buffers.begin() + product.b.buffer, to);
    subkernel.tensors.insert(subkernel.tensors.begin() + product.b.buffer, use);
  }
  return copy;
}

} // namespace tw::conversion
