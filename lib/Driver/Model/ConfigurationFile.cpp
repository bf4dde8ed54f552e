// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/ConfigurationFile.h"
#include "IO/File.h"
#include "IO/Formats/Json.h"
#include "IO/Formats/JsonWriter.h"
#include "IR/Graph/Graph.h"
#include "IR/ModelLocation.h"
#include "Program/Artifact/Describe.h"
#include "Tune/Spec/EarlierFields.h"
#include "Tune/Spec/FieldsVersion.h"
#include "llvm/ADT/StringMap.h"
#include <fmt/format.h>
#include <set>

using namespace mlir;

namespace tw {
using conversion::ConfigurationOverrides;
using conversion::DispatchOverride;
using conversion::FieldsOverride;
using conversion::KernelOverride;
using conversion::VariantOverrides;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// What is read, and how its fields are called.
struct FileOrigin {
  std::string path;
  int64_t version;
  std::string target;
};

/// A number, true or false, or a list of numbers.
static Status readField(std::string_view name, const Json &value, kernels::Fields &fields) {
  std::string key(name);
  if (value.isArray()) {
    std::vector<int64_t> &list = fields.lists[key];
    return value.forEach([&](const Json &element) -> Status {
      TW_ASSIGN(int64_t number, element.integer());
      list.push_back(number);
      return {};
    });
  }
  if (value.isInteger()) {
    TW_ASSIGN(fields.numbers[key], value.integer());
    return {};
  }
  auto flag = value.boolean();
  if (!flag)
    return value.wrongKind("a number, true or false, or a list of numbers");
  fields.numbers[key] = *flag;
  return {};
}

/// The kind and the fields of an object.
static Status readFields(const Json &object, std::string &kind, kernels::Fields &fields) {
  TW_ASSIGN(Json given, object.get("kind"));
  TW_ASSIGN(kind, given.string());
  return object.forEachMember([&](std::string_view name, const Json &value) -> Status {
    constexpr std::string_view others[] = {"kind",     "target",  "kernel",
                                           "variants", "at_most", "workers_at_least"};
    return llvm::is_contained(others, name) ? Status() : readField(name, value, fields);
  });
}

/// The fields of a kernel or of a variant.
static Status readConfiguration(const Json &object, const FileOrigin &file, FieldsOverride &read) {
  read.place = file.path + ": " + object.path();
  TW_TRY(readFields(object, read.configuration.kind, read.configuration.fields));
  if (auto target = object.find("target"))
    TW_TRY(readFields(*target, read.configuration.target, read.configuration.targetFields));
  tune::usePresentFields(read.configuration, file.version, file.target);
  return {};
}

/// {"workers_at_least": 5, "kind": ...}
static Status readForWorkers(const Json &object, const Json &key, const FileOrigin &file,
                             VariantOverrides &variants) {
  TW_ASSIGN(int64_t workers, key.integer());
  if (auto most = object.find("at_most"))
    return most->error("a variant for many workers is for all sizes", Code::CONFIG_1);
  if (workers < 2)
    return key.error(fmt::format("a variant is for 2 workers or more, not for {}", workers),
                     Code::CONFIG_1);
  auto [variant, isNew] = variants.forWorkers.try_emplace(workers);
  if (!isNew)
    return key.error(
        fmt::format("a variant for {} workers or more stands here a second time", workers),
        Code::CONFIG_5);
  return readConfiguration(object, file, variant->second);
}

/// {"at_most": 6, "kind": ...}
static Status readVariant(const Json &object, const FileOrigin &file, VariantOverrides &variants) {
  if (auto workers = object.find("workers_at_least"))
    return readForWorkers(object, *workers, file, variants);
  TW_ASSIGN(Json key, object.get("at_most"));
  TW_ASSIGN(int64_t most, key.integer());
  if (most < 1)
    return key.error(fmt::format("a variant is for sizes up to 1 or more, not up to {}", most),
                     Code::CONFIG_1);
  auto [variant, isNew] = variants.forSizes.try_emplace(most);
  if (!isNew)
    return key.error(fmt::format("a variant for sizes up to {} stands here a second time", most),
                     Code::CONFIG_5);
  return readConfiguration(object, file, variant->second);
}

static Result<KernelOverride> readKernel(const Json &object, const FileOrigin &file) {
  KernelOverride kernel;
  for (std::string_view bound : {"at_most", "workers_at_least"})
    if (auto misplaced = object.find(bound))
      return misplaced->error(fmt::format("\"{}\" is for entries of \"variants\"", bound),
                              Code::CONFIG_1);
  TW_TRY(readConfiguration(object, file, kernel));
  if (auto variants = object.find("variants")) {
    VariantOverrides &all = kernel.variants.emplace();
    TW_TRY(variants->forEach([&](const Json &variant) { return readVariant(variant, file, all); }));
  }
  return kernel;
}

static Result<tile::Cut> readCut(const Json &value) {
  TW_ASSIGN(std::string_view name, value.string());
  if (auto cut = tile::symbolizeCut(StringRef(name)))
    return *cut;
  return value.error(
      fmt::format("\"{}\" is no cut: there are none, transpose_rhs, "
                  "transform_weights, split_reductions, split_gradients and align_rows",
                  name),
      Code::CONFIG_1);
}

static Result<DispatchOverride> readDispatch(const Json &object, const FileOrigin &file) {
  DispatchOverride dispatch;
  dispatch.place = file.path + ": " + object.path();
  TW_TRY(object.forEachMember([](std::string_view name, const Json &value) -> Status {
    constexpr std::string_view known[] = {"signature", "ops", "source", "cuts", "kernels"};
    if (llvm::is_contained(known, name))
      return {};
    Diagnostic problem = value.error(fmt::format("a dispatch has no \"{}\"", name), Code::CONFIG_1);
    problem.help = "the fields of a kernel stand in its entry under \"kernels\"";
    return problem;
  }));
  if (auto cuts = object.find("cuts"))
    TW_TRY(cuts->forEach([&](const Json &value) -> Status {
      TW_ASSIGN(tile::Cut cut, readCut(value));
      dispatch.cuts.push_back(cut);
      return {};
    }));
  if (auto kernels = object.find("kernels"))
    TW_TRY(kernels->forEach([&](const Json &value) -> Status {
      TW_ASSIGN(KernelOverride kernel, readKernel(value, file));
      dispatch.kernels.push_back(std::move(kernel));
      return {};
    }));
  return dispatch;
}

static Status readDispatches(const Json &list, const FileOrigin &file,
                             ConfigurationOverrides &dispatches) {
  return list.forEach([&](const Json &object) -> Status {
    TW_ASSIGN(Json key, object.get("signature"));
    TW_ASSIGN(std::string_view signature, key.string());
    TW_ASSIGN(DispatchOverride dispatch, readDispatch(object, file));
    if (!dispatches.emplace(signature, std::move(dispatch)).second)
      return key.error(fmt::format("the signature {} stands here a second time", signature),
                       Code::CONFIG_5);
    return {};
  });
}

/// [{"kernel": "gemm", "parameters": {"BM": 64}}]
static Status readParameters(const Json &list, KernelParameters &kernels) {
  return list.forEach([&](const Json &object) -> Status {
    TW_ASSIGN(Json key, object.get("kernel"));
    TW_ASSIGN(std::string_view name, key.string());
    TW_ASSIGN(Json parameters, object.get("parameters"));
    auto [kernel, isNew] = kernels.emplace(name, Size::Values());
    if (!isNew)
      return key.error(fmt::format("the kernel {} stands here a second time", name),
                       Code::CONFIG_5);
    return parameters.forEachMember(
        [&, values = &kernel->second](std::string_view parameter, const Json &value) -> Status {
          TW_ASSIGN((*values)[std::string(parameter)], value.integer());
          return {};
        });
  });
}

/// Files had none at first.
static Result<int64_t> readVersion(const Json &root) {
  auto given = root.find("version");
  if (!given)
    return int64_t(1);
  TW_ASSIGN(int64_t version, given->integer());
  if (version <= tune::fieldsVersion)
    return version;
  Diagnostic problem =
      given->error(fmt::format("the file has version {}, but this compiler knows versions up to {}",
                               version, tune::fieldsVersion),
                   Code::CONFIG_7);
  problem.help = "use a compiler as new as the one that made the file";
  return problem;
}

Result<ConfigurationFile> readConfigurations(const std::string &path, const std::string &target) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  TW_ASSIGN(JsonDocument document, JsonDocument::parse(file.text(), path));
  ConfigurationFile read;
  TW_ASSIGN(int64_t version, readVersion(document.root()));
  auto kernels = document.root().find("kernels");
  if (kernels)
    TW_TRY(readParameters(*kernels, read.kernels));
  auto decisions = document.root().find("decisions");
  if (decisions) {
    TW_ASSIGN(read.decisions, readDecisions(*decisions, path));
  }
  if ((kernels || decisions) && !document.root().find("configurations"))
    return read;
  TW_ASSIGN(Json dispatches, document.root().get("configurations"));
  TW_TRY(readDispatches(dispatches, {path, version, target}, read.dispatches));
  return read;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::vector<ConfiguredDispatch> configuredDispatches(ModuleOp module) {
  llvm::StringMap<std::string> sources; // of the first call
  llvm::StringMap<std::set<std::string>> operators;
  module.walk([&](graph::DispatchOp op) {
    sources.try_emplace(op.getKernel(), describePlace(op.getLoc()));
    op.getLoc()->walk([&](Location place) {
      if (std::string name = nodeName(place); !name.empty())
        operators[op.getKernel()].insert(name);
      return WalkResult::advance();
    });
  });
  std::vector<ConfiguredDispatch> dispatches;
  for (auto function : module.getOps<func::FuncOp>())
    if (auto configuration = function->getAttrOfType<tile::DispatchConfigurationAttr>(
            tile::TileDialect::configurationName)) {
      std::vector<std::string> own = operatorsOf(function);
      std::string text = operatorsText(own);
      auto &all = operators[function.getName()];
      all.insert(own.begin(), own.end());
      dispatches.push_back({function.getName().str(), conversion::dispatchSignature(function),
                            std::move(text), sources[function.getName()],
                            std::vector<std::string>(all.begin(), all.end()), configuration});
    }
  return dispatches;
}

/// As members of an open object.
static void writeFields(JsonWriter &json, tile::ConfigurationAttr configuration) {
  json.member("kind", std::string_view(configuration.getKind()));
  for (NamedAttribute field : configuration.getFields()) {
    json.key(std::string_view(field.getName().getValue()));
    if (auto list = dyn_cast<DenseI64ArrayAttr>(field.getValue())) {
      json.beginArray();
      for (int64_t number : list.asArrayRef())
        json.value(number);
      json.endArray();
    } else if (auto flag = dyn_cast<BoolAttr>(field.getValue())) {
      json.value(flag.getValue());
    } else {
      json.value(cast<IntegerAttr>(field.getValue()).getInt());
    }
  }
  if (configuration.getTarget()) {
    json.key("target").beginObject();
    writeFields(json, configuration.getTarget());
    json.endObject();
  }
  if (configuration.getVariants().empty())
    return;
  json.key("variants").beginArray();
  for (tile::VariantAttr variant : configuration.getVariants()) {
    json.beginObject();
    if (variant.getWorkers() > 0)
      json.member("workers_at_least", variant.getWorkers());
    else
      json.member("at_most", variant.getMost());
    writeFields(json, variant.getConfiguration());
    json.endObject();
  }
  json.endArray();
}

void write(JsonWriter &json, const std::vector<ConfiguredDispatch> &dispatches) {
  json.beginArray();
  for (const ConfiguredDispatch &dispatch : dispatches) {
    json.beginObject().member("signature", std::string_view(dispatch.signature));
    json.member("ops", std::string_view(dispatch.ops));
    json.member("source", std::string_view(dispatch.source)).key("cuts").beginArray();
    for (tile::CutAttr cut : dispatch.configuration.getCuts())
      json.value(std::string_view(tile::stringifyCut(cut.getValue())));
    json.endArray().key("kernels").beginArray();
    ArrayRef<tile::ConfigurationAttr> kernels = dispatch.configuration.getKernels();
    for (auto [number, kernel] : llvm::enumerate(kernels)) {
      json.beginObject().member("kernel",
                                conversion::kernelName(dispatch.kernel, kernels.size(), number));
      writeFields(json, kernel);
      json.endObject();
    }
    json.endArray().endObject();
  }
  json.endArray();
}

void write(JsonWriter &json, const KernelParameters &kernels) {
  json.beginArray();
  for (const auto &[kernel, parameters] : kernels) {
    json.beginObject().member("kernel", std::string_view(kernel)).key("parameters").beginObject();
    for (const auto &[name, value] : parameters)
      json.member(name, value);
    json.endObject().endObject();
  }
  json.endArray();
}

} // namespace tw
