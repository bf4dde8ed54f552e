// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares what a caller gives with what a program takes, and says precisely what does not fit.
#pragma once
#include "runtime/Artifact/Metadata.h"
#include "tilewright/tilewright.h"
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::rt {

/// What the symbols are in one call; empty where no input tells.
using SymbolValues = std::vector<std::optional<int64_t>>;

/// What inputs are given for: a run, or only their sizes and the values of scalars.
enum class InputUse { Run, Sizes };

/// Checks number, dtypes, ranks, sizes, symbol ranges and memory of the inputs, as far as they are
/// used; fills `symbols`. Errors: RUNTIME_9 to RUNTIME_12 and RUNTIME_14.
Status checkInputs(const Metadata &metadata, std::span<const tw_tensor> inputs,
                   SymbolValues &symbols, InputUse use = InputUse::Run);

/// "[2, 3]".
std::string shapeText(std::span<const int64_t> sizes);
/// "[2, s0]".
std::string shapeText(std::span<const Size> sizes);

} // namespace tw::rt
