// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright_compile: checks what is asked for, then runs the pipeline.
#include "Driver/CApi/LibraryFile.h"
#include "Driver/Cache/CompileCache.h"
#include "Driver/Model/ConfigurationFile.h"
#include "Driver/Model/ConfigurationSpaces.h"
#include "Driver/Model/Evaluator.h"
#include "Driver/Model/ModelSource.h"
#include "Driver/Model/Pipeline.h"
#include "Driver/Model/Report.h"
#include "Driver/NearestNames.h"
#include "Driver/Register.h"
#include "Driver/Targets.h"
#include "Graph/Preparation.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "Program/ObjectCode/Machine.h"
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
namespace {

struct Request {
  ModelSource model;
  std::string output, dumpTo, target = "cpu", precision = {}, configurations = {};
  KernelSources kernels = {};
  std::vector<std::string> written = {}; // by the caller, later
  std::vector<std::string> tuningSpecs = {};
  int descriptor = 0;
  std::string preparation = {}; // where it goes, if there is one
  int preparationDescriptor = 0;
  WeightsPlace weights = WeightsPlace::Auto;
  int report = 0;
  bool times = false, values = false, isUnedited = false;
  std::optional<SpaceRequest> spaces = {}; // instead of an artifact
  int *cache = nullptr;                    // what is made of it; null: it is not used

  bool hasPreparation() const { return !preparation.empty() || preparationDescriptor != 0; }
};

} // namespace

static std::string text(const char *given) { return given ? given : ""; }

static Diagnostic usage(std::string message, std::string help) {
  return {Code::DRIVER_1, std::move(message), {}, {}, std::move(help)};
}

/// Where the preparation goes, and whether it must go anywhere.
static Status readPreparation(const tilewright_compile_options &options, Request &request) {
  request.preparation = text(options.preparation);
  request.preparationDescriptor = options.preparation_descriptor;
  if (request.preparationDescriptor < 0 ||
      (!request.preparation.empty() && request.preparationDescriptor != 0))
    return usage("tilewright_compile: two places for the preparation are given, or a wrong one",
                 "set options.preparation or options.preparation_descriptor");
  if (request.hasPreparation() && !request.model.memory)
    return usage("tilewright_compile: a preparation is asked for, but the model is not in memory",
                 "set options.memory, or leave out options.preparation");
  bool needsOne = request.model.memory && llvm::any_of(request.model.memory->weights,
                                                       [](auto &w) { return w.isGivenByCalls; });
  if (needsOne && !request.hasPreparation())
    return usage("tilewright_compile: calls give a weight, but there is no preparation",
                 "set options.preparation or options.preparation_descriptor");
  return {};
}

/// `writes`: an artifact, which must go somewhere.
static Result<Request> readOptions(const tilewright_compile_options *options, bool writes = true) {
  if (!options || options->struct_size != sizeof(*options))
    return usage("tilewright_compile: options is NULL or of another version",
                 "set options.struct_size to sizeof(tilewright_compile_options)");
  bool isKernel = options->kernel && *options->kernel;
  if (isKernel ? options->model || options->memory : !namesOneModel(*options))
    return usage("tilewright_compile: no model is given, or two",
                 "set options.model, options.memory or options.kernel");
  Request request{modelSource(*options), text(options->output), text(options->dump_to)};
  request.model.kernel = text(options->kernel);
  request.descriptor = options->output_descriptor;
  if (writes && (request.descriptor < 0 || request.output.empty() == (request.descriptor == 0)))
    return usage("tilewright_compile: no output is given, or two",
                 "set options.output or options.output_descriptor");
  TW_TRY(readPreparation(*options, request));
  if (options->target)
    request.target = options->target;
  request.configurations = text(options->configurations);
  static const std::pair<std::string_view, WeightsPlace> places[] = {
      {"", WeightsPlace::Auto},
      {"auto", WeightsPlace::Auto},
      {"embedded", WeightsPlace::Embedded},
      {"external", WeightsPlace::External}};
  auto place = std::find_if(std::begin(places), std::end(places),
                            [&](const auto &p) { return p.first == text(options->weights); });
  if (place == std::end(places))
    return usage(fmt::format("weights can be embedded in the artifact or external, not \"{}\"",
                             options->weights),
                 "use --weights=embedded, --weights=external or --weights=auto");
  request.weights = place->second;
  request.report = options->report;
  request.times = options->time_report != 0;
  request.values = options->values != 0;
  request.isUnedited = options->unedited != 0;
  request.precision = text(options->precision);
  request.cache = options->cache;
  if (request.cache)
    *request.cache = TILEWRIGHT_CACHE_UNUSED;
  request.kernels = kernelSources(*options);
  request.written.assign(options->written, options->written + options->written_count);
  request.tuningSpecs.assign(options->tuning_specs,
                             options->tuning_specs + options->tuning_spec_count);
  return request;
}

