// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which hand-written kernel implements a custom operator.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tw {

/// Names of hand-written kernels that a model may call.
using KernelNames = std::set<std::string, std::less<>>;

/// The kernel for what a program calls `callee`: the one called so, or for an operator
/// "mylib.rope" that called mylib_rope, or else rope ("mylib.rope.out": mylib_rope_out, rope_out).
std::optional<std::string> kernelFor(std::string_view callee, const KernelNames &kernels);

} // namespace tw
