// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelBounds.h"
#include "../Machine.h"
#include "IO/Formats/Json.h"
#include "IO/Formats/JsonWriter.h"
#include "Support/ChildProcess.h"
#include "tools/tilewright/Profile/Profile.h"
#include "tools/tilewright/Program/Measure.h"
#include "tools/tilewright/Program/Program.h"
#include "tools/tilewright/Program/Values.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace tw::cli {
using Bounds = std::map<std::vector<std::string>, double>;

static Result<Bounds> boundsHere(const std::string &artifact, const KnownCall &call, int threads) {
  ProgramPtr program;
  TW_TRY(loadArtifact(artifact, "", /*verify=*/false, program));
  TW_ASSIGN(InstancePtr instance, createInstance(program.get(), threads));
  TW_ASSIGN(std::vector<HostTensor> inputs, copyOf(call.inputs));
  const auto &dispatches = rt::metadataOf(program.get()).dispatches;
  Recording recording(dispatches.size());
  TW_TRY(recording.start(instance.get(), /*hasThreads=*/false));
  TW_ASSIGN(double us, timeOnce(instance.get(), inputs, nullptr));
  TW_TRY(recording.stop());
  std::vector<tw_tensor> tensors;
  for (HostTensor &input : inputs)
    tensors.push_back(toRuntime(input));
  RooflineSampler limits(program.get(), instance.get());
  limits.sample();
  TW_ASSIGN(Profile profile, makeProfile(program.get(), instance.get(), tensors, recording,
                                         statistics({us}), limits.found()));
  Bounds bounds;
  for (size_t i = 0; i < dispatches.size(); ++i) {
    const ProfileRow &row = profile.dispatches[i];
    if (row.calls == 0)
      continue;
    std::vector<std::string> kernels = dispatches[i].configured;
    if (kernels.empty())
      kernels.push_back(dispatches[i].kernel);
    // NaN: not known of one of them.
    bounds[std::move(kernels)] += row.boundUs.value_or(std::nan(""));
  }
  std::erase_if(bounds, [](const auto &each) { return std::isnan(each.second); });
  return bounds;
}

static std::string answerOf(const Result<Bounds> &bounds) {
  JsonWriter json;
  json.beginArray();
  for (const auto &[kernels, us] : bounds ? *bounds : Bounds()) {
    json.beginObject().key("kernels").beginArray();
    for (const std::string &name : kernels)
      json.value(std::string_view(name));
    json.endArray().member("us", us).endObject();
  }
  return json.endArray().text();
}

static Result<Bounds> readBounds(const std::string &answer) {
  TW_ASSIGN(JsonDocument document, JsonDocument::parse(answer, "a program's bounds"));
  Bounds bounds;
  TW_TRY(document.root().forEach([&](const Json &each) -> Status {
    TW_ASSIGN(Json names, each.get("kernels"));
    TW_ASSIGN(std::vector<std::string> kernels, names.strings());
    TW_ASSIGN(Json us, each.get("us"));
    TW_ASSIGN(bounds[std::move(kernels)], us.number());
    return {};
  }));
  return bounds;
}

Result<Bounds> boundsOf(const std::string &artifact, const KnownCall &call,
                        const TrialOptions &options) {
  ChildLimits limits;
  limits.seconds = options.seconds;
  auto end = runInChild(limits, [&] {
    if (!options.cores.empty())
      stayOn(options.cores);
    return answerOf(boundsHere(artifact, call, options.threads));
  });
  if (!end)
    return Diagnostic{
        Code::SYSTEM_5,
        fmt::format("no process can be started to look at the limits: {}", std::strerror(errno))};
  if (end->answer)
    if (auto bounds = readBounds(*end->answer))
      return bounds;
  return Bounds(); // a report without them is one, too
}

std::optional<double> boundOf(const Bounds &bounds, const std::string &kernel) {
  std::optional<double> sum;
  for (const auto &[kernels, us] : bounds)
    if (std::ranges::find(kernels, kernel) != kernels.end())
      sum = sum.value_or(0) + us;
  return sum;
}

} // namespace tw::cli
