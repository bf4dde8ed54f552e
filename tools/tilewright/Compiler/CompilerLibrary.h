// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler, loaded only when something must be compiled.
#pragma once
#include "Support/Diagnostic.h"
#include "tilewright/Compiler.h"
#include <string>

namespace tw::cli {

/// The functions of libtilewright-compiler.so.
struct CompilerLibrary {
  decltype(&tilewright_compile) compile = nullptr;
  decltype(&tilewright_configuration_spaces) configurationSpaces = nullptr;
  decltype(&tilewright_inspect_model) inspectModel = nullptr;
  decltype(&tilewright_link_tuning_specs) linkTuningSpecs = nullptr;
  decltype(&tilewright_compiler_version) version = nullptr;
  decltype(&tilewright_kernel_open) openKernel = nullptr;
  decltype(&tilewright_kernel_close) closeKernel = nullptr;
  decltype(&tilewright_kernel_get_argument) kernelArgument = nullptr;
  decltype(&tilewright_kernel_print) printKernel = nullptr;
  decltype(&tilewright_kernel_print_code) printKernelCode = nullptr;
  decltype(&tilewright_kernel_run) runKernel = nullptr;
  decltype(&tilewright_kernel_get_output) kernelOutput = nullptr;
  decltype(&tilewright_kernel_get_time) kernelTime = nullptr;
  std::string path;

  /// Loads it from `path` (by default ../lib beside the executable), or from where
  /// TILEWRIGHT_COMPILER says. It stays loaded. Errors: CLI_7 (missing, or of another version),
  /// SYSTEM_1 and SYSTEM_4.
  static Result<CompilerLibrary> load(const std::string &path = besideExecutable());
  static std::string besideExecutable();
};

} // namespace tw::cli
