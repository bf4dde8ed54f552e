// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact/Metadata.h"
#include "Support/Checked.h"
#include "runtime/Artifact/Json.h"
#include "runtime/Artifact/Seal.h"
#include "runtime/Planner.h"
#include "runtime/ProgramABI.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::rt {

static constexpr size_t maxRank = 64, maxSymbols = 4096;
static constexpr int64_t maxWorkspace = int64_t(1) << 48;

std::optional<int64_t> Size::in(std::span<const std::optional<int64_t>> symbols) const {
  auto known = expression ? expression->evaluate(symbols) : fixed;
  return known && *known >= 0 ? known : std::nullopt;
}

std::string Size::text() const {
  if (fixed)
    return std::to_string(*fixed);
  return expression ? expression->text() : "?";
}

static Diagnostic damaged(std::string what) {
  return {Code::RUNTIME_3,
          "the artifact's metadata is damaged: " + std::move(what),
          {},
          {},
          "compile the model again"};
}

namespace {

/// One JSON object with its place in the document, for messages. The first error stays in the
/// shared `problem`; readers after it return defaults.
class Fields {
public:
  Fields(const Json &json, std::string place, std::string &problem)
      : json(json), place(std::move(place)), problem(problem) {
    if (!json.object())
      wrongType("", json, "an object");
  }

  int64_t integer(const char *key, int64_t least, int64_t most = INT64_MAX) {
    return required(key, [&](const Json &j) { return toInteger(key, j, least, most); });
  }
  int64_t integerOr(const char *key, int64_t fallback, int64_t least, int64_t most = INT64_MAX) {
    const Json *member = json.find(key);
    return member && !member->isNull() ? toInteger(key, *member, least, most) : fallback;
  }
  std::optional<int64_t> optionalInteger(const char *key, int64_t least) {
    const Json *member = json.find(key);
    if (!member || member->isNull())
      return std::nullopt;
    return toInteger(key, *member, least, INT64_MAX);
  }
  bool booleanOr(const char *key, bool fallback) {
    const Json *member = json.find(key);
    if (!member)
      return fallback;
    if (!member->boolean())
      return wrongType(key, *member, "a boolean"), fallback;
    return *member->boolean();
  }
  std::string string(const char *key) {
    return required(key, [&](const Json &j) { return toString(key, j); });
  }
  std::string stringOr(const char *key, std::string fallback) {
    const Json *member = json.find(key);
    return member ? toString(key, *member) : std::move(fallback);
  }
  std::vector<std::string> strings(const char *key) {
    std::vector<std::string> result;
    for (const Json &element : array(key))
      result.push_back(toString(key, element));
    return result;
  }
  std::vector<int64_t> integers(const char *key, int64_t least) {
    std::vector<int64_t> result;
    for (const Json &element : array(key))
      result.push_back(toInteger(key, element, least, INT32_MAX));
    return result;
  }
  /// The elements of an array; none when the key is missing.
  const Json::Array &array(const char *key) {
    static const Json::Array none;
    const Json *member = json.find(key);
    if (!member)
      return none;
    if (!member->array())
      return wrongType(key, *member, "an array"), none;
    return *member->array();
  }
  /// Reads each object of an array with `read(Fields&)`.
  template <typename T, typename Read>
  std::vector<T> objects(const char *key, Read read) {
    std::vector<T> result;
    for (const Json &element : array(key)) {
      Fields fields(element, fmt::format("{}{}[{}].", place, key, result.size()), problem);
      result.push_back(read(fields));
      if (failed())
        break;
    }
    return result;
  }
  const Json *find(const char *key) const { return json.find(key); }
  bool failed() const { return !problem.empty(); }
  void fail(const char *key, std::string_view what) {
    if (!failed())
      problem = fmt::format("\"{}{}\" {}", place, key, what);
  }
  void wrongType(const char *key, const Json &j, const char *expected) {
    fail(key, fmt::format("is {}, but {} is expected", j.typeName(), expected));
  }

private:
  template <typename Convert>
  auto required(const char *key, Convert convert) -> decltype(convert(std::declval<Json>())) {
    const Json *member = json.find(key);
    if (member)
      return convert(*member);
    fail(key, "is missing");
    return {};
  }
  int64_t toInteger(const char *key, const Json &j, int64_t least, int64_t most) {
    if (!j.integer())
      return wrongType(key, j, "an integer"), least;
    if (*j.integer() < least || *j.integer() > most)
      return fail(key, fmt::format("is {}, outside {} to {}", *j.integer(), least, most)), least;
    return *j.integer();
  }
  std::string toString(const char *key, const Json &j) {
    if (!j.string())
      return wrongType(key, j, "a string"), "";
    // Names go out as C strings.
    if (j.string()->find('\0') != std::string::npos)
      return fail(key, "contains a NUL character"), "";
    return *j.string();
  }