/// What is read and written, checked: nothing of the one is the other. `included`: files that the
/// C++ of kernels includes.
static Result<FileUses> fileUses(const Request &request,
                                 const std::vector<std::string> &included = {}) {
  FileUses files;
  for (const std::string &file : included)
    files.reads(file);
  if (request.model.isFile())
    files.reads(request.model.path);
  for (const std::string &kernels : request.kernels.paths)
    files.reads(kernels);
  if (!request.configurations.empty())
    files.reads(request.configurations);
  for (const std::string &spec : request.tuningSpecs)
    files.reads(spec);
  for (const std::string &output : {request.output, request.preparation})
    if (!output.empty()) {
      TW_TRY(files.writes(output));
      TW_TRY(files.writes(followLinks(output) + ".weights"));
    }
  for (const std::string &file : request.written)
    TW_TRY(files.writes(file));
  return files;
}

static Result<ConfigurationFile> givenConfigurations(const Request &request,
                                                     const NamedTarget &target) {
  if (request.configurations.empty())
    return ConfigurationFile();
  TW_ASSIGN(ConfigurationFile file, readConfigurations(request.configurations));
  if (target.isPlain() && !(file.dispatches.empty() && file.decisions.empty()))
    return usage(
        fmt::format("{} has configurations or decisions, but the reference target has none",
                    request.configurations),
        "leave out --config, or --target=reference");
  return file;
}

