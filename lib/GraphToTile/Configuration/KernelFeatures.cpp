// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/KernelFeatures.h"
#include "IR/Graph/Decisions.h"
#include "IR/ModelLocation.h"
#include "Kernels/Winograd.h"
#include "Language/Tracer.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir;

namespace tw::conversion {
namespace {

using Sizes = std::map<std::string, SizeRange>;

SizeRange rangeOf(const Extent &extent) {
  if (extent.size)
    return {*extent.size, *extent.size};
  return {extent.most == 1 ? 1 : 0, extent.most.value_or(std::numeric_limits<int64_t>::max())};
}

SizeRange product(const std::vector<Extent> &dims, const std::vector<int> &of) {
  SizeRange range{1, 1};
  for (int dim : of) {
    SizeRange other = rangeOf(dims[size_t(dim)]);
    range.least = llvm::SaturatingMultiply(uint64_t(range.least), uint64_t(other.least));
    uint64_t most = llvm::SaturatingMultiply(uint64_t(range.most), uint64_t(other.most));
    range.most = int64_t(std::min<uint64_t>(most, std::numeric_limits<int64_t>::max()));
  }
  return range;
}

SizeRange known(int64_t size) { return {size, size}; }

struct SizesOf {
  Sizes operator()(const LoopProgram &program) const {
    Sizes sizes;
    for (auto [number, dim] : llvm::enumerate(program.dims))
      sizes["dim_" + std::to_string(number)] = rangeOf(dim);
    return sizes;
  }
  Sizes operator()(const Contraction &contraction) const {
    kernels::ContractionRoles roles = kernels::rolesOf(contraction);
    return {{"batch", product(contraction.dims, roles.batch)},
            {"rows", product(contraction.dims, roles.rows)},
            {"columns", product(contraction.dims, roles.columns)},
            {"sum", product(contraction.dims, roles.sums)}};
  }
  Sizes operator()(const Convolution &convolution) const {
    Sizes sizes = {{"batch", rangeOf(convolution.batch)},
                   {"channels", rangeOf(convolution.channels)},
                   {"outputs", rangeOf(convolution.outputs)},
                   {"groups", known(convolution.groups)}};
    for (auto [number, axis] : llvm::enumerate(convolution.spatial)) {
      std::string suffix = std::to_string(number);
      sizes["output_" + suffix] = rangeOf(axis.output);
      sizes["window_" + suffix] = rangeOf(axis.window);
      sizes["stride_" + suffix] = known(axis.stride);
      sizes["dilation_" + suffix] = known(axis.dilation);
    }
    return sizes;
  }
  Sizes operator()(const Attention &attention) const { return ofAttention(attention); }
  Sizes operator()(const AttentionGradient &gradient) const { return ofAttention(gradient); }
  Sizes operator()(const kernels::WinogradWeights &weights) const {
    return {{"channels", known(weights.channels)}, {"outputs", known(weights.outputs)}};
  }

private:
  static Sizes ofAttention(const kernels::AttentionInputs &attention) {
    std::vector<int> batch;
    const int roles[] = {attention.queries, attention.keys, attention.depth, attention.width};
    for (int dim = 0; dim < int(attention.dims.size()); ++dim)
      if (!llvm::is_contained(roles, dim))
        batch.push_back(dim);
    return {{"batch", product(attention.dims, batch)},
            {"queries", product(attention.dims, {attention.queries})},
            {"keys", product(attention.dims, {attention.keys})},
            {"depth", product(attention.dims, {attention.depth})},
            {"width", product(attention.dims, {attention.width})}};
  }
};

std::vector<std::string> operationsAt(ArrayRef<Location> locations) {
  std::vector<std::string> operations;
  for (Location location : locations)
    if (std::string node = nodeName(location); !node.empty())
      operations.push_back(graph::withoutNumber(node));
  return operations;
}

} // namespace

std::vector<std::string> sizeNames(const std::string &kind) {
  static const std::vector<std::string> attention = {"batch", "queries", "keys", "depth", "width"};
  static const std::map<std::string, std::vector<std::string>> names = {
      {"contraction", {"batch", "rows", "columns", "sum"}},
      {"convolution",
       {"batch", "channels", "outputs", "groups", "output_", "window_", "stride_", "dilation_"}},
      {"attention", attention},
      {"attention_gradient", attention},
      {"winograd_weights", {"channels", "outputs"}},
      {"loops", {"dim_"}}};
  auto found = names.find(kind);
  return found == names.end() ? std::vector<std::string>() : found->second;
}

KernelFeatures featuresOf(const ConfigurationProblem &problem, std::string signature,
                          int64_t number) {
  KernelFeatures made;
  made.kind = spaceOf(problem).schema->name;
  made.operations = operationsAt(problem.subkernel.locations);
  const auto &buffers =
      std::visit([](const auto &what) -> const std::vector<BufferSpec> & { return what.buffers; },
                 problem.subkernel.what);
  for (const BufferSpec &buffer : buffers)
    made.dtypes.push_back(kernel::detail::dtypeName(buffer.dtype));
  made.isRhsWeight = problem.isRhsWeight;
  made.signature = std::move(signature);
  made.number = number;
  made.sizes = std::visit(SizesOf(), problem.subkernel.what);
  return made;
}

} // namespace tw::conversion
