// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/ConfigurationSpaces.h"
#include "Driver/Model/PointsToTry.h"
#include "GraphToTile/Analysis/Subkernels/DispatchCalls.h"
#include "GraphToTile/Configuration/ChosenVariants.h"
#include "GraphToTile/Configuration/ConfigurationAttr.h"
#include "IO/Formats/JsonWriter.h"
#include "IR/Tile/Tile.h"
#include "Tune/SmtLib.h"
#ifdef TW_WITH_SOLVER
#include "Tune/Solver.h"
#endif
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

using namespace mlir;

namespace tw {
using conversion::Configuration;
using conversion::ConfigurationChooser;
using conversion::ConfigurationProblem;
using conversion::Variant;
using conversion::VariantBound;
using tune::Point;

Configuration KernelSpace::at(const Point &point) const {
  Configuration made = configuration;
  made.fields.update(point);
  made.targetFields.update(point);
  return made;
}

//===----------------------------------------------------------------------===//
// Spaces
//===----------------------------------------------------------------------===//

namespace {

/// Makes the knobs of one kernel's space.
class KnobsOf {
public:
  KnobsOf(KernelSpace &made, const kernels::Numbers &most) : made(made), most(most) {}

  void add(const kernels::Fields &fields, const ConfigurationSchema *schema) {
    for (const auto &[name, value] : fields.numbers)
      add(schema, name, name, value);
    for (const auto &[name, list] : fields.lists)
      for (auto [index, value] : llvm::enumerate(list)) {
        kernels::ListElement element{name, index};
        add(schema, name, element.symbol(), value).element = element;
      }
  }

private:
  /// One that is at `value`.
  tune::Knob &add(const ConfigurationSchema *schema, const std::string &field,
                  const std::string &name, int64_t value) {
    made.point[name] = value;
    tune::Knob &knob = made.space.knobs.emplace_back(tune::Knob{name, {value}, {}});
    if (const ConfigurationField *known = schema ? schema->find(field) : nullptr) {
      knob.meaning = known->meaning;
      knob.values = valuesOf(*known, name, value);
    }
    return knob;
  }

  std::vector<int64_t> valuesOf(const ConfigurationField &field, const std::string &name,
                                int64_t value) const {
    constexpr int64_t unbounded = 16; // of a field that no size bounds
    auto found = most.find(name);
    int64_t greatest = field.kind == ConfigurationField::Flag ? 1
                       : found != most.end()                  ? found->second
                                                              : unbounded;
    std::vector<int64_t> values = tune::valuesBetween(field.least, std::max(greatest, field.least));
    // A list's 0 means all of the dimension, which is then the same as its size.
    auto own = made.chosen.find(name);
    for (int64_t each : {value, own == made.chosen.end() ? value : own->second})
      if (!llvm::is_contained(values, each))
        values.insert(llvm::upper_bound(values, each), each);
    return values;
  }