/// Those of the request before the one that comes with the compiler.
static Result<tune::TuningSpecs> findSpecs(MLIRContext &context, const Request &request,
                                           const NamedTarget &target) {
  if (!request.tuningSpecs.empty() && target.isPlain())
    return usage("the reference target has no configurations that a tuning spec could give",
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

/// Errors: KERNEL_5 for parameters of a kernel that is not given.
static Status checkKernelNames(const ConfigurationFile &given, const std::string &path,
                               const KernelParameters &kernels) {
  std::vector<std::string> names;
  for (const auto &[name, parameters] : kernels)
    names.push_back(name);
  for (const auto &[kernel, parameters] : given.kernels)
    if (!kernels.contains(kernel))
      return Diagnostic{
          Code::KERNEL_5,
          fmt::format("\"kernels\" has parameters for \"{}\", but no kernel with parameters is "
                      "called so",
                      kernel),
          path,
          {names.empty() ? "no kernel with parameters is given" : nearestNames(kernel, names)},
          names.empty() ? "give the kernel's file with --kernels=FILE, or leave the entry out"
                        : "correct the name, or leave the entry out"};
  return {};
}

/// Errors: those of readModelKernels; DRIVER_1 for kernels that replace some of the model's where
/// the target makes none.
static Result<ModelKernels> givenKernels(MLIRContext &context, const Request &request,
                                         const ConfigurationFile &given,
                                         const NamedTarget &target) {
  TW_ASSIGN(ModelKernels kernels, readModelKernels(context, request.kernels, given.kernels));
  if (request.isUnedited)
    kernels.edited.clear();
  if (target.isPlain() && !kernels.edited.empty())
    return usage(fmt::format("{} replaces the kernel \"{}\", but the reference target makes none "
                             "of the model's operators",
                             kernels.edited.front().file, kernels.edited.front().replaces),
                 "leave the file out, or --target=reference");
  return kernels;
}

/// A signature that matches nothing may be for another model that the file serves, or left from
/// before the model or the compiler changed.
static void warnUnused(Session &session, const ConfigurationFile &given, const std::string &path,
                       const std::vector<ConfiguredDispatch> &dispatches) {
  constexpr size_t most = 5;
  std::vector<std::string> unused;
  for (const auto &[signature, given] : given.dispatches)
    if (llvm::none_of(dispatches, [&](const ConfiguredDispatch &dispatch) {
          return dispatch.signature == signature;
        }))
      unused.push_back(fmt::format("{}: {}", given.place, signature));
  if (unused.empty())
    return;
  Diagnostic warning{
      Code::CONFIG_4,
      fmt::format("{} of {} configurations are for no dispatch of the model, which has {}",
                  unused.size(), given.dispatches.size(), dispatches.size()),
      path, unused,
      "the compiler chooses for these dispatches; `compile --report=json` prints their signatures"};
  if (unused.size() > most) {
    warning.notes.resize(most);
    warning.notes.push_back(fmt::format("and {} more", unused.size() - most));
  }
  session.warning(warning);
}

/// `options` are those of the program.
static LogicalResult writePreparation(Pipeline &pipeline, ModuleOp preparation, NamedTarget target,
                                      ArtifactOptions options, const Request &request) {
  target.roundsProducts = false; // the program's are what the user speaks of
  options.output = request.preparation;
  options.descriptor = request.preparationDescriptor;
  if (failed(pipeline.toDispatches(preparation, /*evaluator=*/nullptr, target)) ||
      failed(pipeline.configure(preparation, target.chooser, {})) ||
      failed(pipeline.toTilePrograms(preparation, /*evaluator=*/nullptr, target.chooser.get())))
    return failure();
  return pipeline.toArtifact(preparation, *target.code, options);
}

/// Whether an artifact is all that is wanted, and made of nothing but files.
static bool isCacheable(const Request &request) {
  return request.cache && request.model.isFile() && !request.output.empty() &&
         request.dumpTo.empty() && request.report == 0 && !request.times && !request.values &&
         !request.spaces && !request.hasPreparation() && request.kernels.paths.empty() &&
         request.kernels.texts.empty() && request.weights != WeightsPlace::External;
}

/// Of all that decides what the artifact is. Errors: IO_1 for files that cannot be read.
static Result<std::string> artifactKey(const Request &request, const NamedTarget &target) {
  std::vector<std::string> parts = {
      "artifact", std::filesystem::path(request.model.name()).stem().string(), request.model.entry,
      std::to_string(int(request.weights)), target.name, target.architecture,
      fmt::format("{} {}", target.allowsTF32, target.roundsProducts),
      std::string(nameOf(target.cpu.architecture)),
      fmt::format("{}", fmt::join(target.cpu.features, ",")),
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
  Result<bool> takes(const Request &request, const NamedTarget &target) {
    if (!isCacheable(request))
      return false;
    TW_ASSIGN(cache, CompileCache::open());
    TW_ASSIGN(key, artifactKey(request, target));
    std::optional<std::string> found = cache->find(key);
    if (!found)
      return false;
    TW_TRY(CompileCache::copy(*found, request.output));
    *request.cache = TILEWRIGHT_CACHE_FOUND;
    return true;
  }

  void keeps(const Request &request) {
    if (!cache)
      return;
    std::string output = followLinks(request.output);
    bool isWhole = !std::filesystem::exists(output + ".weights");
    *request.cache =
        isWhole && cache->keep(key, output) ? TILEWRIGHT_CACHE_KEPT : TILEWRIGHT_CACHE_LEFT;
  }

private:
  std::optional<CompileCache> cache;
  std::string key;
};

static void run(Session &session, const Request &request) {
  auto files = fileUses(request);
  if (!files)
    return session.error(files.error());
  auto target = findTarget(request.target, request.precision);
  if (!target)
    return session.error(target.error());
  bool isPlain = target->isPlain();
  if (request.spaces && isPlain)
    return session.error(
        usage("the reference target has no configurations", "give another target"));
  CacheUse cache;
  if (auto isFound = cache.takes(request, *target); !isFound || *isFound)
    return isFound ? void() : session.error(isFound.error());
  auto given = givenConfigurations(request, *target);
  if (!given)
    return session.error(given.error());
  DialectRegistry registry;
  registerDialects(registry);
  target->code->registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto handler = session.handler(context);
  auto kernels = givenKernels(context, request, *given, *target);
  if (!kernels)
    return session.error(kernels.error());
  if (Status named = checkKernelNames(*given, request.configurations, kernels->parameters); !named)
    return session.error(named.error());
  files = fileUses(request, kernels->included);
  if (!files)
    return session.error(files.error());
  auto specs = findSpecs(context, request, *target);
  if (!specs)
    return session.error(specs.error());
  Pipeline pipeline(session, context, request.dumpTo, *std::move(files), request.values);
  ArtifactEvaluator evaluator(session, request.model.memory.has_value());
  OwningOpRef<ModuleOp> module = pipeline.import(request.model, *kernels);
  if (!module || session.outcome() != TILEWRIGHT_FINE)
    return;
  std::optional<Preparation> preparation;
  if (request.hasPreparation())
    preparation.emplace(*module);
  ConstantEvaluator *constants = &evaluator;
  if (preparation)
    constants = &*preparation;
  if (!isPlain && (request.report || !given->decisions.empty()))
    wantDecisions(*module, given->decisions);
  if (failed(isPlain ? pipeline.toPlainDispatches(*module, *kernels)
                     : pipeline.toDispatches(*module, constants, *target, *kernels)))
    return;
  std::vector<ConfiguredDispatch> configured;
  if (!isPlain) {
    if (failed(pipeline.configure(*module, target->chooser, given->dispatches, &*specs)))
      return;
    configured = configuredDispatches(*module);
    if (request.spaces) {
      auto text = describeSpaces(*module, *target->chooser, *request.spaces);
      return text ? session.report(*text) : session.error(text.error());
    }
    warnUnused(session, *given, request.configurations, configured);
    if (failed(pipeline.toTilePrograms(*module, constants, target->chooser.get())))
      return;
    settleDecisions(*module);
    if (Status followed = checkDecisions(*module, given->decisions, session); !followed)
      return session.error(followed.error());
  }
  if (failed(
          pipeline.exchangeKernels(*module, *kernels, isPlain ? target->family : request.target)))
    return;
  if (target->allowsTF32 && failed(pipeline.allowTF32(*module)))
    return;
  OwningOpRef<ModuleOp> prepared;
  if (preparation)
    prepared = preparation->take(*module);
  ArtifactOptions options;
  options.output = request.output;
  options.descriptor = request.descriptor;
  options.model = std::filesystem::path(request.model.name()).stem().string();
  options.target = target->name;
  options.favorsCompileTime = isPlain; // its loops run no slower: measured on whole models
  options.weights = request.weights;
  options.cpu = target->cpu;
  options.architecture = target->architecture;
  if (failed(pipeline.toArtifact(*module, *target->code, options)))
    return;
  if (prepared && failed(writePreparation(pipeline, *prepared, *target, options, request)))
    return;
  if (session.outcome() == TILEWRIGHT_FINE && !session.hasWarned()) // else the next call is silent
    cache.keeps(request);
  if (request.report)
    session.report(describeDispatches(*module, session, configured, kernels->parameters,
                                      target->family, request.report == 2));
  if (request.times && session.outcome() == TILEWRIGHT_FINE)
    session.giveTimes();
}

static Result<Request> readSpaceOptions(const tilewright_space_options *options) {
  if (!options || options->struct_size != sizeof(*options))
    return usage("tilewright_configuration_spaces: options is NULL or of another version",
                 "set options.struct_size to sizeof(tilewright_space_options)");
  TW_ASSIGN(Request request, readOptions(options->compile, /*writes=*/false));
  SpaceRequest &spaces = request.spaces.emplace();
  std::string format = text(options->format);
  spaces.isJson = format == "json";
  spaces.isSmtLib = format == "smtlib";
  if (!format.empty() && format != "text" && !spaces.isJson && !spaces.isSmtLib)
    return usage(
        fmt::format("configuration spaces are written as text, json or smtlib, not \"{}\"", format),
        "set options.format");
  spaces.kernel = text(options->kernel);
  spaces.countMost = options->count_most;
  spaces.pointsMost = options->points_most;
  spaces.samples = options->samples;
  spaces.seed = options->seed;
  for (auto [name, number] :
       {std::pair("count_most", spaces.countMost), std::pair("points_most", spaces.pointsMost),
        std::pair("samples", spaces.samples)})
    if (number < 0)
      return usage(fmt::format("options.{} is {}", name, number), "give 0 or more");
  return request;
}

} // namespace tw

extern "C" tilewright_outcome
tilewright_configuration_spaces(const tilewright_space_options *options,
                                const tilewright_sink *sink, void *user) {
  return tw::Session::perform(sink, user, [&](tw::Session &session) {
    auto request = tw::readSpaceOptions(options);
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
