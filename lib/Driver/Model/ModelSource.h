// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a call of the C API says that its model and kernels are: in files or in memory.
#pragma once
#include "Driver/Model/ModelKernels.h"
#include "Import/Pt2/Pt2.h"
#include "tilewright/Compiler.h"
#include <optional>

namespace tw {

struct ModelSource {
  std::string path, entry; // of a file
  std::optional<MemoryProgram> memory;
  std::string kernel;           // one of the kernels that are given, called alone
  bool weightsOptional = false; // of memory

  bool isFile() const { return !memory && kernel.empty(); }
  const std::string &name() const { return memory ? memory->name : kernel.empty() ? path : kernel; }
};

/// The C API's form of a program in memory.
MemoryProgram memoryProgram(const tilewright_memory_model &model);

/// Options are those of compile or inspect.
template <typename Options>
bool namesOneModel(const Options &options) {
  bool isPath = options.model && *options.model;
  bool isMemory = options.memory && options.memory->name && options.memory->json;
  return isPath != isMemory;
}

template <typename Options>
ModelSource modelSource(const Options &options) {
  ModelSource source;
  source.path = options.model ? options.model : "";
  source.entry = options.entry ? options.entry : "";
  if (options.memory)
    source.memory = memoryProgram(*options.memory);
  return source;
}

template <typename Options>
KernelSources kernelSources(const Options &options) {
  KernelSources sources;
  for (size_t i = 0; i < options.kernel_count; ++i)
    sources.paths.emplace_back(options.kernels[i] ? options.kernels[i] : "");
  for (size_t i = 0; i < options.kernel_text_count; ++i) {
    const tilewright_kernel_text &given = options.kernel_texts[i];
    sources.texts.emplace_back(given.name ? given.name : "", given.text ? given.text : "");
  }
  return sources;
}

} // namespace tw
