// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code for NVIDIA's GPUs by its architecture: which there is, and what runs where.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace tw {

/// What artifacts are compiled for: the names of Target/NVIDIA/Architecture.cpp, for whoever has no
/// compiler.
inline constexpr std::array<std::string_view, 1> gpuCode = {"sm_90a"};

/// Whether code for an architecture ("sm_90a") runs on a GPU of another one ("sm_90"): code of
/// sm_XY on X.Z with Z >= Y, code with a suffix on X.Y alone.
bool runsOnGpu(std::string_view code, std::string_view gpu);

/// "nvidia:sm_90a": the target for a GPU, of those in `gpuCode`; nothing where there is none.
std::optional<std::string> targetForGpu(std::string_view gpu);

} // namespace tw
