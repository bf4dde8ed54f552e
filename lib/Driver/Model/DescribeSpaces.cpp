// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/DescribeSpaces.h"
#include "Driver/Model/PointsToTry.h"
#include "IO/Formats/JsonWriter.h"
#include "Support/Counted.h"
#include "Tune/SmtLib.h"
#ifdef TW_WITH_SOLVER
#include "Tune/Solver.h"
#endif
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

using namespace mlir;

namespace tw {
using conversion::ConfigurationChooser;
using conversion::ConfigurationProblem;
using conversion::Variant;
using conversion::VariantBound;
using tune::Point;

namespace {

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
  std::string points = counted(fmt::format("{:.0f}", count.number), "legal point");
  return count.isExact ? points : "at least " + points;
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
  text += fmt::format("  {}\n", counted(kernel.space.knobs.size(), "knob"));
  for (const tune::Knob &knob : kernel.space.knobs)
    text += fmt::format("    {} = {}, of {}: {}\n", knob.name, kernel.point.at(knob.name),
                        fmt::join(knob.values, " "), knob.meaning);
  text += fmt::format("  {}\n", counted(kernel.space.constraints.size(), "constraint"));
  for (const kernels::Constraint &constraint : kernel.space.constraints)
    text += fmt::format("    {} <= {}{}{}\n", constraint.lessText, constraint.moreText,
                        constraint.reason.empty() ? "" : ": ", constraint.reason);
  if (request.countMost > 0)
    text += fmt::format("  {}\n", countText(countLegal(kernel.space, request)));
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

void writeAll(JsonWriter &json, const char *key, const std::vector<std::string> &texts) {
  json.key(key).beginArray();
  for (const std::string &text : texts)
    json.value(std::string_view(text));
  json.endArray();
}

void write(JsonWriter &json, const conversion::KernelFeatures &features) {
  json.beginObject();
  writeAll(json, "operations", features.operations);
  writeAll(json, "dtypes", features.dtypes);
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
  writeAll(json, "operators", kernel.operators);
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
  std::set<std::string> knobs;
  bool isFound = request.kernel.empty();
  forEachSpace(module, chooser, request,
               [&](KernelSpace &kernel, const ConfigurationProblem &problem) {
                 names.push_back(kernel.kernel);
                 if (!request.kernel.empty() && request.kernel != kernel.kernel)
                   return;
                 isFound = true;
                 for (tune::Knob &knob : kernel.space.knobs) {
                   knobs.insert(knob.name);
                   if (!request.knobs.empty() && !llvm::is_contained(request.knobs, knob.name))
                     knob.values = {kernel.point.at(knob.name)};
                 }
                 if (request.isJson)
                   write(json, kernel, problem, chooser, request);
                 else if (request.isSmtLib)
                   text += fmt::format("; {}: {}\n(push 1)\n{}(check-sat)\n(pop 1)\n",
                                       kernel.kernel, kernel.ops, tune::smtLib(kernel.space));
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
  for (const std::string &knob : request.knobs)
    if (!knobs.contains(knob))
      return Diagnostic{
          Code::DRIVER_1,
          request.kernel.empty()
              ? fmt::format("no kernel of the model has a knob that is called {}", knob)
              : fmt::format("the kernel {} has no knob that is called {}", request.kernel, knob),
          {},
          {},
          fmt::format("{} knobs are {}", request.kernel.empty() ? "their" : "its",
                      fmt::join(knobs, ", "))};
  return request.isJson ? json.endArray().endObject().text() + "\n" : text;
}

} // namespace tw
