// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright_compile: checks what is asked for, then runs the pipeline.
#include "Driver/CApi/LibraryFile.h"
#include "Driver/Cache/DeviceCodeCache.h"
#include "Driver/Model/CompileRequest.h"
#include "Driver/Model/ConfigurationFile.h"
#include "Driver/Model/DescribeSpaces.h"
#include "Driver/Model/Evaluator.h"
#include "Driver/Model/ModelSource.h"
#include "Driver/Model/Pipeline.h"
#include "Driver/Model/Report.h"
#include "Driver/NearestNames.h"
#include "Driver/Register.h"
#include "Driver/Targets.h"
#include "Graph/Preparation.h"
#include "IO/File.h"
#include "IO/Formats/JsonWriter.h"
#include "IO/OutputFile.h"
#include "Program/ObjectCode/Machine.h"
#include "Support/Counted.h"
#include "Tune/Spec/DefaultSpec.h"
#include "Tune/Spec/TuningSpec.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/Artifact/Seal.h"
#include "tilewright/Compiler.h"
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tw {

static Result<ConfigurationFile> givenConfigurations(const CompileRequest &request,
                                                     const NamedTarget &target) {
  if (request.configurations.empty())
    return ConfigurationFile();
  TW_ASSIGN(ConfigurationFile file, readConfigurations(request.configurations, target.family));
  if (target.isPlain() && !(file.dispatches.empty() && file.decisions.empty()))
    return usageError(
        fmt::format("{} has configurations or decisions, but the reference target has none",
                    request.configurations),
        "leave out --config, or --target=reference");
  return file;
}

/// Those of the request before the one that comes with the compiler.
static Result<tune::TuningSpecs> findSpecs(MLIRContext &context, const CompileRequest &request,
                                           const NamedTarget &target) {
  if (!request.tuningSpecs.empty() && target.isPlain())
    return usageError("the reference target has no configurations that a tuning spec could give",
                      "leave out --tuning-spec, or --target=reference");
  std::vector<tune::TuningSpec> specs;
  for (const std::string &path : request.tuningSpecs) {
    TW_ASSIGN(tune::TuningSpec spec, tune::TuningSpec::read(&context, path, target.family));
    specs.push_back(std::move(spec));
  }
  if (!target.isPlain()) {
    TW_ASSIGN(tune::TuningSpec spec, tune::readDefaultSpec(&context, target.family));
    specs.push_back(std::move(spec));
  }
  return tune::TuningSpecs(std::move(specs));
}

/// Errors: those of readModelKernels; DRIVER_1 for kernels that replace some of the model's where
/// the target makes none.
static Result<ModelKernels> givenKernels(MLIRContext &context, const CompileRequest &request,
                                         const ConfigurationFile &given,
                                         const NamedTarget &target) {
  TW_ASSIGN(ModelKernels kernels, readModelKernels(context, request.kernels, given.kernels));
  if (request.isUnedited)
    kernels.edited.clear();
  if (target.isPlain() && !kernels.edited.empty())
    return usageError(
        fmt::format("{} replaces the kernel \"{}\", but the reference target makes none "
                    "of the model's operators",
                    kernels.edited.front().file, kernels.edited.front().replaces),
        "leave the file out, or --target=reference");
  return kernels;
}

/// Notes of a warning: the first few.
static std::vector<std::string> firstOf(std::vector<std::string> notes) {
  constexpr size_t most = 5;
  if (notes.size() <= most)
    return notes;
  size_t others = notes.size() - most;
  notes.resize(most);
  notes.push_back(fmt::format("and {} more", others));
  return notes;
}

/// A signature that matches nothing may be for another model that the file serves, or left from
/// before the model or the compiler changed.
static void warnUnused(Session &session, const ConfigurationFile &given, const std::string &path,
                       const std::vector<ConfiguredDispatch> &dispatches) {
  std::vector<std::string> unused;
  for (const auto &[signature, given] : given.dispatches)
    if (llvm::none_of(dispatches, [&](const ConfiguredDispatch &dispatch) {
          return dispatch.signature == signature;
        }))
      unused.push_back(fmt::format("{}: {}", given.place, signature));
  if (unused.empty())
    return;
  session.warning(
      {Code::CONFIG_4,
       fmt::format("{} of {} configurations are for no dispatch of the model, which has {}",
                   unused.size(), given.dispatches.size(), dispatches.size()),
       path, firstOf(std::move(unused)),
       "the compiler chooses for these dispatches; `compile --report=json` prints their "
       "signatures"});
}

/// A rule may match kernels that it was not made for, but one that fits none of them is a mistake,
/// or left from before the compiler changed.
static void warnMisfits(Session &session, std::vector<std::string> misfits) {
  if (misfits.empty())
    return;
  session.warning({Code::CONFIG_2,
                   fmt::format("{} of tuning specs {} none of the kernels that are matched",
                               counted(misfits.size(), "configuration"),
                               oneOrMany(misfits.size(), "fits", "fit")),
                   {},
                   firstOf(std::move(misfits)),
                   "the compiler chooses for these kernels; `tune --space` prints what is legal"});
}

/// `options` are those of the program.
static LogicalResult writePreparation(Pipeline &pipeline, ModuleOp preparation, NamedTarget target,
                                      ArtifactOptions options, const CompileRequest &request) {
  target.roundsProducts = false; // the program's are what the user speaks of
  options.output = request.preparation;
  options.descriptor = request.preparationDescriptor;
  if (!options.key.empty())
    options.key += ".prepare";
  if (failed(pipeline.toKernels(preparation, target)))
    return failure();
  return pipeline.toArtifact(preparation, *target.code, options);
}

/// Whether an artifact is all that is wanted, and made of nothing but files.
static bool isCacheable(const CompileRequest &request) {
  return request.model.isFile() && !request.output.empty() && request.dumpTo.empty() &&
         request.report == 0 && !request.times && !request.values && !request.spaces &&
         !request.hasPreparation() && request.kernels.paths.empty() &&
         request.kernels.texts.empty() && request.weights != WeightsPlace::External;
}

/// Of all that decides what the artifact is. Errors: IO_1 for files that cannot be read.
static Result<std::string> artifactKey(const CompileRequest &request, const NamedTarget &target) {
  std::vector<std::string> parts = {
      "artifact", std::filesystem::path(request.model.name()).stem().string(), request.model.entry,
      std::to_string(int(request.weights)), target.name, target.architecture,
      fmt::format("{} {}", target.allowsTF32, target.roundsProducts),
      std::string(nameOf(target.cpu.architecture)),
      fmt::format("{}", fmt::join(target.cpu.features, ",")),
      std::to_string(target.caches.secondLevel),
      // Constants are computed by code for this machine.
      fmt::format("{}", fmt::join(hostInstructionSet().features, ",")), target.code->toolchain(),
      libraryBuild()};
  std::vector<std::string> files = {request.model.path};
  files.insert(files.end(), request.tuningSpecs.begin(), request.tuningSpecs.end());
  if (!request.configurations.empty())
    files.push_back(request.configurations);
  for (const std::string &path : files) {
    TW_ASSIGN(MappedFile file, MappedFile::open(path));
    auto bytes = file.bytes();
    auto blocks = rt::hashBlocks({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
    parts.push_back(fmt::format("{} {}", bytes.size(), rt::hashText(blocks)));
  }
  return cacheKey(parts);
}

/// The cache's part in a compilation.
class CacheUse {
public:
  /// Whether the artifact has been copied from there.
  Result<bool> takes(const CompileRequest &request, const NamedTarget &target) {
    bool isWhole = isCacheable(request), hasDeviceCode = !target.code->toolchain().empty();
    if (!request.cache || (!isWhole && !hasDeviceCode))
      return false;
    TW_ASSIGN(CompileCache opened, CompileCache::open());
    deviceCode.emplace(opened);
    if (!isWhole)
      return false;
    cache = std::move(opened);
    TW_ASSIGN(key, artifactKey(request, target));
    std::optional<std::string> found = cache->find(key);
    if (!found)
      return false;
    TW_TRY(CompileCache::copy(*found, request.output));
    *request.cache = TILEWRIGHT_CACHE_FOUND;
    return true;
  }

  void keeps(const CompileRequest &request) {
    if (!cache)
      return;
    std::string output = followLinks(request.output);
    bool isWhole = !std::filesystem::exists(output + ".weights");
    *request.cache =
        isWhole && cache->keep(key, output) ? TILEWRIGHT_CACHE_KEPT : TILEWRIGHT_CACHE_LEFT;
  }

  /// Of single kernels; null where nothing is to be taken from the cache.
  target::CodeCache *forDeviceCode() { return deviceCode ? &*deviceCode : nullptr; }

private:
  std::optional<CompileCache> cache;
  std::optional<DeviceCodeCache> deviceCode;
  std::string key;
};

namespace {

/// What is given beside the model.
struct Given {
  ConfigurationFile configurations;
  ModelKernels kernels;
  FileUses files;
  tune::TuningSpecs specs;
};

/// From the model to the artifact.
class Compilation {
public:
  Compilation(Session &session, MLIRContext &context, const CompileRequest &request,
              const NamedTarget &target, Given given, target::CodeCache *codeCache)
      : session(session), request(request), target(target), given(std::move(given)),
        codeCache(codeCache),
        pipeline(session, context, request.dumpTo, std::move(this->given.files), request.values),
        evaluator(session, request.model.memory.has_value()) {}

  /// The model's dispatches, configured if the target has configurations.
  LogicalResult toDispatches() {
    module = pipeline.import(request.model, given.kernels);
    if (!module || session.outcome() != TILEWRIGHT_FINE)
      return failure();
    if (request.hasPreparation())
      preparation.emplace(*module, evaluator);
    if (target.isPlain())
      return pipeline.toPlainDispatches(*module, given.kernels);
    const std::vector<GivenDecision> &decisions = given.configurations.decisions;
    std::vector<Attribute> rules = given.specs.decisions();
    if (request.report || request.spaces || !decisions.empty() || !rules.empty())
      wantDecisions(*module, decisions, rules);
    if (failed(pipeline.toDispatches(*module, constants(), target, given.kernels)) ||
        failed(pipeline.configure(*module, target.chooser, given.configurations.dispatches,
                                  given.specs.haveRules() ? &given.specs : nullptr)))
      return failure();
    configured = configuredDispatches(*module);
    if (!request.spaces)
      warnMisfits(session, given.specs.misfits(request.tuningSpecs.size()));
    return success();
  }

  void reportSpaces() {
    if (request.spaces->isDecisions)
      return reportDecisions();
    auto text = describeSpaces(*module, *target.chooser, *request.spaces);
    return text ? session.report(*text) : session.error(text.error());
  }

  /// Which follow from how far operators come in becoming kernels.
  void reportDecisions() {
    if (failed(toTilePrograms()))
      return;
    JsonWriter json;
    writeDecisions(json.beginObject().key("decisions"), *module);
    session.report(json.endObject().text() + "\n");
  }

  LogicalResult toKernels() {
    if (!target.isPlain() && failed(toTilePrograms()))
      return failure();
    if (failed(pipeline.exchangeKernels(*module, given.kernels,
                                        target.isPlain() ? target.family : request.target)))
      return failure();
    return target.allowsTF32 ? pipeline.allowTF32(*module) : success();
  }

  LogicalResult write() {
    OwningOpRef<ModuleOp> prepared;
    if (preparation)
      prepared = preparation->take(*module);
    ArtifactOptions options;
    options.output = request.output;
    options.descriptor = request.descriptor;
    options.model = std::filesystem::path(request.model.name()).stem().string();
    options.target = target.name;
    options.key = request.key;
    options.isKernel = !request.model.kernel.empty();
    options.favorsCompileTime = target.isPlain(); // its loops run no slower: measured on models
    options.weights = request.weights;
    options.cpu = target.cpu;
    options.architecture = target.architecture;
    options.codeCache = codeCache;
    if (failed(pipeline.toArtifact(*module, *target.code, options)))
      return failure();
    return prepared ? writePreparation(pipeline, *prepared, target, options, request) : success();
  }

  void report() {
    if (request.report)
      session.report(describeDispatches(*module, session, configured, given.kernels.parameters,
                                        target.family, request.report == 2));
    if (request.times && session.outcome() == TILEWRIGHT_FINE)
      session.giveTimes();
  }

private:
  LogicalResult toTilePrograms() {
    warnUnused(session, given.configurations, request.configurations, configured);
    if (failed(pipeline.toTilePrograms(*module, constants(), target.chooser)))
      return failure();
    settleDecisions(*module);
    Status followed = checkDecisions(*module, given.configurations.decisions, session);
    if (!followed)
      session.error(followed.error());
    return success(followed.ok());
  }

  ConstantEvaluator *constants() {
    return preparation ? static_cast<ConstantEvaluator *>(&*preparation) : &evaluator;
  }

  Session &session;
  const CompileRequest &request;
  const NamedTarget &target;
  Given given;
  target::CodeCache *codeCache;
  Pipeline pipeline;
  ArtifactEvaluator evaluator;
  OwningOpRef<ModuleOp> module;
  std::optional<Preparation> preparation;
  std::vector<ConfiguredDispatch> configured;
};

} // namespace

static Result<Given> readGiven(Session &session, MLIRContext &context,
                               const CompileRequest &request, const NamedTarget &target,
                               ConfigurationFile configurations) {
  TW_ASSIGN(ModelKernels kernels, givenKernels(context, request, configurations, target));
  std::vector<std::string> configurable;
  for (const auto &[name, parameters] : kernels.parameters)
    configurable.push_back(name);
  TW_TRY(checkKernelNames(configurations.kernels, request.configurations, configurable));
  TW_ASSIGN(FileUses files, fileUses(request, kernels.included));
  session.beginStage("specs");
  auto specs = findSpecs(context, request, target);
  session.endStage();
  if (!specs)
    return specs.error();
  return Given{std::move(configurations), std::move(kernels), std::move(files), *std::move(specs)};
}

static void run(Session &session, const CompileRequest &request) {
  if (auto files = fileUses(request); !files)
    return session.error(files.error());
  auto target = findTarget(request.target, request.precision);
  if (!target)
    return session.error(target.error());
  if (request.spaces && target->isPlain())
    return session.error(
        usageError("the reference target has no configurations", "give another target"));
  CacheUse cache;
  if (auto isFound = cache.takes(request, *target); !isFound || *isFound)
    return isFound ? void() : session.error(isFound.error());
  auto configurations = givenConfigurations(request, *target);
  if (!configurations)
    return session.error(configurations.error());
  DialectRegistry registry;
  registerDialects(registry);
  target->code->registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto handler = session.handler(context);
  auto given = readGiven(session, context, request, *target, *std::move(configurations));
  if (!given)
    return session.error(given.error());
  Compilation compilation(session, context, request, *target, *std::move(given),
                          cache.forDeviceCode());
  if (failed(compilation.toDispatches()))
    return;
  if (request.spaces)
    return compilation.reportSpaces();
  if (failed(compilation.toKernels()) || failed(compilation.write()))
    return;
  if (session.outcome() == TILEWRIGHT_FINE && !session.hasWarned()) // else the next call is silent
    cache.keeps(request);
  compilation.report();
}

} // namespace tw

extern "C" tilewright_outcome
tilewright_configuration_spaces(const tilewright_space_options *options,
                                const tilewright_sink *sink, void *user) {
  return tw::Session::perform(sink, user, [&](tw::Session &session) {
    auto request = tw::readOptions(options);
    if (request)
      tw::run(session, *request);
    else
      session.error(request.error());
  });
}

extern "C" tilewright_outcome tilewright_compile(const tilewright_compile_options *options,
                                                 const tilewright_sink *sink, void *user) {
  return tw::Session::perform(sink, user, [&](tw::Session &session) {
    auto request = tw::readOptions(options);
    if (request)
      tw::run(session, *request);
    else
      session.error(request.error());
  });
}
