// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inputs' sizes and scalars that a dynamic program was last asked about. What it said then, and
// that such inputs fit, holds for the next call if that has the same.
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
  void forget() { known.clear(); }
  /// `inputs` have been checked; `sizes` are theirs, which the caller may have changed since.
  void note(const Metadata &metadata, std::span<const tw_tensor> inputs,
            std::span<const std::vector<int64_t>> sizes);

private:
  struct Input {
    std::vector<int64_t> sizes;
    int64_t bytes;
    tw_dtype dtype;
    bool isScalar;
    uint64_t scalar; // its value
  };
  static bool fits(const Input &known, const tw_tensor &input);

  std::vector<Input> known; // none: nothing is noted
};

} // namespace tw::rt
