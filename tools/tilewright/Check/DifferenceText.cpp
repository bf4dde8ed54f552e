// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What compareDispatches has found, for people and as JSON.
#include "FirstDifference.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

namespace tw::cli {

static constexpr size_t mostNames = 8, fewElements = 3;

/// `12 "linear+1"`.
static std::string nameOf(const rt::Metadata &metadata, int32_t dispatch) {
  return fmt::format("{} \"{}\"", dispatch, metadata.dispatches[dispatch].name);
}

static std::string namesOf(const rt::Metadata &metadata, const std::vector<int32_t> &dispatches) {
  std::string text;
  for (size_t i = 0; i < std::min(dispatches.size(), mostNames); ++i)
    text += (i ? ", " : "") + nameOf(metadata, dispatches[i]);
  if (dispatches.size() > mostNames)
    text += fmt::format(" and {} more", dispatches.size() - mostNames);
  return text;
}

/// Dispatches whose kernels the interpreter does otherwise.
static std::vector<int32_t> kernelsThatDiffer(const DispatchComparison &found) {
  std::vector<int32_t> dispatches;
  for (const KernelDifference &kernel : found.kernels)
    if (dispatches.empty() || dispatches.back() != kernel.dispatch)
      dispatches.push_back(kernel.dispatch);
  return dispatches;
}

std::string summary(const DispatchComparison &found, const CheckedProgram &compiled) {
  size_t differing = found.others.size() + (found.first ? 1 : 0);
  std::string within = found.within.empty() ? ""
                                            : fmt::format("; {} compared within what reads them",
                                                          found.within.size());
  std::string text = fmt::format("dispatches: {} compared, of which {} differ{}; {} not compared",
                                 found.compared.size(), differing, within, found.unknown.size());
  for (const auto &[dispatch, why] : found.unknown)
    text +=
        fmt::format("\ndispatch {} is not compared: {}", nameOf(compiled.metadata, dispatch), why);
  if (found.interpreted > 0 || !found.notInterpreted.empty())
    text += fmt::format("\nkernels: {} interpreted, of which {} differ; {} not interpreted",
                        found.interpreted, kernelsThatDiffer(found).size(),
                        found.notInterpreted.size());
  for (const auto &[dispatch, why] : found.notInterpreted)
    text += fmt::format("\nkernel {} is not interpreted: {}",
                        compiled.metadata.dispatches[dispatch].kernel, why);
  return text + "\n";
}

static void addDifference(Diagnostic &error, const DispatchDifference &first,
                          const CheckedProgram &compiled, const CheckedProgram &reference) {
  const rt::DispatchInfo &dispatch = compiled.metadata.dispatches[first.dispatch];
  const rt::DispatchInfo &origin = reference.metadata.dispatches[first.origin];
  error.message = fmt::format("dispatch {} is the first that differs from the reference target",
                              nameOf(compiled.metadata, first.dispatch));
  error.location = dispatch.source;
  error.notes.push_back(
      fmt::format("it runs kernel {}{}{}", dispatch.kernel,
                  dispatch.ops.empty() ? "" : ", which computes: ", dispatch.ops));
  if (!origin.source.empty())
    error.notes.push_back(fmt::format("its result is the value of {}", origin.source));
  error.notes.push_back(first.found.text());
  error.notes.push_back(fmt::format("allowed is {:g} relative plus {:g} absolute",
                                    first.found.tolerance.rtol, first.found.tolerance.atol));
  for (const DifferingElement &element : first.worst)
    error.notes.push_back(fmt::format("[{}]: {}, expected {}", fmt::join(element.index, ", "),
                                      element.actual, element.expected));
  if (first.isAsInterpreted)
    error.notes.push_back(
        *first.isAsInterpreted
            ? "the interpreter computes the same from its kernel: the kernel is wrong, not its code"
            : "the interpreter computes something else from its kernel: the code is wrong");
  if (first.round > 0)
    error.notes.push_back(
        fmt::format("when it ran for the {}th time in the call", first.round + 1));
  if (!first.unknown.empty())
    error.notes.push_back(
        fmt::format("it read results that are no values of the model, such as parts of sums, so "
                    "these may be wrong instead: of dispatch {}",
                    namesOf(compiled.metadata, first.unknown)));
}

Diagnostic describe(const DispatchComparison &found, const CheckedProgram &compiled,
                    const CheckedProgram &reference) {
  Diagnostic error{Code::CLI_10, "no dispatch differs by itself from the reference target"};
  if (found.first)
    addDifference(error, *found.first, compiled, reference);
  else
    error.notes.push_back("given the reference's values, each gives the reference's results: what "
                          "differs adds up from dispatch to dispatch, or comes from what is not "
                          "compared, or from what both targets share");
  for (const KernelDifference &kernel : found.kernels) {
    error.notes.push_back(fmt::format(
        "kernel {} as dispatch {} calls it gives another result {} than the interpreter: {}",
        compiled.metadata.dispatches[kernel.dispatch].kernel,
        nameOf(compiled.metadata, kernel.dispatch), kernel.result, kernel.found.text()));
    bool isShown = found.first && found.first->dispatch == kernel.dispatch;
    for (const DifferingElement &element :
         std::span(kernel.worst).first(isShown ? 0 : std::min(kernel.worst.size(), fewElements)))
      error.notes.push_back(fmt::format("[{}]: {}, interpreted {}", fmt::join(element.index, ", "),
                                        element.actual, element.expected));
  }
  if (!found.others.empty())
    error.notes.push_back(
        fmt::format("others that differ: {}", namesOf(compiled.metadata, found.others)));
  std::istringstream counts(summary(found, compiled));
  for (std::string line; std::getline(counts, line);)
    error.notes.push_back(line);
  if (found.first)
    error.help =
        "tilewright compile MODEL --dump-to=DIR writes what its kernel does to DIR/kernels";
  return error;
}

static void writeElements(JsonWriter &json, const std::vector<DifferingElement> &worst) {
  json.key("worst").beginArray();
  for (const DifferingElement &element : worst) {
    json.beginObject().key("index").beginArray();
    for (int64_t i : element.index)
      json.value(i);
    json.endArray().member("actual", element.actual).member("expected", element.expected);
    json.endObject();
  }
  json.endArray();
}

/// What the interpreter made of kernels.
static void writeKernels(JsonWriter &json, const DispatchComparison &found,
                         const CheckedProgram &compiled) {
  auto kernelOf = [&](int32_t dispatch) { return compiled.metadata.dispatches[dispatch].kernel; };
  json.member("interpreted", found.interpreted).key("not_interpreted").beginArray();
  for (const auto &[dispatch, why] : found.notInterpreted)
    json.beginObject().member("kernel", kernelOf(dispatch)).member("reason", why).endObject();
  json.endArray().key("kernels").beginArray();
  for (const KernelDifference &kernel : found.kernels) {
    json.beginObject().member("kernel", kernelOf(kernel.dispatch));
    json.member("dispatch", kernel.dispatch).member("result", static_cast<int64_t>(kernel.result));
    writeElements(json, kernel.worst);
    json.endObject();
  }
  json.endArray();
}

void writeJson(JsonWriter &json, const DispatchComparison &found, const CheckedProgram &compiled,
               const CheckedProgram &reference) {
  json.beginObject();
  if (const auto &first = found.first) {
    const rt::DispatchInfo &dispatch = compiled.metadata.dispatches[first->dispatch];
    const rt::DispatchInfo &origin = reference.metadata.dispatches[first->origin];
    json.key("first").beginObject().member("dispatch", first->dispatch);
    json.member("name", dispatch.name).member("kernel", dispatch.kernel);
    json.member("ops", dispatch.ops).member("source", dispatch.source);
    json.member("call", static_cast<int64_t>(first->call)).member("round", first->round);
    json.member("value", origin.source);
    json.member("mismatches", first->found.mismatches).member("elements", first->found.count);
    if (first->isAsInterpreted)
      json.member("as_interpreted", *first->isAsInterpreted);
    writeElements(json, first->worst);
    json.endObject();
  }
  for (auto [name, list] : {std::pair("others", &found.others),
                            {"compared", &found.compared},
                            {"compared_within", &found.within}}) {
    json.key(name).beginArray();
    for (int32_t dispatch : *list)
      json.value(dispatch);
    json.endArray();
  }
  json.key("not_compared").beginArray();
  for (const auto &[dispatch, why] : found.unknown)
    json.beginObject().member("dispatch", dispatch).member("reason", why).endObject();
  json.endArray();
  writeKernels(json, found, compiled);
  json.endObject();
}

} // namespace tw::cli
