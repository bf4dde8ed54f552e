// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A field of configurations whose loops workers may share. No template reads it: what deals the
// trips of a loop (tile-split) does, by its name.
#pragma once
#include "IR/Tile/ConfigurationSchema.h"
#include "Kernels/Constraint.h"

namespace tw::kernels {

inline constexpr const char *splitPartsName = "split_parts";

/// `schema` with the field behind its own.
inline ConfigurationSchema withSplitParts(ConfigurationSchema schema) {
  schema.fields.push_back(
      {splitPartsName, ConfigurationField::Number, 0,
       "equal parts of the loop that workers share; 0: as the target's limits say"});
  return schema;
}

/// `numbers` with what is chosen of it.
inline Numbers withChosenSplitParts(Numbers numbers, int64_t parts = 0) {
  numbers[splitPartsName] = parts;
  return numbers;
}

/// `mayShare`, over the other fields: 0 where workers may not.
inline Constraint splitPartsConstraint(const std::string &mayShare) {
  constexpr const char *most = "256"; // each part has room of its own for its sums
  return {splitPartsName, std::string(most) + " * (" + mayShare + ")",
          "only a loop that workers may share has parts"};
}

} // namespace tw::kernels
