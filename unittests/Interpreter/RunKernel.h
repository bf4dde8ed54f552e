// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs kernels given as text on inputs given as SPECs, for tables of cases.
#pragma once
#include "Interpreter/Interpreter.h"
#include <string>
#include <vector>

namespace tw {

using Specs = std::vector<std::string>;

/// The results as text, "2xf32=1,2.5" each, joined by "; ". Then a line for each finding,
/// "107 message @line [program]" (code, line of the kernel, program) and each note. An error is
/// "error 2: message".
std::string runKernel(const std::string &text, const Specs &inputs,
                      const interpreter::Options &options = {});

/// The same of a kernel with the given arguments, symbols and body, and grid [1].
std::string runBody(const std::string &arguments, const std::string &body, const Specs &inputs,
                    const interpreter::Options &options = {});

} // namespace tw