  const Json &json;
  std::string place;
  std::string &problem;
};

/// Builds a Metadata from its JSON.
class MetadataReader {
public:
  Result<Metadata> read(const Json &root) {
    Fields top(root, "", problem);
    readHeader(top);
    if (problem.empty() && !isReadable())
      return otherVersion();
    if (problem.empty())
      readSymbols(top);
    if (problem.empty())
      readValues(top);
    if (problem.empty())
      out.solutions = solveInputs(out.inputs);
    if (problem.empty())
      readPlan(top);
    if (problem.empty())
      readPrograms(top);
    if (problem.empty() && out.abi == TW_DEVICE_ABI)
      readDevice(top);
    if (problem.empty())
      checkTogether();
    if (!problem.empty())
      return damaged(problem);
    return std::move(out);
  }

private:
  void fail(std::string what) {
    if (problem.empty())
      problem = std::move(what);
  }

  bool isReadable() const {
    return out.format == metadataFormat && out.abi >= TW_FIRST_ABI && out.abi <= TW_CPU_ABI;
  }

  Diagnostic otherVersion() {
    return {
        Code::RUNTIME_4,
        fmt::format("the artifact has format {} and ABI {}, but this runtime reads format {} and "
                    "ABIs {} to {}",
                    out.format, out.abi, metadataFormat, TW_FIRST_ABI, TW_CPU_ABI),
        {},
        {fmt::format("it was made by {}", out.compiler)},
        "compile the model again with this version, or use the runtime of the other one"};
  }

  void readHeader(Fields &top) {
    out.format = top.integer("format", 0);
    out.abi = top.integer("abi", 0);
    out.compiler = top.stringOr("compiler", "an unknown compiler");
    if (!isReadable())
      return;
    out.model = top.stringOr("model", "");
    out.key = top.stringOr("key", "");
    out.isKernel = top.booleanOr("kernel", false);
    out.target = top.string("target");
    out.cpuFeatures = top.strings("cpu_features");
    out.isStatic = top.booleanOr("static", false);
    out.arenaBytes = top.integerOr("arena_bytes", 0, 0, planner::maxArena);
    out.planBoundBytes = top.integerOr("plan_bound_bytes", 0, 0, planner::maxArena);
    out.workspaceBytes = top.integerOr("workspace_bytes", 0, 0, maxWorkspace);
    out.sourceFiles = top.strings("source_files");
    if (const Json *weights = top.find("weights"); weights && !weights->isNull())
      readWeights(Fields(*weights, "weights.", problem));
  }

  void readWeights(Fields weights) {
    std::string where = weights.string("where");
    if (where != "embedded" && where != "external")
      weights.fail("where", fmt::format("is \"{}\", not \"embedded\" or \"external\"", where));
    out.weights.isExternal = where == "external";
    out.weights.bytes = weights.integer("bytes", 0);
    out.weights.offset = weights.integerOr("offset", 0, 0);
    if (out.weights.bytes > 0)
      readHashes(weights);
    if (out.weights.bytes > 0 && out.weights.isExternal && out.weights.offset != weightsHeaderBytes)
      weights.fail("offset", fmt::format("is {}, but next to the artifact weights start at {}",
                                         out.weights.offset, weightsHeaderBytes));
  }

  void readHashes(Fields &weights) {
    int64_t block = weights.integer("block_bytes", 1);
    if (block != weightBlockBytes)
      weights.fail("block_bytes", fmt::format("is {}, not {}", block, weightBlockBytes));
    out.weights.hash = weights.string("hash");
    auto hashes = parseHashes(weights.string("blocks"));
    if (!hashes || int64_t(hashes->size()) != blockCount(out.weights.bytes))
      weights.fail("blocks", fmt::format("does not have the {} hashes of {} bytes",
                                         blockCount(out.weights.bytes), out.weights.bytes));
    else
      out.weights.blocks = *std::move(hashes);
    uint64_t content[] = {contentHash(out.weights.blocks)};
    if (hashText(content) != out.weights.hash)
      weights.fail("hash", "is not the hash of the blocks' hashes");
  }

  void readSymbols(Fields &top) {
    out.symbols = top.objects<SymbolInfo>("symbols", [](Fields &f) {
      return SymbolInfo{f.string("name"), f.integerOr("min", 0, INT64_MIN),
                        f.integerOr("max", INT64_MAX, INT64_MIN)};
    });
    if (out.symbols.size() > maxSymbols)
      top.fail("symbols",
               fmt::format("has {} entries, more than {}", out.symbols.size(), maxSymbols));
    for (const SymbolInfo &symbol : out.symbols)
      symbolNames.push_back(symbol.name);
  }

