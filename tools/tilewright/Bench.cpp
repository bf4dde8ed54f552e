// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright bench MODEL|OUT.so --input=SPEC ...: what one call costs, in time and memory.
#include "Commands.h"
#include "Execute.h"
#include "Failure.h"
#include "Machine.h"
#include "Program.h"
#include "Statistics.h"
#include "Values.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <memory>

namespace tw::cli {

namespace {

struct BenchOptions {
  ModelOptions model;
  CallArguments call;
  std::string device, state = "reset";
  int threads = 0, repeat = 0;
  double minTime = 1;
  bool json = false;
};

struct Measurement {
  Statistics time; // in us
  int threads = 0, dispatches = 0;
  tw_memory_info memory = {};
  int64_t resident = 0, weights = 0;
};

using Clock = std::chrono::steady_clock;

/// What a call changes for the next one, put back: state, and inputs that the program writes to.
class Restore {
public:
  /// Of a program whose inputs are as they are now.
  Restore(const tw_program *program, std::span<const HostTensor> inputs) {
    for (int i = 0; const tw_value_info *state = tw_program_state(program, i); ++i)
      if (state->mutated)
        names.emplace_back(state->name);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (tw_program_input(program, static_cast<int32_t>(i))->mutated)
        values.emplace_back(i, std::vector(inputs[i].bytes().begin(), inputs[i].bytes().end()));
  }

  Status apply(tw_instance *instance, std::span<HostTensor> inputs) const {
    for (const std::string &name : names)
      TW_TRY(fromRuntime(tw_instance_state_reset(instance, name.c_str())));
    for (const auto &[input, bytes] : values)
      std::ranges::copy(bytes, inputs[input].bytes().begin());
    return {};
  }

private:
  std::vector<std::string> names;
  std::vector<std::pair<size_t, std::vector<std::byte>>> values; // of inputs
};

Result<double> timeOnce(tw_instance *instance, std::span<HostTensor> inputs,
                        const Restore *restore) {
  if (restore)
    TW_TRY(restore->apply(instance, inputs));
  auto start = Clock::now();
  TW_TRY(execute(instance, inputs));
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// Warms up for a tenth of the time (at least two calls), then measures: `repeat` calls, or else
/// for minTime seconds and at least ten calls.
Result<std::vector<double>> measure(tw_instance *instance, std::span<HostTensor> inputs,
                                    const Restore *restore, const BenchOptions &options) {
  double spent = 0;
  for (int i = 0; i < 2 || spent < options.minTime * 1e5; ++i) {
    TW_ASSIGN(double time, timeOnce(instance, inputs, restore));
    spent += time;
  }
  std::vector<double> times;
  spent = 0;
  auto goesOn = [&] {
    return options.repeat ? times.size() < static_cast<size_t>(options.repeat)
                          : times.size() < 10 || spent < options.minTime * 1e6;
  };
  while (goesOn()) {
    TW_ASSIGN(double time, timeOnce(instance, inputs, restore));
    spent += time;
    times.push_back(time);
  }
  return times;
}

Result<Measurement> measureProgram(const tw_program *program, const Call &call,
                                   const BenchOptions &options) {
  TW_ASSIGN(std::vector<HostTensor> inputs, readInputs(interfaceOf(program), call.inputs));
  TW_ASSIGN(InstancePtr instance, createInstance(program, options.threads));
  Restore restore(program, inputs);
  TW_ASSIGN(std::vector<double> times,
            measure(instance.get(), inputs, options.state == "keep" ? nullptr : &restore, options));
  Measurement result;
  result.time = statistics(std::move(times));
  result.threads = tw_instance_threads(instance.get());
  result.dispatches = tw_program_describe(program)->dispatch_count;
  result.memory = tw_instance_memory(instance.get());
  result.resident = peakResident();
  result.weights = tw_program_describe(program)->weight_bytes;
  return result;
}

std::string resultText(const Measurement &m) {
  return fmt::format("time        median {:.1f} us, p10 {:.1f}, p90 {:.1f}, min {:.1f} ({} calls, "
                     "{} threads)\n"
                     "temporaries {}; lower bound of any plan {}\n"
                     "weights     {}\n"
                     "resident    {} at the peak, including the tool\n"
                     "dispatches  {}\n",
                     m.time.median, m.time.p10, m.time.p90, m.time.min, m.time.count, m.threads,
                     bytesText(m.memory.arena_bytes), bytesText(m.memory.arena_bound_bytes),
                     bytesText(m.weights), bytesText(m.resident), m.dispatches);
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
  command
      ->add_option("--threads", options->threads,
                   "threads of a call; 0 (default): all cores that this process may use")
      ->check(CLI::Range(0, 1024));
  addDeviceOption(*command, options->device);
  command->add_option("--min-time", options->minTime, "measure for this many seconds (default 1)")
      ->check(CLI::Range(0.0, 3600.0));
  command->add_option("--repeat", options->repeat, "measure this many calls instead")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_flag("--json", options->json, "print one JSON object");
  command
      ->add_option(
          "--state", options->state,
          "reset (default): restore state and mutated inputs before each call, which is not "
          "timed; keep: carry them over from call to call")
      ->check(CLI::IsMember({"reset", "keep"}));
  command->callback(
      [options, &invocation] { invocation.action = [options] { return bench(*options); }; });
}

} // namespace tw::cli
