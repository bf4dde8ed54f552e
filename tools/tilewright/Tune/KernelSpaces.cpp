// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelSpaces.h"
#include "../Failure.h"
#include "IO/File.h"
#include "IO/Formats/Json.h"
#include "IO/OutputFile.h"
#include "runtime/Instance/CalledCode.h"
#include "tools/tilewright/Compiler/CompilerLibrary.h"
#include "tools/tilewright/Compiler/CompilerSink.h"
#include "tools/tilewright/Compiler/RunIsolated.h"
#include "tools/tilewright/Program/Values.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tw::cli {
using tune::Candidate;
using tune::Knob;
using tune::Point;

std::string VariantBound::text() const {
  auto [name, number] = field();
  return isForAll() ? "" : fmt::format(", {} {}", name, number);
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

Result<TunedCall> tunedCall(const rt::Metadata &program, std::span<HostTensor> inputs,
                            int workers) {
  std::vector<tw_tensor> tensors;
  for (HostTensor &input : inputs)
    tensors.push_back(toRuntime(input));
  TW_ASSIGN(std::vector<rt::CalledCode> code, rt::codeOfCall(program, tensors, workers));
  if (program.device) // variants of its kernels are not searched
    return TunedCall();
  TunedCall call{workers, false, {}};
  for (size_t i = 0; i < code.size(); ++i)
    if (auto size = code[i].variantSize) {
      int64_t &known = call.sizes[program.dispatches[i].configuredAs()];
      known = std::max(known, *size); // of several calls the longest
    }
  return call;
}

/// In the child process of runIsolated: writes the answer to `file`.
static int askHere(const ModelOptions &model, const SpaceQuery &query, const std::string &file) {
  auto library = CompilerLibrary::load();
  TW_TRY_CLI(library);
  CompilerSink listener;
  tilewright_sink sink = listener.sink();
  std::vector<const char *> paths;
  tilewright_compile_options compile = compileRequest(model, "", paths);
  tilewright_space_options request = {};
  request.struct_size = sizeof request;
  request.compile = &compile;
  request.format = query.format.c_str();
  request.kernel = query.kernel.c_str();
  request.count_most = query.countMost;
  request.points_most = query.pointsMost;
  request.samples = query.samples;
  request.seed = query.seed;
  request.enumerate_most = query.enumerateMost;
  std::vector<const char *> knobs;
  for (const std::string &knob : query.knobs)
    knobs.push_back(knob.c_str());
  request.knobs = knobs.data();
  request.knob_count = knobs.size();
  std::vector<const char *> sized;
  std::vector<int64_t> sizes;
  for (const auto &[kernel, size] : query.call.sizes) {
    sized.push_back(kernel.c_str());
    sizes.push_back(size);
  }
  request.workers = query.call.workers;
  request.adds_for_workers = query.call.addsForWorkers;
  request.sized_kernels = sized.data();
  request.sizes = sizes.data();
  request.sized_kernel_count = sized.size();
  request.cost_within = std::isfinite(query.costWithin) ? query.costWithin : 0;
  tilewright_outcome outcome = library->configurationSpaces(&request, &sink, &listener);
  listener.progress.clear();
  if (outcome != TILEWRIGHT_FINE)
    return outcome;
  std::span<const std::byte> bytes = asBytes(listener.report);
  TW_TRY_CLI(writeFile(file, std::span(&bytes, 1)));
  return 0;
}

int describeSpaces(const ModelOptions &model, const SpaceQuery &query,
                   const TemporaryFolder &folder, std::string &text) {
  std::string file = folder.path() + "/spaces";
  auto outcome = runIsolated(
      "looking at " + model.model, [&] { return askHere(model, query, file); }, &folder);
  TW_TRY_CLI(outcome);
  if (*outcome != 0)
    return *outcome;
  auto answer = MappedFile::open(file);
  TW_TRY_CLI(answer);
  text = answer->text();
  return 0;
}

std::string changesText(const TunableKernel &kernel, const tune::Point &point) {
  std::string text;
  for (const auto &[name, value] : point)
    if (int64_t before = kernel.start.point.at(name); before != value)
      text += fmt::format(" {} {}->{}", name, before, value);
  return text;
}

//===----------------------------------------------------------------------===//
// Which kernels
//===----------------------------------------------------------------------===//

static bool computes(const TunableKernel &kernel, const std::string &name) {
  return std::ranges::find(kernel.operators, name) != kernel.operators.end();
}

bool KernelFilter::takes(const TunableKernel &kernel) const {
  return (kernels.empty() || std::ranges::find(kernels, kernel.name) != kernels.end()) &&
         (operators.empty() || std::ranges::any_of(operators, [&](const std::string &name) {
            return computes(kernel, name);
          }));
}

Status KernelFilter::check(const std::vector<TunableKernel> &known) const {
  std::vector<std::string> names;
  for (const TunableKernel &kernel : known)
    names.push_back(fmt::format("{} ({})", kernel.name, kernel.ops));
  auto check = [&](const std::vector<std::string> &wanted, const char *option, auto has) -> Status {
    for (const std::string &name : wanted)
      if (std::ranges::none_of(known, [&](const TunableKernel &k) { return has(k, name); }))
        return Diagnostic{Code::CLI_1,
                          fmt::format("{}={} is none of the model's kernels", option, name),
                          {},
                          {},
                          fmt::format("its kernels are {}", fmt::join(names, "; "))};
    return {};
  };
  TW_TRY(check(kernels, "--kernel",
               [](const TunableKernel &k, const std::string &name) { return k.name == name; }));
  return check(operators, "--dispatch", computes);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Status readText(const Json &object, std::string_view key, std::string &text) {
  TW_ASSIGN(Json member, object.get(key));
  TW_ASSIGN(std::string_view value, member.string());
  text = value;
  return {};
}

static Status readKnob(const Json &object, TunableKernel &kernel) {
  Knob &knob = kernel.space.knobs.emplace_back();
  TW_TRY(readText(object, "name", knob.name));
  TW_TRY(readText(object, "meaning", knob.meaning));
  if (object.find("list")) {
    knob.element.emplace();
    TW_TRY(readText(object, "list", knob.element->list));
    TW_ASSIGN(Json index, object.get("index"));
    TW_ASSIGN(knob.element->index, index.integer());
  }
  TW_ASSIGN(Json value, object.get("value"));
  TW_ASSIGN(kernel.start.point[knob.name], value.integer());
  TW_ASSIGN(Json ofTarget, object.get("of_target"));
  TW_ASSIGN(kernel.isOfTarget[knob.name], ofTarget.boolean());
  TW_ASSIGN(Json values, object.get("values"));
  return values.forEach([&](const Json &each) -> Status {
    TW_ASSIGN(int64_t number, each.integer());
    knob.values.push_back(number);
    return {};
  });
}

static Status readConstraint(const Json &object, TunableKernel &kernel) {
  std::string less, more, reason;
  TW_TRY(readText(object, "less", less));
  TW_TRY(readText(object, "more", more));
  TW_TRY(readText(object, "reason", reason));
  kernel.space.constraints.emplace_back(less, more, reason);
  return {};
}

/// A point is described by the values in which it differs from the start.
static Status readPoint(const Json &object, const Point &start, Candidate &candidate) {
  candidate.point = start;
  if (auto cost = object.find("cost")) {
    TW_ASSIGN(candidate.cost, cost->number());
  }
  TW_ASSIGN(Json values, object.get("values"));
  return values.forEachMember([&](std::string_view name, const Json &value) -> Status {
    TW_ASSIGN(candidate.point[std::string(name)], value.integer());
    return {};
  });
}

static Status readTexts(const Json &object, std::string_view key, std::vector<std::string> &texts) {
  TW_ASSIGN(Json list, object.get(key));
  TW_ASSIGN(texts, list.strings());
  return {};
}

static Status readFeatures(const Json &kernelObject, TunableKernel &kernel) {
  TW_ASSIGN(Json object, kernelObject.get("features"));
  TW_TRY(readTexts(object, "operations", kernel.operations));
  TW_TRY(readTexts(object, "dtypes", kernel.dtypes));
  TW_ASSIGN(Json weight, object.get("weight"));
  TW_ASSIGN(kernel.isRhsWeight, weight.boolean());
  TW_ASSIGN(Json sizes, object.get("sizes"));
  return sizes.forEachMember([&](std::string_view name, const Json &range) -> Status {
    std::vector<int64_t> ends;
    TW_TRY(range.forEach([&](const Json &each) -> Status {
      TW_ASSIGN(int64_t end, each.integer());
      ends.push_back(end);
      return {};
    }));
    if (ends.size() == 2)
      kernel.sizes[std::string(name)] = {ends[0], ends[1]};
    return {};
  });
}

static Status readEnumerated(const Json &kernelObject, TunableKernel &kernel) {
  auto object = kernelObject.find("enumerated");
  if (!object)
    return {};
  TunableKernel::Enumerated &made = kernel.enumerated.emplace();
  TW_ASSIGN(Json legal, object->get("legal"));
  TW_ASSIGN(made.legal, legal.integer());
  TW_ASSIGN(Json complete, object->get("complete"));
  TW_ASSIGN(made.isComplete, complete.boolean());
  TW_ASSIGN(Json within, object->get("within"));
  TW_ASSIGN(made.within, within.integer());
  return {};
}

static Result<VariantBound> readBound(const Json &object) {
  VariantBound bound;
  if (auto most = object.find("at_most")) {
    TW_ASSIGN(bound.atMost, most->integer());
  } else {
    TW_ASSIGN(Json workers, object.get("workers_at_least"));
    TW_ASSIGN(bound.workersAtLeast, workers.integer());
  }
  return bound;
}

static Status readCode(const Json &object, TunableKernel &kernel) {
  const Point &start = kernel.start.point;
  if (auto size = object.find("size")) {
    TW_ASSIGN(kernel.callSize, size->integer());
  }
  if (auto variant = object.find("variant")) {
    TW_ASSIGN(kernel.bound, readBound(*variant));
  }
  Candidate own;
  TW_ASSIGN(Json values, object.get("own"));
  TW_TRY(readPoint(values, start, own));
  kernel.own = std::move(own.point);
  TW_ASSIGN(Json variants, object.get("variants"));
  TW_TRY(variants.forEach([&](const Json &each) -> Status {
    Candidate variant;
    TW_ASSIGN(VariantBound bound, readBound(each));
    TW_TRY(readPoint(each, start, variant));
    kernel.variants[bound] = std::move(variant.point);
    return {};
  }));
  TW_ASSIGN(Json given, object.get("given_variants"));
  TW_ASSIGN(kernel.areVariantsGiven, given.boolean());
  TW_ASSIGN(Json chosen, object.get("is_chosen"));
  TW_ASSIGN(kernel.isChosen, chosen.boolean());
  return {};
}

static Result<TunableKernel> readKernel(const Json &object) {
  TunableKernel kernel;
  for (auto [key, text] : {std::pair("kernel", &kernel.name),
                           {"signature", &kernel.signature},
                           {"ops", &kernel.ops},
                           {"source", &kernel.source},
                           {"kind", &kernel.kind},
                           {"target", &kernel.target}})
    TW_TRY(readText(object, key, *text));
  TW_ASSIGN(Json operators, object.get("operators"));
  TW_ASSIGN(kernel.operators, operators.strings());
  TW_TRY(readFeatures(object, kernel));
  TW_ASSIGN(Json number, object.get("number"));
  TW_ASSIGN(kernel.number, number.integer());
  TW_ASSIGN(Json calls, object.get("calls"));
  TW_ASSIGN(kernel.calls, calls.integer());
  if (auto cost = object.find("cost")) {
    TW_ASSIGN(kernel.start.cost, cost->number());
  }
  TW_ASSIGN(Json knobs, object.get("knobs"));
  TW_TRY(knobs.forEach([&](const Json &knob) { return readKnob(knob, kernel); }));
  TW_TRY(readCode(object, kernel));
  TW_ASSIGN(Json constraints, object.get("constraints"));
  TW_TRY(constraints.forEach([&](const Json &each) { return readConstraint(each, kernel); }));
  TW_TRY(readEnumerated(object, kernel));
  if (auto points = object.find("points"))
    TW_TRY(points->forEach([&](const Json &point) {
      return readPoint(point, kernel.start.point, kernel.points.emplace_back());
    }));
  Candidate chosen;
  TW_ASSIGN(Json choice, object.get("chosen"));
  TW_TRY(readPoint(choice, kernel.start.point, chosen));
  kernel.chosen = std::move(chosen.point);
  return kernel;
}

Result<std::vector<TunableKernel>> readSpaces(const std::string &json) {
  TW_ASSIGN(JsonDocument document, JsonDocument::parse(json, "configuration spaces"));
  TW_ASSIGN(Json spaces, document.root().get("spaces"));
  std::vector<TunableKernel> kernels;
  TW_TRY(spaces.forEach([&](const Json &object) -> Status {
    TW_ASSIGN(TunableKernel kernel, readKernel(object));
    kernels.push_back(std::move(kernel));
    return {};
  }));
  return kernels;
}

} // namespace tw::cli
