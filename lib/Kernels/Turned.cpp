// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Turned.h"
#include "Kernels/Contraction.h"
#include "Kernels/PieceBuilder.h"

namespace tw::kernels {

constexpr int64_t fewRows = 16; // two or three blocks

bool paysToTurn(const Contraction &contraction) {
  ContractionRoles roles = rolesOf(contraction);
  if (roles.columns.empty() || roles.rows.empty())
    return false;
  const Axis &last = contraction.b.axes.back();
  bool isTurned = last.dim >= 0 && !contraction.c.covers(last.dim);
  auto rows = contraction.dims[roles.rows.back()].size;
  auto columns = contraction.dims[roles.columns.back()].size;
  return isTurned && (!rows || *rows > fewRows) && columns != 1;
}

Piece turnSecondOperand(Piece &piece, int temporary) {
  auto &product = std::get<Contraction>(piece.what);
  ContractionRoles roles = rolesOf(product);
  BufferSpec from = product.buffers[product.b.buffer];
  BufferSpec to{"turned", from.dtype, {}, true};
  Step load{Step::Kind::Load, from.dtype}, store{Step::Kind::Store, from.dtype, {0}};
  load.access = {0, product.b.axes};
  store.access.buffer = 1;
  for (auto *dims : {&roles.batch, &roles.sums, &roles.columns})
    for (int dim : *dims)
      if (product.b.covers(dim)) {
        store.access.axes.push_back({dim});
        to.shape.push_back(product.dims[dim]);
      }
  TensorUse use{{}, {}, temporary};
  Piece copy{LoopProgram{product.dims, {from, to}, {}, {load, store}, {}},
             {piece.tensors[product.b.buffer], use},
             {},
             piece.locations};
  tidy(copy);
  to.isOutput = false;
  product.b.axes = store.access.axes;
  if (product.a.buffer != product.b.buffer) {
    product.buffers[product.b.buffer] = to;
    piece.tensors[product.b.buffer] = use;
  } else { // x times x turned
    product.b.buffer = product.c.buffer++;
    product.buffers.insert(product.buffers.begin() + product.b.buffer, to);
    piece.tensors.insert(piece.tensors.begin() + product.b.buffer, use);
  }
  return copy;
}

} // namespace tw::kernels
