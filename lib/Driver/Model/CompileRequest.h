// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tilewright_compile and tilewright_configuration_spaces are asked for.
#pragma once
#include "Driver/Model/ConfigurationSpaces.h"
#include "Driver/Model/ModelKernels.h"
#include "Driver/Model/ModelSource.h"
#include "IO/OutputFile.h"
#include "Program/Artifact/Artifact.h"
#include "tilewright/Compiler.h"
#include <optional>
#include <string>
#include <vector>

namespace tw {

struct CompileRequest {
  ModelSource model;
  std::string output, dumpTo, target = "cpu", precision = {}, configurations = {};
  KernelSources kernels = {};
  std::vector<std::string> written = {}; // by the caller, later
  std::vector<std::string> tuningSpecs = {};
  std::string key = {}; // that the artifact says
  int descriptor = 0;
  std::string preparation = {}; // where it goes, if there is one
  int preparationDescriptor = 0;
  WeightsPlace weights = WeightsPlace::Auto;
  int report = 0;
  bool times = false, values = false, isUnedited = false;
  std::optional<SpaceRequest> spaces = {}; // instead of an artifact
  int *cache = nullptr;                    // what is made of it; null: it is not used

  bool hasPreparation() const { return !preparation.empty() || preparationDescriptor != 0; }
};

/// Options that exclude each other, or are not understood: DRIVER_1.
Diagnostic usageError(std::string message, std::string help);

/// Reads the options. Errors: DRIVER_1.
Result<CompileRequest> readOptions(const tilewright_compile_options *options);
Result<CompileRequest> readOptions(const tilewright_space_options *options);

/// What is read and written, checked: nothing of the one is the other. `included`: files that the
/// C++ of kernels includes. Errors: IO_18.
Result<FileUses> fileUses(const CompileRequest &request,
                          const std::vector<std::string> &included = {});

} // namespace tw
