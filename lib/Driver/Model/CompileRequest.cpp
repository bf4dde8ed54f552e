// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/CompileRequest.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw {

static std::string text(const char *given) { return given ? given : ""; }

Diagnostic usageError(std::string message, std::string help) {
  return {Code::DRIVER_1, std::move(message), {}, {}, std::move(help)};
}

/// Where the preparation goes, and whether it must go anywhere.
static Status readPreparation(const tilewright_compile_options &options, CompileRequest &request) {
  request.preparation = text(options.preparation);
  request.preparationDescriptor = options.preparation_descriptor;
  if (request.preparationDescriptor < 0 ||
      (!request.preparation.empty() && request.preparationDescriptor != 0))
    return usageError(
        "tilewright_compile: two places for the preparation are given, or a wrong one",
        "set options.preparation or options.preparation_descriptor");
  if (request.hasPreparation() && !request.model.memory)
    return usageError(
        "tilewright_compile: a preparation is asked for, but the model is not in memory",
        "set options.memory, or leave out options.preparation");
  bool needsOne = request.model.memory && llvm::any_of(request.model.memory->weights,
                                                       [](auto &w) { return w.isGivenByCalls; });
  if (needsOne && !request.hasPreparation())
    return usageError("tilewright_compile: calls give a weight, but there is no preparation",
                      "set options.preparation or options.preparation_descriptor");
  return {};
}

/// `writes`: an artifact, which must go somewhere.
static Result<CompileRequest> readOptions(const tilewright_compile_options *options, bool writes) {
  if (!options || options->struct_size != sizeof(*options))
    return usageError("tilewright_compile: options is NULL or of another version",
                      "set options.struct_size to sizeof(tilewright_compile_options)");
  bool isKernel = options->kernel && *options->kernel;
  if (isKernel ? options->model || options->memory : !namesOneModel(*options))
    return usageError("tilewright_compile: no model is given, or two",
                      "set options.model, options.memory or options.kernel");
  CompileRequest request{modelSource(*options), text(options->output), text(options->dump_to)};
  request.model.kernel = text(options->kernel);
  request.descriptor = options->output_descriptor;
  if (writes && (request.descriptor < 0 || request.output.empty() == (request.descriptor == 0)))
    return usageError("tilewright_compile: no output is given, or two",
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
    return usageError(fmt::format("weights can be embedded in the artifact or external, not \"{}\"",
                                  options->weights),
                      "use --weights=embedded, --weights=external or --weights=auto");
  request.weights = place->second;
  request.report = options->report;
  request.times = options->time_report != 0;
  request.values = options->values != 0;
  request.isUnedited = options->unedited != 0;
  request.precision = text(options->precision);
  request.key = text(options->key);
  request.cache = options->cache;
  if (request.cache)
    *request.cache = TILEWRIGHT_CACHE_UNUSED;
  request.kernels = kernelSources(*options);
  request.written.assign(options->written, options->written + options->written_count);
  request.tuningSpecs.assign(options->tuning_specs,
                             options->tuning_specs + options->tuning_spec_count);
  return request;
}

Result<CompileRequest> readOptions(const tilewright_compile_options *options) {
  return readOptions(options, /*writes=*/true);
}

Result<CompileRequest> readOptions(const tilewright_space_options *options) {
  if (!options || options->struct_size != sizeof(*options))
    return usageError("tilewright_configuration_spaces: options is NULL or of another version",
                      "set options.struct_size to sizeof(tilewright_space_options)");
  TW_ASSIGN(CompileRequest request, readOptions(options->compile, /*writes=*/false));
  SpaceRequest &spaces = request.spaces.emplace();
  std::string format = text(options->format);
  spaces.isJson = format == "json";
  spaces.isSmtLib = format == "smtlib";
  spaces.isDecisions = format == "decisions";
  if (!format.empty() && format != "text" && !spaces.isJson && !spaces.isSmtLib &&
      !spaces.isDecisions)
    return usageError(
        fmt::format("configuration spaces are written as text, json or smtlib, not \"{}\"", format),
        "set options.format");
  spaces.kernel = text(options->kernel);
  spaces.countMost = options->count_most;
  spaces.pointsMost = options->points_most;
  spaces.samples = options->samples;
  spaces.seed = options->seed;
  spaces.enumerateMost = options->enumerate_most;
  for (size_t i = 0; i < options->knob_count; ++i)
    spaces.knobs.push_back(text(options->knobs[i]));
  spaces.workers = options->workers;
  spaces.addsForWorkers = options->adds_for_workers != 0;
  for (size_t i = 0; i < options->sized_kernel_count; ++i)
    spaces.sizes.emplace(text(options->sized_kernels[i]), options->sizes[i]);
  if (options->cost_within != 0)
    spaces.costWithin = options->cost_within;
  for (auto [name, number] :
       {std::pair("count_most", spaces.countMost), std::pair("points_most", spaces.pointsMost),
        std::pair("samples", spaces.samples), std::pair("enumerate_most", spaces.enumerateMost),
        std::pair("workers", spaces.workers)})
    if (number < 0)
      return usageError(fmt::format("options.{} is {}", name, number), "give 0 or more");
  if (!(spaces.costWithin >= 1))
    return usageError(fmt::format("options.cost_within is {}", spaces.costWithin),
                      "give 1 or more, or 0 for all costs");
  return request;
}

Result<FileUses> fileUses(const CompileRequest &request, const std::vector<std::string> &included) {
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

} // namespace tw
