// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Metadata in the C structures that the API hands out.
#pragma once
#include "runtime/Artifact/Metadata.h"
#include "tilewright/tilewright.h"
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tw::rt {

/// Lives as long as the Metadata that it points into.
class ProgramInfo {
public:
  explicit ProgramInfo(const Metadata &metadata);
  ProgramInfo(const ProgramInfo &) = delete;
  ProgramInfo &operator=(const ProgramInfo &) = delete;

  tw_program_info program{};
  std::vector<tw_value_info> inputs, outputs, state; // outputs: those that are handed out
  std::vector<tw_fixed_output> fixedOutputs;
  std::vector<tw_symbol_info> symbols;
  std::vector<tw_dispatch_info> dispatches;

private:
  /// What a tw_value_info points to.
  struct Shape {
    std::vector<int64_t> sizes;
    std::vector<std::string> texts;
    std::vector<const char *> textPointers;
  };
  tw_value_info describe(const std::string &name, DType dtype, Shape shape);
  tw_value_info describe(const ValueInfo &value);

  const Metadata &metadata;
  std::vector<std::unique_ptr<Shape>> shapes;
};

/// The index of a name among values, or -1.
int32_t findByName(const std::vector<tw_value_info> &values, std::string_view name);

} // namespace tw::rt
