// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Artifact/Describe.h"
#include "IO/Formats/JsonWriter.h"
#include "IR/ModelLocation.h"
#include "Program/Artifact/SizeText.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "runtime/Artifact/Metadata.h"
#include "runtime/Artifact/Seal.h"
#include "runtime/ProgramABI.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>
#include <fmt/format.h>

using namespace mlir;

namespace tw {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

std::vector<std::string> operatorsOf(Operation *kernel) {
  std::vector<std::string> nodes;
  auto add = [&](Location loc, std::string name) {
    if (std::string node = nodeName(loc); !node.empty())
      name = node;
    if (!name.empty() && !llvm::is_contained(nodes, name))
      nodes.push_back(name);
  };
  if (!isa<func::FuncOp>(kernel)) {
    kernel->getLoc()->walk([&](Location loc) {
      add(loc, "");
      return WalkResult::advance();
    });
    return nodes;
  }
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    bool structured = isa<linalg::LinalgOp>(op) || name.starts_with("tw.");
    if (!structured || isa<linalg::FillOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
      return;
    for (Location loc : operatorLocs(op))
      add(loc, name.str());
  });
  return nodes;
}

std::string operatorsText(const std::vector<std::string> &operators) {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < std::min(operators.size(), most); ++i)
    text += (i ? ", " : "") + operators[i];
  if (operators.size() > most)
    text += fmt::format(", {} more", operators.size() - most);
  return text;
}

KernelSummary describeKernel(Operation *kernel) {
  std::vector<std::string> ops = operatorsOf(kernel);
  KernelSummary text;
  text.ops = operatorsText(ops);
  text.name = SymbolTable::getSymbolName(kernel).str();
  if (auto name = kernel->getAttrOfType<StringAttr>("tw.name"))
    text.name = name.str();
  else if (!ops.empty())
    text.name = ops.front() + (ops.size() > 1 ? "+" + std::to_string(ops.size() - 1) : "");
  return text;
}

//===----------------------------------------------------------------------===//
// Inputs, outputs, state
//===----------------------------------------------------------------------===//

/// The dtype as users know it.
static std::string dtypeName(Type element, StringAttr stated) {
  if (stated)
    return stated.str();
  if (element.isInteger(1))
    return "bool";
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

/// A dynamic size as an expression over symbols; "" where nothing is known, null where nothing is
/// known of any.
using SizeText = llvm::function_ref<std::string(int64_t dim)>;

static void writeSizes(JsonWriter &json, RankedTensorType type, SizeText dynamic) {
  json.key("sizes").beginArray();
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!type.isDynamicDim(d))
      json.value(type.getDimSize(d));
    else if (std::string text = dynamic ? dynamic(d) : ""; !text.empty())
      json.value(std::string_view(text));
    else
      json.null();
  json.endArray();
}

static StringAttr stringAttr(DictionaryAttr attributes, StringRef name) {
  return attributes ? attributes.getAs<StringAttr>(name) : StringAttr();
}

/// Members of one input or output. Sizes are null when a model's file does not say how many.
static void writeValue(JsonWriter &json, Type type, DictionaryAttr attributes, SizeText dynamic,
                       const std::string &fallback) {
  StringAttr name = stringAttr(attributes, "tw.name");
  json.member("name", name ? name.str() : fallback);
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    json.member("kind", "tensor");
    json.member("dtype", dtypeName(tensor.getElementType(), stringAttr(attributes, "tw.dtype")));
    writeSizes(json, tensor, dynamic);
    return;
  }
  if (auto tensor = dyn_cast<UnrankedTensorType>(type)) {
    json.member("kind", "tensor");
    json.member("dtype", dtypeName(tensor.getElementType(), stringAttr(attributes, "tw.dtype")));
    json.key("sizes").null();
    return;
  }
  json.member("kind", isa<FloatType>(type) ? "float" : type.isInteger(1) ? "bool" : "int");
  if (StringAttr symbol = stringAttr(attributes, "tw.symbol"))
    json.member("symbol", symbol.str());
}

/// Whether a run gives the state a new value.
static bool isUpdated(func::FuncOp main, StringAttr state) {
  for (unsigned r = 0; r < main.getNumResults(); ++r)
    if (auto target = main.getResultAttrOfType<StringAttr>(r, "tw.state");
        target && target == state)
      return true;
  return false;
}

