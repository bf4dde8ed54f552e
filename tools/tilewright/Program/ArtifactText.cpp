// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ArtifactText.h"
#include "IO/Formats/JsonWriter.h"
#include "Values.h"
#include <algorithm>
#include <climits>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tw::cli {

namespace {

std::string typeText(DType dtype, const std::vector<rt::Size> &sizes) {
  std::string text(info(dtype).name);
  for (size_t d = 0; d < sizes.size(); ++d)
    text += (d ? ", " : "[") + sizes[d].text();
  return sizes.empty() ? text : text + "]";
}

std::string typeText(const rt::StateInfo &state) {
  std::string text(info(state.dtype).name);
  return state.sizes.empty() ? text : text + fmt::format("[{}]", fmt::join(state.sizes, ", "));
}

/// "x: f32[2, s0]"; an int that is a symbol is "n: i64 = s3".
std::string valueText(const rt::ValueInfo &value, const rt::Metadata &metadata) {
  std::string text = fmt::format("{}: {}", value.name, typeText(value.dtype, value.sizes));
  if (value.symbol)
    text += fmt::format(" = {}", metadata.symbols[*value.symbol].name);
  return text;
}

std::string memoryText(const rt::Metadata &metadata) {
  if (!metadata.isStatic)
    return "planned when the sizes are known";
  double ratio = metadata.planBoundBytes > 0
                     ? double(metadata.arenaBytes) / double(metadata.planBoundBytes)
                     : 1;
  return fmt::format("{} planned, {:.3f} times the bound of {}", bytesText(metadata.arenaBytes),
                     ratio, bytesText(metadata.planBoundBytes));
}

std::string dispatchText(size_t index, const rt::DispatchInfo &dispatch) {
  std::string text = fmt::format("  {:3} {}", index, dispatch.name);
  if (!dispatch.kernel.empty())
    text += fmt::format(" ({})", dispatch.kernel);
  if (!dispatch.ops.empty())
    text += fmt::format(": {}", dispatch.ops);
  if (!dispatch.source.empty())
    text += fmt::format("  from {}", dispatch.source);
  return text + "\n";
}

/// Else its image is PTX, of which all but sharedBytes is unknown: every kernel has registers.
bool isAssembled(const rt::DeviceKernelInfo &kernel) { return kernel.registers > 0; }

/// What device code there is, and what its kernels take.
std::string deviceText(const rt::DeviceInfo &device) {
  int64_t bytes = 0;
  for (const rt::DeviceInfo::Image &image : device.images)
    bytes += image.bytes;
  std::string text =
      fmt::format("device   {}, {} of code\n", device.architecture, bytesText(bytes));
  if (device.usesHost)
    text += "  a call is no CUDA graph: dispatches run on the host\n";
  if (device.hostReads > 0)
    text += fmt::format("  a call is no CUDA graph where the host waits for a value, which it does "
                        "at {} places\n",
                        device.hostReads);
  for (const rt::DeviceKernelInfo &kernel : device.kernels)
    if (isAssembled(kernel))
      text += fmt::format(
          "  {}: {} registers, {} of shared memory, {} spilled\n", kernel.name, kernel.registers,
          bytesText(kernel.sharedBytes + kernel.staticSharedBytes), bytesText(kernel.spillBytes));
    else
      text += fmt::format("  {}: PTX; {} of shared memory beside what the driver decides\n",
                          kernel.name, bytesText(kernel.sharedBytes));
  return text;
}

/// The input of that index gets its new value written back.
bool isMutated(size_t input, const rt::Metadata &metadata) {
  return std::ranges::any_of(metadata.mutatedInputs, [&](const rt::MutatedInput &mutated) {
    return mutated.input == static_cast<int>(input);
  });
}

} // namespace

std::string artifactText(const std::string &path, int64_t fileBytes, const rt::SealedMetadata &m) {
  std::string text = fmt::format("artifact {}, {}\nmodel    {}\ncompiler {}\ntarget   {}\n", path,
                                 bytesText(fileBytes), m.model, m.compiler, m.target);
  text += fmt::format("needs    {}", nameOf(m.architecture));
  for (const std::string &feature : m.cpuFeatures)
    text += " " + feature;
  text += "\n";
  text += fmt::format("weights  {}, {}\n", bytesText(m.weights.bytes),
                      m.weights.isExternal ? "external" : "embedded");
  text += fmt::format("memory   {}\n", memoryText(m));
  if (m.device)
    text += deviceText(*m.device);
  text += "inputs\n";
  for (size_t i = 0; i < m.inputs.size(); ++i)
    text += fmt::format("  {}{}\n", valueText(m.inputs[i], m),
                        isMutated(i, m) ? ", written back to" : "");
  text += "outputs\n";
  for (const rt::ValueInfo &output : m.outputs)
    if (!output.hidden)
      text += fmt::format("  {}\n", valueText(output, m));
  for (const rt::FixedOutput &fixed : m.fixedOutputs)
    text += fmt::format("  {}: {} in every call\n", fixed.name,
                        fixed.text ? fmt::format("\"{}\"", *fixed.text) : "None");
  if (!m.state.empty())
    text += "state\n";
  for (const rt::StateInfo &state : m.state)
    text += fmt::format("  {}: {}{}\n", state.name, typeText(state),
                        state.trainable ? ", trainable" : "");
  if (!m.symbols.empty())
    text += "symbols\n";
  for (const rt::SymbolInfo &symbol : m.symbols)
    text += fmt::format("  {}: {} to {}\n", symbol.name, symbol.min,
                        symbol.max == INT64_MAX ? "any" : std::to_string(symbol.max));
  text += fmt::format("dispatches ({})\n", m.dispatches.size());
  for (size_t i = 0; i < m.dispatches.size(); ++i)
    text += dispatchText(i, m.dispatches[i]);
  return text;
}

