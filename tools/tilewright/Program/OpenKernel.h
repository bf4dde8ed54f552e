// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Calls.h"
#include "IO/HostTensor.h"
#include "tools/tilewright/Compiler/CompilerLibrary.h"
#include "tools/tilewright/Compiler/CompilerSink.h"

namespace tw::cli {

/// A kernel in the compiler library, and what that says of it.
class OpenKernel {
public:
  OpenKernel() = default;
  OpenKernel(const OpenKernel &) = delete;
  OpenKernel &operator=(const OpenKernel &) = delete;
  ~OpenKernel();

  /// Loads the library and opens the kernel; struct_size is set here. The exit status; 0 when it is
  /// open.
  int open(tilewright_kernel_options request);
  int print(const std::string &level, const std::string &target);
  /// Writes an artifact that calls it; `report` as in tilewright_compile_options.
  int compile(const std::string &target, const std::string &output, int report);
  /// Struct_size and inputs of the request are set here.
  int run(std::vector<HostTensor> &inputs, tilewright_kernel_run_options request);

  /// The arguments in order; null beyond the last.
  const tilewright_kernel_argument *argument(size_t index) const {
    return library.kernelArgument(kernel, index);
  }
  Interface interface() const;
  /// Of the last run.
  Result<std::vector<HostTensor>> outputs() const;
  /// Of the calls that were timed, in us.
  std::vector<double> times() const;
  /// What the library has reported.
  const std::string &said() const { return listener.report; }

private:
  std::string source; // its file, for messages
  CompilerLibrary library;
  CompilerSink listener;
  tilewright_sink sink = listener.sink();
  tilewright_kernel *kernel = nullptr;
};

} // namespace tw::cli
