// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright bench MODEL|OUT.so --input=SPEC ...: what one call costs, in time and memory.
#include "Commands.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Machine.h"
#include "tools/tilewright/Program/Measure.h"
#include "tools/tilewright/Program/Program.h"
#include "tools/tilewright/Program/Values.h"
#include "tools/tilewright/Statistics.h"
#include <CLI/CLI.hpp>
#include <cmath>
#include <fmt/format.h>
#include <memory>

namespace tw::cli {

namespace {

struct BenchOptions {
  ModelOptions model;
  CallArguments call;
  MeasureOptions measure;
  std::string device;
  bool json = false, noGraphs = false;
};

struct Measurement {
  Statistics time; // in us
  int threads = 0, dispatches = 0;
  tw_memory_info memory = {};
  tw_graph_info graphs = {};
  std::string launchedBecause; // graphs.reason
  int64_t resident = 0, weights = 0;
};

Result<Measurement> measureProgram(const tw_program *program, const Call &call,
                                   const BenchOptions &options) {
  TW_ASSIGN(std::vector<HostTensor> inputs, readInputs(interfaceOf(program), call.inputs));
  TW_ASSIGN(InstancePtr instance,
            createInstance(program, options.measure.threads, !options.noGraphs));
  Measurement result;
  // After the first calls, which need all that others do: times of calls are kept, too, and are not
  // the program's.
  auto warm = [&] {
    result.resident = peakResident();
    return Status();
  };
  TW_ASSIGN(std::vector<double> times,
            measureCalls(program, instance.get(), inputs, options.measure, {warm, {}}));
  result.time = statistics(std::move(times));
  result.threads = tw_instance_threads(instance.get());
  result.dispatches = tw_program_describe(program)->dispatch_count;
  result.memory = tw_instance_memory(instance.get());
  result.graphs = tw_instance_graphs(instance.get());
  result.launchedBecause = result.graphs.reason;
  result.weights = tw_program_describe(program)->weight_bytes;
  return result;
}

/// How calls came to a GPU.
std::string graphText(const Measurement &m) {
  if (m.graphs.calls == 0)
    return "";
  if (m.launchedBecause.empty())
    return "graph       a call is one CUDA graph\n";
  return fmt::format("graph       none, work is launched piece by piece: {}\n", m.launchedBecause);
}

std::string resultText(const Measurement &m) {
  return fmt::format("time        median {:.1f} us, p10 {:.1f}, p90 {:.1f}, min {:.1f} ({} calls, "
                     "{} threads)\n"
                     "temporaries {}; lower bound of any plan {}\n"
                     "weights     {}\n"
                     "resident    {} at the peak, including the tool\n"
                     "dispatches  {}\n{}",
                     m.time.median, m.time.p10, m.time.p90, m.time.min, m.time.count, m.threads,
                     bytesText(m.memory.arena_bytes), bytesText(m.memory.arena_bound_bytes),
                     bytesText(m.weights), bytesText(m.resident), m.dispatches, graphText(m));
}

std::string resultJson(const Measurement &m) {
  JsonWriter json;
  auto nanoseconds = [](double us) { return std::round(us * 1000) / 1000; };
  json.beginObject().member("median_us", nanoseconds(m.time.median));
  json.member("p10_us", nanoseconds(m.time.p10)).member("p90_us", nanoseconds(m.time.p90));
  json.member("min_us", nanoseconds(m.time.min)).member("calls", m.time.count);
  json.member("threads", m.threads).member("dispatches", m.dispatches);
  json.member("planned_peak_bytes", m.memory.arena_bytes);
  json.member("planned_bound_bytes", m.memory.arena_bound_bytes);
  json.member("reserved_bytes", m.memory.reserved_bytes);
  json.member("resident_peak_bytes", m.resident).member("weight_bytes", m.weights);
  if (m.graphs.calls > 0) {
    json.member("is_graph", m.launchedBecause.empty());
    json.member("why_no_graph", m.launchedBecause);
  }
  return json.endObject().text() + "\n";
}

int bench(const BenchOptions &options) {
  auto call = parseCall(options.call);
  TW_TRY_CLI(call);
  ProgramPtr program;
  if (int status = openProgram(options.model, options.device, program))
    return status;
  auto measured = measureProgram(program.get(), *call, options);
  TW_TRY_CLI(measured);
  TW_TRY_CLI(writeResults(options.json ? resultJson(*measured) : resultText(*measured)));
  return 0;
}

} // namespace

void addBench(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *command = app.add_subcommand("bench", "measure time and memory of one call");
  options->model.addTo(*command);
  options->model.addVerifyTo(*command);
  options->call.addInputsTo(*command);
  options->measure.addTo(*command);
  addDeviceOption(*command, options->device);
  addNoGraphsOption(*command, options->noGraphs);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return bench(*options); }; });
}

} // namespace tw::cli
