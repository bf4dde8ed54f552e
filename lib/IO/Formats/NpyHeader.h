// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header of a .npy file: magic, version, length and a Python dict literal with exactly the
// keys descr, fortran_order and shape.
#pragma once
#include "Support/Diagnostic.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tw {

struct NpyHeader {
  std::string descr; // "<f4"; "[...]" for a structured dtype
  bool fortranOrder = false;
  std::vector<int64_t> sizes;
  size_t dataOffset = 0; // at most the number of bytes given
};

/// Errors (IO_4) name the file and what is wrong with its header.
Result<NpyHeader> parseNpyHeader(std::span<const std::byte> bytes, const std::string &name);

} // namespace tw