static void writeState(JsonWriter &json, func::FuncOp main, unsigned argument, Payload *payload) {
  auto type = cast<RankedTensorType>(main.getArgumentTypes()[argument]);
  DictionaryAttr attributes = main.getArgAttrDict(argument);
  StringAttr name = stringAttr(attributes, "tw.name");
  json.beginObject().member("name", name ? name.str() : "state");
  json.member("dtype", dtypeName(type.getElementType(), stringAttr(attributes, "tw.dtype")));
  writeSizes(json, type, [](int64_t) { return ""; }); // states have static sizes
  auto initial = attributes.getAs<graph::WeightAttr>("tw.weight");
  if (payload)
    json.member("offset",
                initial && !Payload::isZero(initial) ? payload->add(initial, type) : int64_t(-1));
  json.member("trainable", attributes.contains("tw.trainable"));
  json.member("updated", isUpdated(main, name)).endObject();
}

static void writeSymbols(JsonWriter &json, func::FuncOp main) {
  json.key("symbols").beginArray();
  if (auto symbols = main->getAttrOfType<ArrayAttr>("tw.symbols"))
    for (auto symbol : symbols.getAsRange<DictionaryAttr>()) {
      json.beginObject();
      if (auto name = symbol.getAs<StringAttr>("name"))
        json.member("name", name.str());
      for (const char *bound : {"min", "max"})
        if (auto value = symbol.getAs<IntegerAttr>(bound); value && value.getInt() != INT64_MAX)
          json.member(bound, value.getInt());
      json.endObject();
    }
  json.endArray();
}

/// What is handed out beside the outputs, whatever the inputs are.
static void writeFixedOutputs(JsonWriter &json, func::FuncOp main) {
  auto fixed = main->getAttrOfType<ArrayAttr>("tw.fixed_results");
  if (!fixed)
    return;
  json.key("fixed_outputs").beginArray();
  for (auto facts : fixed.getAsRange<DictionaryAttr>()) {
    json.beginObject().member("name", facts.getAs<StringAttr>("name").str());
    json.member("position", facts.getAs<IntegerAttr>("position").getInt()).key("value");
    auto text = facts.getAs<StringAttr>("text");
    (text ? json.value(std::string_view(text.getValue())) : json.null()).endObject();
  }
  json.endArray();
}

void describeSignature(JsonWriter &json, func::FuncOp main, Payload *payload) {
  Signature signature(main);
  json.key("inputs").beginArray();
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (int input = signature.inputOf[i]; input >= 0) {
      json.beginObject();
      writeValue(
          json, main.getArgumentTypes()[i], main.getArgAttrDict(i),
          [&](int64_t dim) { return argumentSizeText(main, i, dim); },
          "input_" + std::to_string(input));
      json.endObject();
    }
  json.endArray().key("outputs").beginArray();
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (int output = signature.outputOf[i]; output >= 0) {
      DictionaryAttr attributes = main.getResultAttrDict(i);
      json.beginObject();
      writeValue(
          json, main.getResultTypes()[i], attributes,
          [&](int64_t dim) { return resultSizeText(main, i, dim); },
          "output_" + std::to_string(output));
      StringAttr role = stringAttr(attributes, "tw.role");
      if (role && role.getValue() == "input_mutation")
        json.member("hidden", true);
      json.endObject();
    }
  json.endArray();
  writeFixedOutputs(json, main);
  json.key("state").beginArray();
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (signature.stateOf[i] >= 0)
      writeState(json, main, i, payload);
  json.endArray();
  writeSymbols(json, main);
}

