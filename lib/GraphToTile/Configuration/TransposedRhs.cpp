// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/TransposedRhs.h"
#include "GraphToTile/Analysis/Subkernels/SubkernelBuilder.h"
#include "GraphToTile/Configuration/OperandCopy.h"

namespace tw::conversion {
using kernels::ContractionRoles;

/// From [outputs, channels, taps] to [taps, channels, outputs].
static Subkernel transposeFilters(Subkernel &subkernel, Convolution &convolution, int temporary) {
  BufferSpec &filters = convolution.buffers[convolution.w];
  TensorUse given = subkernel.tensors[convolution.w], read{{}, {}, temporary};
  std::vector<Extent> window;
  int64_t taps = 1;
  for (const kernels::ConvolutionAxis &axis : convolution.spatial) {
    window.push_back(axis.window);
    taps *= *axis.window.size;
  }
  LoopProgram program{{convolution.outputs, convolution.channels}, {filters, filters}};
  if (taps > 1) {
    program.dims.push_back({taps});
    mlir::ReassociationIndices &rest = given.view.joined[1];
    given.view.joined = {given.view.joined[0], {rest.front()}, {rest.begin() + 1, rest.end()}};
  }
  program.buffers[0].shape = program.dims;
  program.buffers[1] = {
      "transposed", filters.dtype, {program.dims.rbegin(), program.dims.rend()}, true};
  Statement copied{Statement::Kind::Copy};
  copied.sources = {{{}, {}, Access{0, {}}, {}}};
  copied.target = Access{1, {}};
  for (int dim = 0; dim < int(program.dims.size()); ++dim) {
    copied.sources[0].access->axes.push_back({dim});
    copied.target->axes.insert(copied.target->axes.begin(), {dim});
  }
  program.statements.push_back(std::move(copied));

  filters = {"transposed", filters.dtype, window};
  filters.shape.insert(filters.shape.end(), {convolution.channels, convolution.outputs});
  read.view.parts.assign(filters.shape.begin(), filters.shape.end());
  int64_t apart = int64_t(window.size()) + (taps > 1 ? 0 : 1); // taps, or taps of channels
  for (int64_t part = 0; part < int64_t(filters.shape.size()); ++part) {
    if (part == 0 || part >= apart)
      read.view.cut.emplace_back();
    read.view.cut.back().push_back(part);
  }
  convolution.isOutputsFirst = false;
  subkernel.tensors[convolution.w] = read;
  TensorUse written{{}, {}, temporary};
  Subkernel copy{std::move(program), {given, written}, subkernel.locations};
  tidy(copy);
  return copy;
}

/// The dimensions of b in the new order.
static std::vector<int> transposedOrder(const Contraction &product) {
  ContractionRoles roles = rolesOf(product);
  bool isSumLast = !roles.columns.empty() && product.b.axes.back().dim == roles.columns.back();
  std::vector<int> order;
  for (auto *dims : {&roles.batch, isSumLast ? &roles.columns : &roles.sums,
                     isSumLast ? &roles.sums : &roles.columns})
    for (int dim : *dims)
      if (product.b.covers(dim))
        order.push_back(dim);
  return order;
}

Contraction withTransposedRhs(Contraction product) {
  std::vector<Extent> shape;
  std::vector<Axis> axes;
  for (int dim : transposedOrder(product)) {
    axes.push_back({dim});
    shape.push_back(product.dims[dim]);
  }
  product.b.axes = axes;
  product.buffers[product.b.buffer].shape = shape;
  return product;
}

Subkernel materializeTransposedRhs(Subkernel &subkernel, int temporary) {
  if (auto *convolution = std::get_if<Convolution>(&subkernel.what))
    return transposeFilters(subkernel, *convolution, temporary);
  auto &product = std::get<Contraction>(subkernel.what);
  OperandLayout layout{"transposed", transposedOrder(product), {}};
  for (int dim : layout.dims)
    layout.shape.push_back(product.dims[dim]);
  return materializeOperand(subkernel, &Contraction::b, layout, temporary);
}

} // namespace tw::conversion
