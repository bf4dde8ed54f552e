// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ProgramInfo.h"
#include "Support/Checked.h"

namespace tw::rt {

tw_value_info ProgramInfo::describe(const std::string &name, DType dtype, Shape given) {
  Shape &shape = *shapes.emplace_back(std::make_unique<Shape>(std::move(given)));
  for (const std::string &text : shape.texts)
    shape.textPointers.push_back(text.c_str());
  auto count = checkedProduct(shape.sizes); // empty when a size is dynamic
  auto bytes = count ? checkedMul(*count, info(dtype).bytes) : std::nullopt;
  tw_value_info value{};
  value.name = name.c_str();
  value.dtype = static_cast<tw_dtype>(dtype);
  value.rank = static_cast<int32_t>(shape.sizes.size());
  value.sizes = shape.sizes.data();
  value.size_texts = shape.textPointers.data();
  value.bytes = bytes.value_or(-1);
  return value;
}

tw_value_info ProgramInfo::describe(const ValueInfo &value) {
  Shape shape;
  for (const Size &size : value.sizes) {
    shape.sizes.push_back(size.fixed.value_or(-1));
    shape.texts.push_back(size.text());
  }
  tw_value_info result = describe(value.name, value.dtype, std::move(shape));
  result.kind = static_cast<tw_kind>(value.kind);
  if (value.symbol)
    result.symbol = metadata.symbols[*value.symbol].name.c_str();
  return result;
}

ProgramInfo::ProgramInfo(const Metadata &metadata) : metadata(metadata) {
  for (const ValueInfo &value : metadata.inputs)
    inputs.push_back(describe(value));
  for (const MutatedInput &m : metadata.mutatedInputs)
    inputs[m.input].mutated = 1;
  for (const ValueInfo &value : metadata.outputs)
    if (!value.hidden)
      outputs.push_back(describe(value));
  for (const FixedOutput &fixed : metadata.fixedOutputs)
    fixedOutputs.push_back({fixed.name.c_str(), static_cast<int32_t>(fixed.position),
                            fixed.text ? fixed.text->c_str() : nullptr});
  for (const StateInfo &value : metadata.state) {
    Shape shape{value.sizes, {}, {}};
    for (int64_t size : value.sizes)
      shape.texts.push_back(std::to_string(size));
    state.push_back(describe(value.name, value.dtype, std::move(shape)));
    state.back().trainable = value.trainable;
    state.back().mutated = value.updated;
    program.state_bytes += value.bytes;
  }
  for (const SymbolInfo &symbol : metadata.symbols)
    symbols.push_back({symbol.name.c_str(), symbol.min, symbol.max});
  for (const DispatchInfo &d : metadata.dispatches)
    dispatches.push_back({d.name.c_str(), d.kernel.c_str(), d.source.c_str(), d.ops.c_str(),
                          d.configuration.c_str(), d.work.arithmetic.c_str()});
  program.model = metadata.model.c_str();
  program.key = metadata.key.c_str();
  program.is_kernel = metadata.isKernel;
  program.target = metadata.target.c_str();
  program.compiler = metadata.compiler.c_str();
  program.is_static = metadata.isStatic;
  program.input_count = static_cast<int32_t>(inputs.size());
  program.output_count = static_cast<int32_t>(outputs.size());
  program.state_count = static_cast<int32_t>(state.size());
  program.symbol_count = static_cast<int32_t>(symbols.size());
  program.dispatch_count = static_cast<int32_t>(dispatches.size());
  program.weight_bytes = metadata.weights.bytes;
  program.arena_bytes = metadata.arenaBytes;
  program.arena_bound_bytes = metadata.planBoundBytes;
  if (metadata.device)
    program.device_check_count = static_cast<int32_t>(metadata.device->failures.size());
}

int32_t findByName(const std::vector<tw_value_info> &values, std::string_view name) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].name == name)
      return static_cast<int32_t>(i);
  return -1;
}

} // namespace tw::rt
