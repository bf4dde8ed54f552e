// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/ModelKernels.h"
#include "Driver/KernelSource.h"
#include "IR/Tile/Tile.h"
#include "Import/Text/Kernels.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>

using namespace mlir;

namespace tw {

Result<ModelKernels> readModelKernels(MLIRContext &context, const std::vector<std::string> &paths) {
  ModelKernels result;
  std::map<std::string, std::string> files; // of each kernel
  for (auto path = paths.begin(); path != paths.end(); ++path)
    if (std::find(paths.begin(), path, *path) != path)
      return Diagnostic{Code::KERNEL_5,
                        fmt::format("{} is given twice", *path),
                        {},
                        {},
                        "give each file of kernels once"};
  for (const std::string &path : paths) {
    TW_ASSIGN(std::vector<KernelText> texts, readKernels(path));
    for (const KernelText &text : texts) {
      TW_ASSIGN(OwningOpRef<ModuleOp> module, importKernelString(&context, text.text, text.name));
      if (!result.module)
        result.module = ModuleOp::create(UnknownLoc::get(&context));
      for (auto kernel : llvm::make_early_inc_range(module->getOps<tile::KernelOp>())) {
        std::string name = kernel.getSymName().str();
        auto [known, isNew] = files.emplace(name, path);
        if (!isNew)
          return Diagnostic{Code::KERNEL_5,
                            fmt::format("there are two kernels \"{}\": in {} and in {}", name,
                                        known->second, path),
                            {},
                            {},
                            "rename one of them, for calls name the kernel alone"};
        kernel->remove();
        result.module->push_back(kernel);
        result.names.insert(name);
      }
    }
  }
  return result;
}

} // namespace tw