  void readValues(Fields &top) {
    out.inputs = top.objects<ValueInfo>("inputs", [&](Fields &f) { return readValue(f, false); });
    out.outputs = top.objects<ValueInfo>("outputs", [&](Fields &f) { return readValue(f, true); });
    out.fixedOutputs = top.objects<FixedOutput>("fixed_outputs", [&](Fields &f) {
      const Json *value = f.find("value");
      return FixedOutput{f.string("name"), f.integer("position", 0),
                         value && !value->isNull() ? std::optional(f.string("value"))
                                                   : std::nullopt};
    });
    out.state = top.objects<StateInfo>("state", [&](Fields &f) { return readState(f); });
    out.mutatedInputs = top.objects<MutatedInput>("mutated_inputs", [&](Fields &f) {
      return MutatedInput{
          static_cast<int>(f.integer("input", 0, static_cast<int64_t>(out.inputs.size()) - 1)),
          static_cast<int>(f.integer("output", 0, static_cast<int64_t>(out.outputs.size()) - 1)),
          f.booleanOr("in_place", false)};
    });
  }

  DType readDType(Fields &f) {
    std::string name = f.string("dtype");
    auto dtype = parseDType(name);
    if (!dtype)
      f.fail("dtype", fmt::format("is \"{}\", which is not a dtype", name));
    return dtype.value_or(DType::F32);
  }

  ValueInfo readValue(Fields &f, bool isOutput) {
    static constexpr std::tuple<const char *, ValueKind, DType> scalars[] = {
        {"int", ValueKind::Int, DType::I64},
        {"float", ValueKind::Float, DType::F64},
        {"bool", ValueKind::Bool, DType::Bool}};
    ValueInfo value;
    value.name = f.string("name");
    value.hidden = isOutput && f.booleanOr("hidden", false);
    std::string kind = f.stringOr("kind", "tensor");
    if (kind == "tensor") {
      value.dtype = readDType(f);
      value.sizes = readSizes(f, isOutput);
      setFixed(value);
      return value;
    }
    for (auto [name, scalarKind, dtype] : scalars) {
      if (kind != name)
        continue;
      value.kind = scalarKind;
      value.dtype = dtype;
      if (scalarKind == ValueKind::Int && !isOutput)
        value.symbol = readSymbol(f);
      return value;
    }
    f.fail("kind", fmt::format("is \"{}\", which is not a kind of value", kind));
    return value;
  }

  static void setFixed(ValueInfo &value) {
    std::vector<int64_t> sizes;
    for (const Size &size : value.sizes) {
      if (!size.fixed)
        return;
      sizes.push_back(*size.fixed);
    }
    if (auto count = checkedProduct(sizes))
      value.fixedBytes = checkedMul(*count, info(value.dtype).bytes);
    value.fixedSizes = std::move(sizes);
  }

  /// The symbol that a scalar input is; none when it is just a number.
  std::optional<int> readSymbol(Fields &f) {
    const Json *member = f.find("symbol");
    if (!member || member->isNull())
      return std::nullopt;
    std::string name = f.string("symbol");
    for (size_t i = 0; i < symbolNames.size(); ++i)
      if (symbolNames[i] == name)
        return static_cast<int>(i);
    f.fail("symbol", fmt::format("is \"{}\", which is not among the program's symbols", name));
    return std::nullopt;
  }

  /// `element` is of the member `key`, or it.
  Size readSize(Fields &f, const char *key, const Json &element, bool mayBeUnknown) {
    Size size;
    if (const int64_t *number = element.integer()) {
      size.fixed = *number;
      if (*number < 0)
        f.fail(key, fmt::format("has the negative size {}", *number));
    } else if (const std::string *text = element.string()) {
      auto expression = SizeExpression::parse(*text, symbolNames);
      if (!expression)
        f.fail(key, "has a malformed " + expression.error().message);
      else
        size.expression = *std::move(expression);
    } else if (!element.isNull() || !mayBeUnknown) {
      f.wrongType(key, element, "an integer or an expression in it");
    }
    return size;
  }

  Size readSizeOrNone(Fields &f, const char *key) {
    const Json *member = f.find(key);
    return member ? readSize(f, key, *member, true) : Size();
  }

  static VariantInfo readVariant(Fields &f) {
    return {f.integerOr("workers_at_least", 0, 0), f.integerOr("at_least", 0, 0),
            f.integerOr("at_most", INT64_MAX, 0), f.stringOr("configuration", "")};
  }

