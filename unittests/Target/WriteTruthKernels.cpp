// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// write_truth_kernels FOLDER: writes the kernels whose results KernelTruth.inc holds as text, and
// FOLDER/sizes.json, for each of them the sizes of its inputs in each case. scripts/gpu_check
// compiles them for a GPU.
#include "TruthKernels.h"
#include "llvm/Support/JSON.h"
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

namespace {

void write(const std::string &file, const std::string &text) {
  std::ofstream stream(file);
  stream.exceptions(std::ios::failbit | std::ios::badbit);
  stream << text;
  stream.close();
}

void writeAll(const std::string &folder) {
  llvm::json::Object all;
  for (const tw::Truth &truth : tw::kernelTruths()) {
    std::string name = std::string(truth.kernel) + "_" + truth.dtype;
    if (!all.get(name))
      write((std::filesystem::path(folder) / (name + ".mlir")).string(),
            tw::truthKernel(truth.kernel, truth.dtype));
    llvm::json::Value &cases =
        all.try_emplace(name,
                        llvm::json::Object{{"dtype", truth.dtype}, {"sizes", llvm::json::Array()}})
            .first->getSecond();
    std::string sizes;
    for (const char *input : truth.sizes)
      sizes += (sizes.empty() ? "" : " ") + std::string(input);
    cases.getAsObject()->getArray("sizes")->push_back(sizes);
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(all));
  write(folder + "/sizes.json", text);
}

} // namespace

int main(int count, char **arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: write_truth_kernels FOLDER\n");
    return 2;
  }
  try {
    writeAll(arguments[1]);
  } catch (const std::exception &problem) {
    std::fprintf(stderr, "write_truth_kernels: %s\n", problem.what());
    return 1;
  }
  return 0;
}