  KernelSpace &made;
  const kernels::Numbers &most;
};

/// What the kernel has, and which of its code the space is of.
void describeCode(KernelSpace &made, const ConfigurationProblem &problem,
                  const ConfigurationChooser &chooser, tile::ConfigurationAttr configured,
                  const SpaceRequest &request) {
  made.own = made.configuration = conversion::fromAttribute(configured);
  for (tile::VariantAttr each : configured.getVariants())
    made.variants.push_back(
        {{each.getMost(), each.getWorkers()}, conversion::fromAttribute(each.getConfiguration())});
  made.areVariantsGiven = made.variants != conversion::chooseVariants(problem, made.own, chooser);
  made.isChosen = !made.areVariantsGiven && made.own == chooser.choose(problem);
  if (auto size = request.sizes.find(made.kernel); size != request.sizes.end())
    made.callSize = size->second;
  made.bound =
      conversion::boundForCall(problem, made.own, made.variants,
                               {made.callSize, request.workers, request.addsForWorkers}, chooser);
  for (const Variant &variant : llvm::reverse(made.variants))
    if (!made.bound.isForAll() && variant.bound.takes(made.callSize, request.workers))
      made.configuration = variant.configuration;
}

/// What the target has for calls of the space.
Configuration choiceFor(const KernelSpace &kernel, const ConfigurationProblem &problem,
                        const ConfigurationChooser &chooser) {
  if (kernel.bound.workers == 0)
    return chooser.choose(problem);
  auto chosen = chooser.chooseForWorkers(problem, kernel.own);
  return chosen ? chosen->configuration : kernel.own;
}

/// What the kernel has to fit so that the variants that are given stay ones of it; but what it does
/// not fit now is no reason.
std::vector<kernels::Constraint> constraintsOfGiven(const KernelSpace &kernel,
                                                    const ConfigurationProblem &problem,
                                                    const ConfigurationChooser &chooser) {
  std::vector<kernels::Constraint> all;
  for (const Variant &variant : kernel.variants) {
    ConfigurationProblem same{problem.subkernel, problem.isRhsWeight, &kernel.own,
                              variant.bound.workers};
    llvm::append_range(all, conversion::spaceOf(same).constraints);
    llvm::append_range(all, chooser.constraints(same));
  }
  kernels::Numbers now = kernel.own.symbols();
  llvm::erase_if(all, [&](const kernels::Constraint &each) {
    return kernels::firstViolated({each}, now) != nullptr;
  });
  return all;
}

void fillSpace(KernelSpace &made, const ConfigurationProblem &problem,
               const ConfigurationChooser &chooser, const tile::TileDialect &dialect) {
  conversion::ConfigurationSpace space = conversion::spaceOf(problem);
  made.chosen = choiceFor(made, problem, chooser).symbols();
  KnobsOf knobs(made, space.most);
  knobs.add(made.configuration.fields, space.schema);
  knobs.add(made.configuration.targetFields, dialect.getSchema(made.configuration.target));
  made.space.constraints = std::move(space.constraints);
  llvm::append_range(made.space.constraints, chooser.constraints(problem));
  if (made.bound.isForAll() && made.areVariantsGiven)
    llvm::append_range(made.space.constraints, constraintsOfGiven(made, problem, chooser));
}

/// All, or the one that is asked for, with its problem.
class Spaces {
public:
  Spaces(ModuleOp module, const ConfigurationChooser &chooser, const SpaceRequest &request)
      : chooser(chooser), request(request), calls(module) {
    for (ConfiguredDispatch &dispatch : configuredDispatches(module))
      configured.try_emplace(dispatch.kernel, std::move(dispatch));
  }

  /// Calls `take` with each kernel's space and problem.
  void forEach(llvm::function_ref<void(KernelSpace &, const ConfigurationProblem &)> take) const {
    for (func::FuncOp function : calls.functions)
      if (auto dispatch = configured.find(function.getName()); dispatch != configured.end())
        forEach(function, dispatch->second, take);
  }

private:
  void forEach(func::FuncOp function, const ConfiguredDispatch &dispatch,
               llvm::function_ref<void(KernelSpace &, const ConfigurationProblem &)> take) const {
    std::string why;
    FailureOr<conversion::DispatchAnalysis> analysis = calls.analyze(function, why);
    if (failed(analysis))
      return;
    auto subkernels = conversion::applyCuts(std::move(analysis->subkernels), analysis->temporaries,
                                            dispatch.configuration, chooser, why);
    if (!subkernels)
      return;
    for (auto [number, subkernel] : llvm::enumerate(*subkernels)) {
      ConfigurationProblem problem{subkernel, calls.isRhsWeight(function, subkernel)};
      KernelSpace made;
      made.kernel = conversion::kernelName(dispatch.kernel, subkernels->size(), number);
      made.signature = dispatch.signature;
      made.ops = dispatch.ops;
      made.source = dispatch.source;
      made.number = number;
      made.calls = int64_t(calls.of(function).size());
      made.features = conversion::featuresOf(problem, dispatch.signature, int64_t(number));
      describeCode(made, problem, chooser, dispatch.configuration.getKernels()[number], request);
      conversion::VariantProblem variant(problem, made.own, made.bound);
      const ConfigurationProblem &searched = made.bound.isForAll() ? problem : variant.problem;
      fillSpace(made, searched, chooser,
                *function->getContext()->getLoadedDialect<tile::TileDialect>());
      take(made, searched);
    }
  }

