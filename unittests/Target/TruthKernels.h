// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests: the kernels whose results KernelTruth.inc holds.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace tw {

/// What a kernel gives for inputs of these sizes, drawn from the seeds 1, 2, ...
struct Truth {
  const char *kernel, *dtype;
  std::vector<const char *> sizes;
  const char *result;
};

/// All of KernelTruth.inc.
std::span<const Truth> kernelTruths();

/// The text of the kernel `name` for inputs of `dtype` ("f32"). Throws std::runtime_error when
/// there is none, or it cannot be traced.
std::string truthKernel(const std::string &name, const std::string &dtype);

} // namespace tw
