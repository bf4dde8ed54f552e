// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/Driver/Points/PointCompiler.h"
#include "Driver/Model/Pipeline.h"
#include "Driver/Register.h"
#include "GraphToTile/Configuration/ConfigurationAttr.h"
#include "IR/Coded.h"
#include "IR/Tile/Variants.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <stdexcept>

using namespace mlir;

namespace tw {
using conversion::ConfigurationOverrides;
using conversion::DispatchOverride;
using conversion::KernelOverride;
using tune::Point;

static NamedTarget targetOf(const std::string &name) {
  auto found = findTarget(name);
  if (!found)
    throw std::runtime_error(found.error().render());
  return *std::move(found);
}

static DialectRegistry dialectsFor(const NamedTarget &target) {
  DialectRegistry registry;
  registerDialects(registry);
  target.code->registerDialects(registry);
  return registry;
}

PointCompiler::PointCompiler(const std::string &text, const std::string &name, tile::Cut cut,
                             const SpaceRequest &request)
    : target(targetOf(name)), context(dialectsFor(target), MLIRContext::Threading::DISABLED) {
  context.loadAllAvailableDialects();
  module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    throw std::runtime_error("the dispatch cannot be parsed: " + text);
  ConfigurationOverrides given;
  if (cut != tile::Cut::None)
    given[conversion::dispatchSignature(module->lookupSymbol<func::FuncOp>("k"))].cuts = {cut};
  std::string said = attempt(given, [&](Session &session, Pipeline &, ModuleOp configured) {
    for (const ConfiguredDispatch &dispatch : configuredDispatches(configured))
      for (tile::CutAttr each : dispatch.configuration.getCuts())
        cuts.push_back(each.getValue());
    forEachSpace(configured, *target.chooser, request,
                 [&](KernelSpace &kernel, const conversion::ConfigurationProblem &) {
                   kernels.push_back(kernel);
                 });
    if (kernels.empty())
      session.failStage("spaces");
  });
  if (said.empty())
    said = compile(kernels.front(), kernels.front().point);
  if (!said.empty())
    throw std::runtime_error(said);
}

/// Runs the passes up to configurations, and what comes then if they have nothing to say.
std::string PointCompiler::attempt(const ConfigurationOverrides &given, const Action &then) {
  std::string said;
  tilewright_sink sink = {};
  sink.struct_size = sizeof(sink);
  sink.diagnostic = [](void *user, const char *text, tilewright_outcome) {
    *static_cast<std::string *>(user) += text;
  };
  Session session(&sink, &said);
  auto handler = session.handler(context);
  Pipeline pipeline(session, context, /*dumpTo=*/"");
  OwningOpRef<ModuleOp> tried = module->clone();
  if (succeeded(pipeline.configure(*tried, target.chooser, given)))
    then(session, pipeline, *tried);
  return said;
}

/// What a kernel is given: a point of its space, or of that of one of its variants, beside which it
/// keeps what it has.
static KernelOverride overrideAt(const KernelSpace &kernel, const Point &point) {
  KernelOverride own;
  own.place = "given";
  own.configuration = kernel.bound.isForAll() ? kernel.at(point) : kernel.own;
  if (kernel.bound.isForAll())
    return own;
  own.variants.emplace();
  auto add = [&](conversion::VariantBound bound, const conversion::Configuration &configuration) {
    conversion::FieldsOverride given{configuration, "given"};
    if (bound.most > 0)
      own.variants->forSizes.insert_or_assign(bound.most, std::move(given));
    else
      own.variants->forWorkers.insert_or_assign(bound.workers, std::move(given));
  };
  for (const conversion::Variant &variant : kernel.variants)
    add(variant.bound, variant.configuration);
  add(kernel.bound, kernel.at(point));
  return own;
}

ConfigurationOverrides PointCompiler::overridesOf(const KernelSpace &kernel,
                                                  const Point &point) const {
  DispatchOverride given;
  given.cuts = cuts;
  given.place = "given";
  for (const KernelSpace &each : kernels) {
    KernelOverride chosen;
    chosen.place = "given";
    chosen.configuration.kind = each.configuration.kind; // and nothing else
    given.kernels.push_back(&each == &kernel ? overrideAt(each, point) : std::move(chosen));
  }
  return {{kernel.signature, std::move(given)}};
}

void PointCompiler::expectGiven(Session &session, ModuleOp configured, const KernelSpace &kernel,
                                const Point &point) const {
  for (const ConfiguredDispatch &dispatch : configuredDispatches(configured)) {
    tile::ConfigurationAttr made = dispatch.configuration.getKernels()[kernel.number];
    for (tile::VariantAttr variant : made.getVariants())
      if (conversion::VariantBound{variant.getMost(), variant.getWorkers()} == kernel.bound)
        made = variant.getConfiguration();
    if (conversion::fromAttribute(made) == kernel.at(point))
      return;
  }
  session.error({Code::TARGET_1, "the dispatch has not been given what was asked for", {}, {}, ""});
}

void PointCompiler::lower(Session &session, ModuleOp programs) {
  for (auto function : programs.getOps<func::FuncOp>())
    if (function->hasAttr("tw.kernel"))
      emitError(function.getLoc()) << "is left to the reference target";
  llvm::DenseSet<Operation *> variants = tile::allVariants(programs);
  programs.walk([](tile::KernelOp program) { // which this target does not read
    program->removeAttr(tile::TileDialect::configurationName);
  });
  for (auto program : programs.getOps<tile::KernelOp>()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    program->print(stream);
    for (tile::KernelOp variant : tile::variantsOf(program))
      variant->print(stream);
    if (variants.contains(program) || !lowered.insert(text).second)
      continue;
    OwningOpRef<ModuleOp> code = ModuleOp::create(program.getLoc());
    if (failed(target.code->lower(program, *code)) || failed(verify(*code)))
      session.failStage("lowering");
  }
}

std::string PointCompiler::compile(const KernelSpace &kernel, const Point &point) {
  return attempt(
      overridesOf(kernel, point), [&](Session &session, Pipeline &pipeline, ModuleOp configured) {
        expectGiven(session, configured, kernel, point);
        if (succeeded(pipeline.toTilePrograms(configured, /*evaluator=*/nullptr, target.chooser)))
          lower(session, configured);
      });
}

std::string PointCompiler::configure(const KernelSpace &kernel, const Point &point) {
  return attempt(overridesOf(kernel, point), [](Session &, Pipeline &, ModuleOp) {});
}

} // namespace tw
