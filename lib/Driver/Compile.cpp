// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright_compile: checks what is asked for, then runs the pipeline.
#include "Driver/Evaluator.h"
#include "Driver/HostTarget.h"
#include "Driver/Pipeline.h"
#include "Driver/Register.h"
#include "Driver/Report.h"
#include "Driver/TargetChoice.h"
#include "Program/Machine.h"
#include "mlir/IR/MLIRContext.h"
#include "tilewright/Compiler.h"
#include <filesystem>
#include <fmt/format.h>

using namespace mlir;

namespace tw {
namespace {

struct Request {
  std::string model, output, entry, dumpTo, target = "cpu";
  WeightsPlace weights = WeightsPlace::Auto;
  int report = 0;
  bool times = false;
};

} // namespace

static std::string text(const char *given) { return given ? given : ""; }

static Diagnostic usage(std::string message, std::string help) {
  return {Code::DRIVER_1, std::move(message), {}, {}, std::move(help)};
}

static Result<Request> readOptions(const tilewright_compile_options *options) {
  if (!options || options->struct_size != sizeof(*options))
    return usage("tilewright_compile: options is NULL or of another version",
                 "set options.struct_size to sizeof(tilewright_compile_options)");
  Request request{text(options->model), text(options->output), text(options->entry),
                  text(options->dump_to)};
  if (request.model.empty() || request.output.empty())
    return usage("tilewright_compile: no model or no output is given", "set both");
  if (options->target)
    request.target = options->target;
  static const std::pair<std::string_view, WeightsPlace> places[] = {
      {"", WeightsPlace::Auto},
      {"auto", WeightsPlace::Auto},
      {"inside", WeightsPlace::Inside},
      {"beside", WeightsPlace::Beside}};
  auto place = std::find_if(std::begin(places), std::end(places),
                            [&](const auto &p) { return p.first == text(options->weights); });
  if (place == std::end(places))
    return usage(
        fmt::format("weights can go inside or beside the artifact, not \"{}\"", options->weights),
        "use --weights=inside, --weights=beside or --weights=auto");
  request.weights = place->second;
  request.report = options->report;
  request.times = options->time_report != 0;
  if (options->kernel_count > 0)
    return Diagnostic{Code::DRIVER_3,
                      "hand-written kernels cannot be compiled yet",
                      {},
                      {},
                      "leave --kernels out"};
  return request;
}

static std::unique_ptr<target::Target> makeTarget(bool isReference,
                                                  ArrayRef<std::string> features) {
  auto cpu = target::CpuFeatures::fromNames(features);
  return isReference ? target::createReferenceTarget(cpu) : createHostTarget(cpu);
}

static tilewright_outcome run(Session &session, const Request &request) {
  auto choice = chooseTarget(request.target);
  if (!choice) {
    session.error(choice.error());
    return session.outcome();
  }
  bool isReference = request.target == "reference";
  auto target = makeTarget(isReference, choice->features);
  // What is computed at compile time runs here, whatever the artifact is made for.
  auto hostTarget = makeTarget(/*isReference=*/true, hostFeatures());
  DialectRegistry registry;
  registerDialects(registry);
  target->registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto handler = session.handler(context);
  Pipeline pipeline(session, context, request.dumpTo);
  ArtifactEvaluator evaluator(session, *hostTarget, hostFeatures());

  OwningOpRef<ModuleOp> module = pipeline.import(request.model, request.entry);
  if (!module || session.outcome() != TILEWRIGHT_FINE)
    return session.outcome();
  if (failed(pipeline.toDispatches(*module, &evaluator)))
    return session.outcome();
  if (!isReference &&
      failed(pipeline.toTilePrograms(*module, target::CpuFeatures::fromNames(choice->features))))
    return session.outcome();
  std::string kernels =
      request.report ? describeDispatches(*module, session, request.report == 2) : std::string();
  ArtifactOptions options;
  options.output = request.output;
  options.model = std::filesystem::path(request.model).stem().string();
  options.target = target->name().str();
  options.weights = request.weights;
  options.features = choice->features;
  if (succeeded(pipeline.toArtifact(*module, *target, options)) && request.report)
    session.report(kernels);
  if (request.times && session.outcome() == TILEWRIGHT_FINE)
    session.giveTimes();
  return session.outcome();
}

} // namespace tw

extern "C" tilewright_outcome tilewright_compile(const tilewright_compile_options *options,
                                                 const tilewright_sink *sink, void *user) {
  tw::Session session(sink, user);
  auto request = tw::readOptions(options);
  if (!request) {
    session.error(request.error());
    return session.outcome();
  }
  return tw::run(session, *request);
}
