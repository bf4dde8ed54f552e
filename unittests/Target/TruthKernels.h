// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests: the kernels whose results KernelTruth.inc holds.
#pragma once
#include <string>

namespace tw {

/// The text of the kernel `name` for inputs of `dtype` ("f32"). Throws std::runtime_error when
/// there is none, or it cannot be traced.
std::string truthKernel(const std::string &name, const std::string &dtype);

} // namespace tw
