// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Measure.h"
#include "Execute.h"
#include "tools/tilewright/Failure.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>

namespace tw::cli {

using Clock = std::chrono::steady_clock;

Restore::Restore(const tw_program *program, std::span<const HostTensor> inputs) {
  for (int i = 0; const tw_value_info *state = tw_program_state(program, i); ++i)
    if (state->mutated)
      names.emplace_back(state->name);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (tw_program_input(program, static_cast<int32_t>(i))->mutated)
      values.emplace_back(i, std::vector(inputs[i].bytes().begin(), inputs[i].bytes().end()));
}

Status Restore::apply(tw_instance *instance, std::span<HostTensor> inputs) const {
  for (const std::string &name : names)
    TW_TRY(fromRuntime(tw_instance_state_reset(instance, name.c_str())));
  for (const auto &[input, bytes] : values)
    std::ranges::copy(bytes, inputs[input].bytes().begin());
  return {};
}

Result<double> timeOnce(tw_instance *instance, std::span<HostTensor> inputs,
                        const Restore *restore) {
  if (restore)
    TW_TRY(restore->apply(instance, inputs));
  auto start = Clock::now();
  TW_TRY(execute(instance, inputs));
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

Result<std::vector<double>> measureCalls(const tw_program *program, tw_instance *instance,
                                         std::span<HostTensor> inputs,
                                         const MeasureOptions &options, const BesideCalls &also) {
  Restore restore(program, inputs);
  const Restore *before = options.state == "keep" ? nullptr : &restore;
  double spent = 0;
  for (int i = 0; i < 2 || spent < options.minTime * 1e5; ++i) {
    TW_ASSIGN(double time, timeOnce(instance, inputs, before));
    spent += time;
  }
  if (also.warm)
    TW_TRY(also.warm());
  std::vector<double> times;
  spent = 0;
  auto goesOn = [&] {
    return options.repeat ? times.size() < static_cast<size_t>(options.repeat)
                          : times.size() < 10 || spent < options.minTime * 1e6;
  };
  while (goesOn()) {
    TW_ASSIGN(double time, timeOnce(instance, inputs, before));
    spent += time;
    times.push_back(time);
    if (also.between)
      also.between();
  }
  return times;
}

void MeasureOptions::addTo(CLI::App &command) {
  command
      .add_option("--threads", threads,
                  "threads of a call; 0 (default): all cores that this process may use")
      ->check(CLI::Range(0, 1024));
  command.add_option("--min-time", minTime, "measure for this many seconds (default 1)")
      ->check(CLI::Range(0.0, 3600.0));
  command.add_option("--repeat", repeat, "measure this many calls instead")
      ->check(CLI::Range(1, 1'000'000'000));
  command
      .add_option(
          "--state", state,
          "reset (default): restore state and mutated inputs before each call, which is not "
          "timed; keep: carry them over from call to call")
      ->check(CLI::IsMember({"reset", "keep"}));
}

} // namespace tw::cli