  const ConfigurationChooser &chooser;
  const SpaceRequest &request;
  conversion::DispatchCalls calls;
  llvm::StringMap<ConfiguredDispatch> configured;
};

//===----------------------------------------------------------------------===//
// What the solver is asked
//===----------------------------------------------------------------------===//

tune::LegalCount countLegal(const tune::Space &space, const SpaceRequest &request) {
#ifdef TW_WITH_SOLVER
  return tune::Solver::count(space, size_t(request.countMost));
#else // enumerating takes about a microsecond a step
  constexpr size_t mostSteps = 1'000'000;
  return tune::countLegalPoints(space, size_t(request.countMost), mostSteps);
#endif
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string countText(tune::LegalCount count) {
  std::string number = fmt::format("{:.0f}", count.number);
  return count.isExact ? number : "at least " + number;
}

std::string quoted(const std::vector<std::string> &texts) {
  return texts.empty() ? "" : fmt::format("\"{}\"", fmt::join(texts, "\", \""));
}

/// As matchers of tuning specs are written.
std::string describe(const conversion::KernelFeatures &features) {
  std::string text = fmt::format(
      "  features {{kind = \"{}\", operations = [{}], dtypes = [{}], weight = {}, signature = "
      "\"{}\", number = {}}}\n  sizes",
      features.kind, quoted(features.operations), quoted(features.dtypes), features.isRhsWeight,
      features.signature, features.number);
  for (const auto &[name, range] : features.sizes)
    if (range.least == range.most)
      text += fmt::format(" \"{}\" {}", name, range.least);
    else
      text += fmt::format(" \"{}\" {} to {}", name, range.least, range.most);
  return text + "\n";
}

std::string describe(const KernelSpace &kernel, const SpaceRequest &request) {
  std::string text = fmt::format("{}: {}, {} x\n", kernel.kernel, kernel.ops, kernel.calls);
  if (!kernel.source.empty())
    text += fmt::format("  {}\n", kernel.source);
  if (kernel.bound.most > 0)
    text += fmt::format("  the variant for sizes up to {}\n", kernel.bound.most);
  if (kernel.bound.workers > 0)
    text += fmt::format("  the variant for {} workers or more\n", kernel.bound.workers);
  text += describe(kernel.features);
  text += fmt::format("  {} knobs\n", kernel.space.knobs.size());
  for (const tune::Knob &knob : kernel.space.knobs)
    text += fmt::format("    {} = {}, of {}: {}\n", knob.name, kernel.point.at(knob.name),
                        fmt::join(knob.values, " "), knob.meaning);
  text += fmt::format("  {} constraints\n", kernel.space.constraints.size());
  for (const kernels::Constraint &constraint : kernel.space.constraints)
    text += fmt::format("    {} <= {}{}{}\n", constraint.lessText, constraint.moreText,
                        constraint.reason.empty() ? "" : ": ", constraint.reason);
  if (request.countMost > 0)
    text += fmt::format("  {} legal points\n", countText(countLegal(kernel.space, request)));
  return text;
}

/// A member of an open object: the values that differ from those of the kernel now.
void writeValues(JsonWriter &json, const Point &point, const KernelSpace &kernel) {
  json.key("values").beginObject();
  for (const auto &[name, value] : point)
    if (auto now = kernel.point.find(name); now != kernel.point.end() && value != now->second)
      json.member(name, value);
  json.endObject();
}

void writePoint(JsonWriter &json, const CostedPoint &costed, const KernelSpace &kernel) {
  json.beginObject();
  if (costed.cost)
    json.member("cost", *costed.cost);
  writeValues(json, costed.point, kernel);
  json.endObject();
}

/// A member of an open object, as configuration files have it.
void writeBound(JsonWriter &json, VariantBound bound) {
  if (bound.workers > 0)
    json.member("workers_at_least", bound.workers);
  else
    json.member("at_most", bound.most);
}

/// Of which code of the kernel the space is, and what stands beside it.
void writeCode(JsonWriter &json, const KernelSpace &kernel) {
  if (kernel.callSize)
    json.member("size", *kernel.callSize);
  if (!kernel.bound.isForAll()) {
    writeBound(json.key("variant").beginObject(), kernel.bound);
    json.endObject();
  }
  writePoint(json.key("own"), {kernel.own.symbols(), {}}, kernel);
  json.key("variants").beginArray();
  for (const Variant &variant : kernel.variants) {
    writeBound(json.beginObject(), variant.bound);
    writeValues(json, variant.configuration.symbols(), kernel);
    json.endObject();
  }
  json.endArray().member("given_variants", kernel.areVariantsGiven);
  json.member("is_chosen", kernel.isChosen);
}

void writePoints(JsonWriter &json, const std::vector<CostedPoint> &points,
                 const KernelSpace &kernel) {
  json.key("points").beginArray();
  for (const CostedPoint &point : points)
    writePoint(json, point, kernel);
  json.endArray();
}

void write(JsonWriter &json, const conversion::KernelFeatures &features) {
  auto writeAll = [&](const char *key, const std::vector<std::string> &texts) {
    json.key(key).beginArray();
    for (const std::string &text : texts)
      json.value(std::string_view(text));
    json.endArray();
  };
  json.beginObject();
  writeAll("operations", features.operations);
  writeAll("dtypes", features.dtypes);
  json.member("weight", features.isRhsWeight).key("sizes").beginObject();
  for (const auto &[name, range] : features.sizes)
    json.key(name).beginArray().value(range.least).value(range.most).endArray();
  json.endObject().endObject();
}

void writeKnobs(JsonWriter &json, const KernelSpace &kernel) {
  kernels::Numbers ofTarget = kernel.configuration.targetFields.symbols();
  json.key("knobs").beginArray();
  for (const tune::Knob &knob : kernel.space.knobs) {
    json.beginObject().member("name", std::string_view(knob.name));
    if (knob.element) {
      json.member("list", std::string_view(knob.element->list));
      json.member("index", int64_t(knob.element->index));
    }
    json.member("value", kernel.point.at(knob.name)).key("values").beginArray();
    for (int64_t value : knob.values)
      json.value(value);
    json.endArray().member("of_target", ofTarget.contains(knob.name));
    json.member("meaning", std::string_view(knob.meaning)).endObject();
  }
  json.endArray();
}

void write(JsonWriter &json, const KernelSpace &kernel, const ConfigurationProblem &problem,
           const ConfigurationChooser &chooser, const SpaceRequest &request) {
  json.beginObject().member("kernel", std::string_view(kernel.kernel));
  json.member("signature", std::string_view(kernel.signature));
  json.member("number", int64_t(kernel.number)).member("calls", kernel.calls);
  json.member("ops", std::string_view(kernel.ops));
  json.member("source", std::string_view(kernel.source));
  json.member("kind", std::string_view(kernel.configuration.kind));
  json.member("target", std::string_view(kernel.configuration.target));
  writeCode(json, kernel);
  write(json.key("features"), kernel.features);
  if (auto cost = chooser.cost(problem, kernel.configuration))
    json.member("cost", *cost);
  writeKnobs(json, kernel);
  json.key("constraints").beginArray();
  for (const kernels::Constraint &constraint : kernel.space.constraints) {
    json.beginObject().member("less", std::string_view(constraint.lessText));
    json.member("more", std::string_view(constraint.moreText));
    json.member("reason", std::string_view(constraint.reason)).endObject();
  }
  json.endArray();
  writePoint(json.key("chosen"), {kernel.chosen, {}}, kernel);
  if (request.countMost > 0) {
    tune::LegalCount count = countLegal(kernel.space, request);
    json.key("legal").beginObject().member("points", count.number);
    json.member("exact", count.isExact).endObject();
  }
  if (request.enumerateMost > 0) {
    EnumeratedSpace all = enumerateSpace(kernel, problem, chooser, request);
    json.key("enumerated").beginObject().member("legal", all.legal);
    json.member("complete", all.isComplete).member("within", all.within).endObject();
    writePoints(json, all.points, kernel);
  } else if (request.pointsMost > 0) {
    writePoints(json, pointsToTry(kernel, problem, chooser, request), kernel);
  }
  json.endObject();
}

} // namespace

Result<std::string> describeSpaces(ModuleOp module, const ConfigurationChooser &chooser,
                                   const SpaceRequest &request) {
  std::string text;
  JsonWriter json;
  json.beginObject().key("spaces").beginArray();
  std::vector<std::string> names;
  bool isFound = request.kernel.empty();
  Spaces(module, chooser, request)
      .forEach([&](KernelSpace &kernel, const ConfigurationProblem &problem) {
        names.push_back(kernel.kernel);
        if (!request.kernel.empty() && request.kernel != kernel.kernel)
          return;
        isFound = true;
        for (tune::Knob &knob : kernel.space.knobs)
          if (!request.knobs.empty() && !llvm::is_contained(request.knobs, knob.name))
            knob.values = {kernel.point.at(knob.name)};
        if (request.isJson)
          write(json, kernel, problem, chooser, request);
        else if (request.isSmtLib)
          text += fmt::format("; {}: {}\n(push 1)\n{}(check-sat)\n(pop 1)\n", kernel.kernel,
                              kernel.ops, tune::smtLib(kernel.space));
        else
          text += describe(kernel, request);
      });
  if (!isFound)
    return Diagnostic{
        Code::DRIVER_1,
        fmt::format("no kernel of the model that has a configuration is called {}", request.kernel),
        {},
        {},
        fmt::format("its kernels are {}", fmt::join(names, ", "))};
  return request.isJson ? json.endArray().endObject().text() + "\n" : text;
}

} // namespace tw
