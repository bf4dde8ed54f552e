// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/ModelKernels.h"
#include "IR/Tile/Tile.h"
#include "Import/Text/Kernels.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>

using namespace mlir;

namespace tw {

/// Each file's texts with the name that messages give their source.
static Result<std::vector<std::pair<KernelText, std::string>>>
readTexts(const KernelSources &sources, const KernelParameters &configured) {
  const std::vector<std::string> &paths = sources.paths;
  for (auto path = paths.begin(); path != paths.end(); ++path)
    if (std::find(paths.begin(), path, *path) != path)
      return Diagnostic{Code::KERNEL_5,
                        fmt::format("{} is given twice", *path),
                        {},
                        {},
                        "give each file of kernels once"};
  std::vector<std::pair<KernelText, std::string>> all;
  for (const std::string &path : paths) {
    TW_ASSIGN(std::vector<KernelText> texts, readKernels(path, configured));
    for (KernelText &text : texts)
      all.emplace_back(std::move(text), path);
  }
  for (const auto &[name, text] : sources.texts)
    all.push_back({{text, name}, name});
  return all;
}

static Status addEdited(tile::KernelOp kernel, const std::string &replaces,
                        const std::string &source, std::vector<EditedKernel> &edited) {
  for (const EditedKernel &other : edited)
    if (other.replaces == replaces)
      return Diagnostic{
          Code::KERNEL_5,
          fmt::format("two kernels replace \"{}\": in {} and in {}", replaces, other.file, source),
          {},
          {},
          "give one of them"};
  kernel->remove();
  edited.push_back({OwningOpRef<Operation *>(kernel), replaces, source});
  return {};
}

Result<ModelKernels> readModelKernels(MLIRContext &context, const KernelSources &sources,
                                      const KernelParameters &configured) {
  ModelKernels result;
  std::map<std::string, std::string> files; // of each kernel
  TW_ASSIGN(auto texts, readTexts(sources, configured));
  for (const auto &[text, source] : texts) {
    TW_ASSIGN(OwningOpRef<ModuleOp> module, importKernelString(&context, text.text, text.name));
    if (!text.parameters.empty())
      result.parameters[text.name] = text.parameters;
    llvm::append_range(result.included, text.included);
    if (!result.module)
      result.module = ModuleOp::create(UnknownLoc::get(&context));
    for (auto kernel : llvm::make_early_inc_range(module->getOps<tile::KernelOp>())) {
      std::string name = kernel.getSymName().str();
      if (auto replaces = kernel->getAttrOfType<StringAttr>(tile::TileDialect::replacesName)) {
        TW_TRY(addEdited(kernel, replaces.str(), source, result.edited));
        continue;
      }
      auto [known, isNew] = files.emplace(name, source);
      if (!isNew)
        return Diagnostic{Code::KERNEL_5,
                          fmt::format("there are two kernels \"{}\": in {} and in {}", name,
                                      known->second, source),
                          {},
                          {},
                          "rename one of them, for calls name the kernel alone"};
      kernel->remove();
      result.module->push_back(kernel);
      result.names.insert(name);
    }
  }
  return result;
}

} // namespace tw
