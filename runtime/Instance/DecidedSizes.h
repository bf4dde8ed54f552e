// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inputs' sizes and scalars of the last call. That such inputs fit, and what a dynamic program
// said about them, holds for the next call if that has the same.
#pragma once
#include "runtime/Artifact/Metadata.h"
#include "tilewright/tilewright.h"
#include <cstdint>
#include <span>
#include <vector>

namespace tw::rt {

class DecidedSizes {
public:
  /// Whether these inputs have the dtypes, sizes and scalars that were noted, and enough memory.
  bool areThoseOf(std::span<const tw_tensor> inputs) const;
  void forget() { isKnown = false; }
  /// `inputs` have been checked; `sizes` are theirs, which the caller may have changed since.
  void note(const Metadata &metadata, std::span<const tw_tensor> inputs,
            std::span<const std::vector<int64_t>> sizes);

private:
  // Small, and one behind the other, as are the sizes: a call reads all of it, and finds little of
  // what the last one has read in the nearest cache.
  struct Input {
    int64_t bytes;
    uint64_t scalar; // its value
    tw_dtype dtype;
    int32_t rank;
    bool isScalar;
  };
  static bool fits(const Input &known, const int64_t *sizes, const tw_tensor &input);

  bool isKnown = false;
  std::vector<Input> known;
  std::vector<int64_t> allSizes; // of the first input, the second, ...
};

} // namespace tw::rt