  DispatchWork readWork(Fields &f) {
    auto read = [&](const char *key) { return readSizeOrNone(f, key); };
    return {read("flops"), read("weight_bytes"), read("read_bytes"), read("written_bytes"),
            f.stringOr("arithmetic", "")};
  }

  std::vector<Size> readSizes(Fields &f, bool mayBeUnknown) {
    std::vector<Size> sizes;
    for (const Json &element : f.array("sizes"))
      sizes.push_back(readSize(f, "sizes", element, mayBeUnknown));
    if (sizes.size() > maxRank)
      f.fail("sizes", fmt::format("has {} sizes, more than {}", sizes.size(), maxRank));
    if (!f.find("sizes"))
      f.fail("sizes", "is missing");
    return sizes;
  }

  StateInfo readState(Fields &f) {
    StateInfo state;
    state.name = f.string("name");
    state.dtype = readDType(f);
    state.offset = f.integerOr("offset", -1, -1);
    state.trainable = f.booleanOr("trainable", false);
    state.updated = f.booleanOr("updated", true);
    for (const Size &size : readSizes(f, false)) {
      if (!size.fixed)
        f.fail("sizes", "is not fixed, as state must be");
      state.sizes.push_back(size.fixed.value_or(0));
    }
    auto count = checkedProduct(state.sizes);
    auto bytes = count ? checkedMul(*count, info(state.dtype).bytes) : std::nullopt;
    if (!bytes || *bytes > planner::maxArena)
      f.fail("sizes", "multiply to more than any memory");
    state.bytes = bytes.value_or(0);
    return state;
  }

  void readPlan(Fields &top) {
    out.buffers = top.objects<BufferInfo>("buffers", [](Fields &f) {
      BufferInfo buffer;
      buffer.begin = f.integer("begin", 0);
      buffer.end = f.integer("end", buffer.begin);
      buffer.bytes = f.optionalInteger("bytes", 0);
      buffer.offset = f.optionalInteger("offset", 0);
      return buffer;
    });
    out.dispatches = top.objects<DispatchInfo>("dispatches", [&](Fields &f) {
      return DispatchInfo{
          f.stringOr("name", ""),
          f.stringOr("kernel", ""),
          f.strings("configured"),
          f.stringOr("source", ""),
          f.stringOr("ops", ""),
          f.stringOr("configuration", ""),
          readSizeOrNone(f, "variant_size"),
          f.objects<VariantInfo>("variants", readVariant),
          f.integerOr("step", -1, -1),
          readWork(f),
          f.objects<CallBuffer>("buffers", [&](Fields &b) { return readBuffer(b); })};
    });
  }

  void readPrograms(Fields &top) {
    out.programs = top.objects<ProgramText>(
        "programs", [](Fields &f) { return ProgramText{f.string("kernel"), f.string("text")}; });
  }

  void readDevice(Fields &top) {
    static const Json none;
    const Json *json = top.find("device");
    if (!json)
      top.fail("device", "is missing");
    Fields device(json ? *json : none, "device.", problem);
    DeviceInfo &info = out.device.emplace();
    info.architecture = device.string("architecture");
    info.usesHost = device.booleanOr("uses_host", false);
    info.hostReads = device.integerOr("host_reads", 0, 0);
    info.images = device.objects<DeviceInfo::Image>("images", [](Fields &f) {
      return DeviceInfo::Image{f.integer("offset", 0), f.integer("bytes", 1)};
    });
    auto lastImage = static_cast<int64_t>(info.images.size()) - 1;
    info.kernels = device.objects<DeviceKernelInfo>("kernels", [&](Fields &f) {
      return DeviceKernelInfo{f.string("name"),
                              static_cast<size_t>(f.integer("image", 0, lastImage)),
                              f.integerOr("shared_bytes", 0, 0, INT32_MAX),
                              f.integerOr("registers", 0, 0),
                              f.integerOr("static_shared_bytes", 0, 0),
                              f.integerOr("spill_bytes", 0, 0)};
    });
    info.failures = device.objects<std::vector<std::string>>(
        "failures", [](Fields &f) { return f.strings("messages"); });
  }

  PartOfTensor readPart(Fields &f) {
    std::vector<int64_t> part = f.integers("part", 0);
    if (part.empty())
      return {};
    if (part.size() != 3 || part[1] < 1 || part[0] > part[2] - part[1]) {
      f.fail("part", "is no begin, count and whole");
      return {};
    }
    return {part[0], part[1], part[2]};
  }

