// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/Variants.h"

namespace tw::conversion {

/// The symbol, if one of the buffers that a call brings has it as one of its sizes.
static std::string boundSymbol(const Extent &extent,
                               const std::vector<kernels::BufferSpec> &buffers) {
  bool isBound = !extent.size && llvm::any_of(buffers, [&](const kernels::BufferSpec &buffer) {
    return !buffer.isOutput && llvm::is_contained(buffer.shape, extent);
  });
  return isBound ? extent.symbol : std::string();
}

std::string variantSymbol(const Subkernel &subkernel) {
  if (auto *attention = std::get_if<Attention>(&subkernel.what))
    return boundSymbol(attention->dims[attention->queries], attention->buffers);
  auto *product = std::get_if<Contraction>(&subkernel.what);
  if (!product)
    return {};
  kernels::ContractionRoles roles = rolesOf(*product);
  return roles.rows.empty() ? std::string()
                            : boundSymbol(product->dims[roles.rows.back()], product->buffers);
}

Subkernel boundedBy(const Subkernel &subkernel, int64_t most) {
  Subkernel bounded = subkernel;
  std::string symbol = variantSymbol(subkernel);
  auto bound = [&](Extent &extent) {
    if (!extent.size && extent.symbol == symbol)
      extent.most = most;
  };
  auto boundAll = [&](auto &what) {
    llvm::for_each(what.dims, bound);
    for (kernels::BufferSpec &buffer : what.buffers)
      llvm::for_each(buffer.shape, bound);
  };
  if (auto *attention = std::get_if<Attention>(&bounded.what))
    boundAll(*attention);
  else
    boundAll(std::get<Contraction>(bounded.what));
  return bounded;
}

std::vector<Constraint> variantConstraints(const Subkernel &subkernel,
                                           const Configuration &kernel) {
  std::vector<Constraint> constraints;
  auto isSame = [&](const std::string &text, int64_t value, const char *why) {
    constraints.emplace_back(text, std::to_string(value), why);
    constraints.emplace_back(std::to_string(value), text, why);
  };
  constexpr const char *oneWorker = "workers do not share the loop of a variant";
  if (std::holds_alternative<Attention>(subkernel.what))
    constraints.emplace_back("split_keys", "0", oneWorker);
  if (!std::holds_alternative<Contraction>(subkernel.what))
    return constraints;
  constexpr const char *onePacking = "all variants of a kernel read one packing";
  kernels::ContractionConfiguration base = kernels::contractionFrom(kernel.fields.numbers);
  isSame("packed", base.isPacked, onePacking);
  if (base.isPacked) {
    isSame("columns floordiv panels", panelOf(base), onePacking);
    isSame("column_parts", base.columnParts, onePacking);
  }
  constraints.emplace_back("split_k", "0", oneWorker);
  return constraints;
}

std::vector<Constraint> workersConstraints(const Configuration &kernel) {
  constexpr const char *cuts[] = {"rows",   "columns", "row_programs",   "column_programs",
                                  "height", "width",   "width_programs", "outputs_outermost"};
  constexpr const char *why = "results are the same bits for any number of workers";
  std::vector<Constraint> constraints;
  for (const auto &[name, value] : kernel.symbols())
    if (!llvm::is_contained(cuts, name)) {
      constraints.emplace_back(name, std::to_string(value), why);
      constraints.emplace_back(std::to_string(value), name, why);
    }
  return constraints;
}

} // namespace tw::conversion