static void writeMutations(JsonWriter &json, func::FuncOp main, const HostProgram &program) {
  Signature signature(main);
  json.key("mutated_inputs").beginArray();
  for (unsigned r = 0; r < main.getNumResults(); ++r) {
    auto target = main.getResultAttrOfType<StringAttr>(r, "tw.input");
    for (unsigned a = 0; target && a < main.getNumArguments(); ++a)
      if (main.getArgAttrOfType<StringAttr>(a, "tw.name") == target)
        json.beginObject()
            .member("input", signature.inputOf[a])
            .member("output", signature.outputOf[r])
            .member("in_place", bool(program.writtenInPlace[r]))
            .endObject();
  }
  json.endArray();
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static void writeMemory(JsonWriter &json, const HostMemory &memory) {
  json.member("static", memory.isStatic);
  if (memory.isStatic)
    json.member("arena_bytes", memory.arenaBytes)
        .member("plan_bound_bytes", memory.boundBytes)
        .member("workspace_bytes", memory.workspaceBytes);
  json.key("buffers").beginArray();
  for (auto [i, buffer] : llvm::enumerate(memory.buffers)) {
    json.beginObject().member("begin", buffer.begin).member("end", buffer.end);
    if (memory.isStatic)
      json.member("bytes", *buffer.bytes).member("offset", memory.offsets[i]);
    json.endObject();
  }
  json.endArray();
}

/// The payload's place and hashes, always equally long; see patchPayload.
static std::string payloadFields(int64_t offset, ArrayRef<uint64_t> blocks) {
  uint64_t content[] = {rt::contentHash(std::span(blocks.data(), blocks.size()))};
  return fmt::format("\"offset\":{:20},\"hash\":\"{}\",\"blocks\":\"{}\"", offset,
                     rt::hashText(content), rt::hashText(std::span(blocks.data(), blocks.size())));
}

/// Of blocks that all have the hash 0.
static std::string placeholderFields(size_t blocks) {
  return payloadFields(0, std::vector<uint64_t>(blocks));
}

bool patchPayload(MutableArrayRef<char> metadata, int64_t offset, ArrayRef<uint64_t> blocks) {
  std::string placeholder = placeholderFields(blocks.size());
  auto at = std::search(metadata.begin(), metadata.end(), placeholder.begin(), placeholder.end());
  std::string fields = payloadFields(offset, blocks);
  if (at == metadata.end() || fields.size() != placeholder.size())
    return false;
  std::copy(fields.begin(), fields.end(), at);
  return true;
}

/// What a kernel is called with, and which values of the source its results are.
static void writeBuffers(JsonWriter &json, const HostDispatch &dispatch) {
  json.key("buffers").beginArray();
  for (const HostBuffer &buffer : dispatch.buffers) {
    json.beginObject().member("dtype", dtypeName(buffer.type.getElementType(), {}));
    writeSizes(json, buffer.type, {});
    json.key("slots").beginArray();
    for (int64_t slot : buffer.slots)
      json.value(slot);
    json.endArray().member("result", buffer.isResult).key("values").beginArray();
    for (graph::ValueAttr value : buffer.values) {
      json.beginObject().member("number", value.getNumber());
      writeSizes(json, value.getType(), {});
      json.key("order").beginArray();
      for (int64_t dim : value.getOrder())
        json.value(dim);
      json.endArray().key("part").beginArray();
      for (int64_t number : value.getPart())
        json.value(number);
      json.endArray().endObject();
    }
    json.endArray().endObject();
  }
  json.endArray();
}

/// In the order in which a call looks for one.
static void writeVariants(JsonWriter &json, ArrayRef<KernelCost::Variant> variants) {
  json.key("variants").beginArray();
  for (const KernelCost::Variant &variant : variants) {
    json.beginObject();
    if (variant.workers > 0)
      json.member("workers_at_least", variant.workers);
    else
      json.member("at_least", variant.least).member("at_most", variant.most);
    json.member("configuration", variant.configuration).endObject();
  }
  json.endArray();
}

static void writeCost(JsonWriter &json, func::FuncOp main, const HostDispatch &dispatch,
                      const KernelCost &cost) {
  auto write = [&](const char *name, const std::string &text) {
    int64_t number = 0;
    if (llvm::to_integer(text, number))
      json.member(name, number);
    else if (!text.empty())
      json.member(name, text);
  };
  WorkText work = workText(main, dispatch.call, cost);
  write("flops", work.flops);
  write("weight_bytes", work.weightBytes);
  write("read_bytes", work.readBytes);
  write("written_bytes", work.writtenBytes);
  if (!cost.arithmetic.empty())
    json.member("arithmetic", cost.arithmetic);
  if (!cost.configuration.empty())
    json.member("configuration", cost.configuration);
  write("variant_size", work.variantSize);
  if (!cost.variants.empty())
    writeVariants(json, cost.variants);
}

static void writePrograms(JsonWriter &json, const HostProgram &program,
                          const llvm::StringMap<KernelSummary> &kernels) {
  llvm::StringSet<> known;
  json.key("programs").beginArray();
  for (const HostDispatch &dispatch : program.dispatches) {
    auto kernel = kernels.find(dispatch.kernel);
    if (kernel == kernels.end() || kernel->second.program.empty() ||
        !known.insert(dispatch.kernel).second)
      continue;
    json.beginObject().member("kernel", dispatch.kernel).member("text", kernel->second.program);
    json.endObject();
  }
  json.endArray();
}

/// The device code: its images, and of each kernel that is launched where it is.
static void writeDevice(JsonWriter &json, const HostProgram &program, const ArtifactFacts &facts) {
  json.beginObject().member("architecture", facts.architecture);
  json.member("uses_host", program.usesHost).member("host_reads", program.hostReads);
  json.key("images").beginArray();
  llvm::StringMap<std::pair<size_t, const target::DeviceCode::Entry *>> entries;
  for (auto [i, image] : llvm::enumerate(facts.images.images)) {
    json.beginObject().member("offset", image.offset).member("bytes", image.bytes).endObject();
    for (const target::DeviceCode::Entry &entry : image.code->entries)
      entries[entry.name] = {i, &entry};
  }
  json.endArray().key("kernels").beginArray();
  for (const std::string &name : program.deviceKernels) {
    auto [image, entry] = entries.lookup(name);
    json.beginObject().member("name", name).member("image", int64_t(image));
    json.member("shared_bytes", entry->sharedBytes);
    if (entry->registers > 0) { // else there is PTX, of which nobody knows them yet
      json.member("static_shared_bytes", entry->staticSharedBytes);
      json.member("registers", entry->registers).member("spill_bytes", entry->spillBytes);
    }
    json.endObject();
  }
  json.endArray().key("failures").beginArray();
  for (const std::vector<std::string> &record : program.failureRecords) {
    json.beginObject().key("messages").beginArray();
    for (const std::string &message : record)
      json.value(message);
    json.endArray().endObject();
  }
  json.endArray().endObject();
}

std::string describeProgram(func::FuncOp main, const HostProgram &program,
                            const llvm::StringMap<KernelSummary> &kernels, Payload &payload,
                            const ArtifactFacts &facts) {
  JsonWriter json;
  json.beginObject()
      .member("format", rt::metadataFormat)
      .member("abi", facts.architecture.empty() ? TW_CPU_ABI : TW_DEVICE_ABI);
  json.member("compiler", TW_COMPILER_VERSION).member("model", facts.model);
  if (!facts.key.empty())
    json.member("key", facts.key);
  if (facts.isKernel)
    json.member("kernel", true);
  json.member("target", facts.target).key("cpu_features").beginArray();
  for (const std::string &feature : facts.cpuFeatures)
    json.value(feature);
  json.endArray();
  describeSignature(json, main, &payload);
  writeMutations(json, main, program);
  writeMemory(json, program.memory);
  json.key("dispatches").beginArray();
  llvm::StringMap<int> named; // dispatches of one name are told apart: "linear", "linear.2"
  for (const HostDispatch &dispatch : program.dispatches) {
    auto text = kernels.find(dispatch.kernel);
    std::string name = text == kernels.end() ? "" : text->second.name;
    int number = ++named[name];
    json.beginObject().member("name", number == 1 ? name : fmt::format("{}.{}", name, number));
    json.member("kernel", dispatch.kernel).member("source", dispatch.source);
    graph::DispatchOp call = dispatch.call;
    if (auto configured = call->getAttrOfType<ArrayAttr>(graph::configuredName)) {
      json.key("configured").beginArray();
      for (auto kernel : configured.getAsRange<StringAttr>())
        json.value(std::string_view(kernel.getValue()));
      json.endArray();
    }
    json.member("ops", text == kernels.end() ? "" : text->second.ops);
    json.member("step", dispatch.step);
    if (text != kernels.end() && text->second.cost)
      writeCost(json, main, dispatch, *text->second.cost);
    if (program.hasValues)
      writeBuffers(json, dispatch);
    json.endObject();
  }
  json.endArray();
  if (program.hasValues)
    writePrograms(json, program, kernels);
  if (!facts.architecture.empty())
    writeDevice(json.key("device"), program, facts);
  json.key("weights").beginObject();
  json.member("where", facts.hasExternalWeights ? "external" : "embedded")
      .member("bytes", payload.bytes());
  json.member("block_bytes", rt::weightBlockBytes);
  std::string text = json.text();
  text += "," + placeholderFields(size_t(rt::blockCount(payload.bytes()))) + "}}";
  return text;
}

} // namespace tw