  CallBuffer readBuffer(Fields &f) {
    CallBuffer buffer;
    buffer.dtype = readDType(f);
    buffer.sizes = readSizes(f, true);
    for (int64_t slot : f.integers("slots", -1))
      buffer.slots.push_back(static_cast<int>(slot));
    if (buffer.slots.size() != buffer.sizes.size())
      f.fail("slots", "are not as many as sizes");
    buffer.isResult = f.booleanOr("result", false);
    buffer.values = f.objects<SourceValue>("values", [&](Fields &v) {
      SourceValue value{v.integer("number", 0), readSizes(v, true), {}, readPart(v)};
      for (int64_t dim : v.integers("order", 0))
        value.order.push_back(static_cast<int>(dim));
      std::vector<bool> seen(value.sizes.size());
      for (int dim : value.order)
        if (static_cast<size_t>(dim) >= seen.size() || seen[dim])
          v.fail("order", "is no order of the value's dimensions");
        else
          seen[dim] = true;
      if (!value.order.empty() && value.order.size() != seen.size())
        v.fail("order", "is no order of the value's dimensions");
      return value;
    });
    return buffer;
  }

  /// What only shows when several fields are seen together.
  void checkTogether() {
    int64_t handedOut = std::ranges::count(out.outputs, false, &ValueInfo::hidden) +
                        static_cast<int64_t>(out.fixedOutputs.size());
    for (int64_t least = 0; const FixedOutput &fixed : out.fixedOutputs) {
      if (fixed.position < least || fixed.position >= handedOut)
        fail(fmt::format("fixed output \"{}\" is number {} of {}, and {} are before it", fixed.name,
                         fixed.position, handedOut, least));
      least = fixed.position + 1;
    }
    for (const StateInfo &state : out.state)
      if (state.offset >= 0 && (state.offset % TW_ALIGNMENT || state.offset > out.weights.bytes ||
                                state.bytes > out.weights.bytes - state.offset))
        fail(fmt::format("state \"{}\" has {} bytes at offset {} of a payload of {} bytes",
                         state.name, state.bytes, state.offset, out.weights.bytes));
    for (const MutatedInput &m : out.mutatedInputs)
      if (out.inputs[m.input].dtype != out.outputs[m.output].dtype ||
          out.inputs[m.input].sizes.size() != out.outputs[m.output].sizes.size())
        fail(fmt::format("output \"{}\" is written back to input \"{}\" of another type",
                         out.outputs[m.output].name, out.inputs[m.input].name));
      else if (m.isInPlace && !out.outputs[m.output].hidden)
        fail(
            fmt::format("output \"{}\" is written in the place of input \"{}\", but callers see it",
                        out.outputs[m.output].name, out.inputs[m.input].name));
    if (out.workspaceBytes % TW_ALIGNMENT)
      fail(fmt::format("\"workspace_bytes\" is {}, not a multiple of {}", out.workspaceBytes,
                       TW_ALIGNMENT));
    if (out.isStatic)
      checkStatic();
  }

  void checkStatic() {
    for (const auto *values : {&out.inputs, &out.outputs})
      for (const ValueInfo &value : *values)
        for (const Size &size : value.sizes)
          if (!size.fixed)
            fail(fmt::format("the program is static, but \"{}\" has the size {}", value.name,
                             size.text()));
    for (size_t i = 0; i < out.buffers.size(); ++i) {
      const BufferInfo &b = out.buffers[i];
      if (!b.bytes || !b.offset || *b.offset % TW_ALIGNMENT || *b.bytes > out.arenaBytes ||
          *b.offset > out.arenaBytes - *b.bytes)
        fail(
            fmt::format("\"buffers[{}]\" has no place in an arena of {} bytes", i, out.arenaBytes));
    }
  }

  Metadata out;
  std::vector<std::string> symbolNames;
  std::string problem;
};

} // namespace

std::vector<SymbolSolution> solveInputs(std::span<const ValueInfo> inputs) {
  std::set<int> given;
  std::vector<InputSize> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].symbol)
      given.insert(*inputs[i].symbol);
    for (size_t d = 0; d < inputs[i].sizes.size(); ++d) {
      const auto &expression = inputs[i].sizes[d].expression;
      if (!expression)
        continue;
      if (auto symbol = expression->asSymbol())
        given.insert(*symbol);
      sizes.push_back({static_cast<int>(i), static_cast<int>(d), &*expression});
    }
  }
  return solveSizes(sizes, given);
}

Result<Metadata> parseMetadata(std::string_view text) {
  auto json = Json::parse(text);
  if (!json)
    return damaged(json.error().message);
  return MetadataReader().read(*json);
}

} // namespace tw::rt