namespace {

void writeValues(JsonWriter &json, const std::vector<rt::ValueInfo> &values,
                 const rt::Metadata &metadata) {
  json.beginArray();
  for (const rt::ValueInfo &value : values) {
    if (value.hidden)
      continue;
    json.beginObject().member("name", value.name).member("dtype", info(value.dtype).name);
    json.key("sizes").beginArray();
    for (const rt::Size &size : value.sizes)
      size.fixed ? json.value(*size.fixed) : json.value(size.text());
    json.endArray();
    if (value.symbol)
      json.member("symbol", metadata.symbols[*value.symbol].name);
    json.endObject();
  }
  json.endArray();
}

void writeFixed(JsonWriter &json, const std::vector<rt::FixedOutput> &outputs) {
  json.beginArray();
  for (const rt::FixedOutput &fixed : outputs) {
    json.beginObject().member("name", fixed.name).member("position", fixed.position).key("value");
    (fixed.text ? json.value(*fixed.text) : json.null()).endObject();
  }
  json.endArray();
}

void writeState(JsonWriter &json, const std::vector<rt::StateInfo> &states) {
  json.beginArray();
  for (const rt::StateInfo &state : states) {
    json.beginObject().member("name", state.name).member("dtype", info(state.dtype).name);
    json.key("sizes").beginArray();
    for (int64_t size : state.sizes)
      json.value(size);
    json.endArray().member("trainable", state.trainable).endObject();
  }
  json.endArray();
}

void writeDispatches(JsonWriter &json, const std::vector<rt::DispatchInfo> &dispatches) {
  json.beginArray();
  for (const rt::DispatchInfo &dispatch : dispatches)
    json.beginObject()
        .member("name", dispatch.name)
        .member("kernel", dispatch.kernel)
        .member("ops", dispatch.ops)
        .member("source", dispatch.source)
        .endObject();
  json.endArray();
}

void writeDevice(JsonWriter &json, const rt::DeviceInfo &device) {
  json.beginObject().member("architecture", device.architecture);
  json.member("uses_host", device.usesHost).member("host_reads", device.hostReads);
  json.key("kernels").beginArray();
  for (const rt::DeviceKernelInfo &kernel : device.kernels) {
    json.beginObject().member("name", kernel.name);
    auto known = [&](const char *name, int64_t number) {
      json.key(name);
      isAssembled(kernel) ? json.value(number) : json.null();
    };
    known("registers", kernel.registers);
    json.member("shared_bytes", kernel.sharedBytes + kernel.staticSharedBytes);
    known("spill_bytes", kernel.spillBytes);
    json.endObject();
  }
  json.endArray().endObject();
}

} // namespace

std::string artifactJson(const std::string &path, int64_t fileBytes, const rt::SealedMetadata &m) {
  JsonWriter json;
  json.beginObject().member("artifact", path).member("bytes", fileBytes).member("model", m.model);
  json.member("compiler", m.compiler).member("target", m.target);
  json.member("cpu_architecture", nameOf(m.architecture)).key("cpu_features").beginArray();
  for (const std::string &feature : m.cpuFeatures)
    json.value(feature);
  json.endArray();
  writeValues(json.key("inputs"), m.inputs, m);
  writeValues(json.key("outputs"), m.outputs, m);
  if (!m.fixedOutputs.empty())
    writeFixed(json.key("fixed_outputs"), m.fixedOutputs);
  writeState(json.key("state"), m.state);
  json.key("mutated_inputs").beginArray();
  for (const rt::MutatedInput &mutated : m.mutatedInputs)
    json.value(m.inputs[mutated.input].name);
  json.endArray().key("symbols").beginArray();
  for (const rt::SymbolInfo &symbol : m.symbols) {
    json.beginObject().member("name", symbol.name).member("min", symbol.min).key("max");
    (symbol.max == INT64_MAX ? json.null() : json.value(symbol.max)).endObject();
  }
  json.endArray().member("static", m.isStatic);
  json.member("planned_peak_bytes", m.arenaBytes).member("planned_bound_bytes", m.planBoundBytes);
  json.member("weight_bytes", m.weights.bytes).member("weights_are_external", m.weights.isExternal);
  if (m.device)
    writeDevice(json.key("device"), *m.device);
  writeDispatches(json.key("dispatches"), m.dispatches);
  return json.endObject().text() + "\n";
}

} // namespace tw::cli
