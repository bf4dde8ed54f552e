// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler, loaded only when something must be compiled, in a process of its own: LLVM's
// memory then never counts as the model's, and should the compiler die, the tool still ends with an
// error that says so.
#pragma once
#include "IO/TemporaryFolder.h"
#include "Support/Diagnostic.h"
#include "tilewright/Compiler.h"
#include <functional>
#include <string>

namespace tw::cli {

/// The functions of libtilewright-compiler.so.
struct CompilerLibrary {
  decltype(&tilewright_compile) compile = nullptr;
  decltype(&tilewright_inspect_model) inspectModel = nullptr;
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

/// Runs `action` in a child process and returns what it returned, which is from 0 to 255. It may
/// print; it must not rely on threads. Temporary files of the child and of what it starts go to
/// `folder`, or to one that exists as long as this call, so that nothing of them stays however it
/// ends. Errors: SYSTEM_1 to SYSTEM_7 when the environment ends the child, CLI_8 when it ends for
/// another reason without returning; `doing` says what it did ("compiling m.pt2").
Result<int> runIsolated(const std::string &doing, const std::function<int()> &action,
                        const TemporaryFolder *folder = nullptr);

} // namespace tw::cli
