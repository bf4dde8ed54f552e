// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tool whose clock is a function of configurations, for test/CommandLine/Tune/fake_clock.mlir:
// programs run, and what they took is what a product's block is worth here. The linker puts these
// around the functions that tell times.
#include "runtime/Observe.h"
#include "tools/tilewright/Program/Measure.h"
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

namespace {

/// Of the instances that there are: memory of one that is gone may become the next one's.
std::map<const tw_instance *, const tw_program *> programs;

/// The value of a field in the text of a configuration, "contraction columns=16 rows=6".
double field(const std::string &configuration, const std::string &name) {
  size_t at = configuration.find(" " + name + "=");
  return at == configuration.npos ? 1 : std::atof(configuration.c_str() + at + name.size() + 2);
}

/// Least for 2 rows and 10 columns: so many times as much as octaves lie between, in each.
double microseconds(const tw::rt::DispatchInfo &dispatch) {
  auto octaves = [&](const char *name, double best) {
    return std::abs(std::log2(field(dispatch.configuration, name) / best));
  };
  return 1000 * (1 + octaves("rows", 2) + octaves("columns", 10));
}

} // namespace

extern "C" {
tw_status *__real_tw_instance_create(const tw_program *program, const tw_instance_options *options,
                                     tw_instance **instance);

tw_status *__wrap_tw_instance_create(const tw_program *program, const tw_instance_options *options,
                                     tw_instance **instance) {
  tw_status *status = __real_tw_instance_create(program, options, instance);
  programs[*instance] = program;
  return status;
}

tw_dispatch_times __wrap_tw_instance_recorded(const tw_instance *instance, int32_t dispatch) {
  const auto &dispatches = tw::rt::metadataOf(programs.at(instance)).dispatches;
  auto ns = int64_t(1000 * microseconds(dispatches.at(size_t(dispatch))));
  return {1, ns, ns, ns};
}
}

namespace tw::cli {
#define TW_TIME_ONCE                                                                               \
  "_ZN2tw3cli8timeOnceEP11tw_instanceSt4spanINS_10HostTensorELm18446744073709551615EEPKNS0_"       \
  "7RestoreE"
Result<double> timeReally(tw_instance *instance, std::span<HostTensor> inputs,
                          const Restore *restore) //
    __asm__("__real_" TW_TIME_ONCE);
Result<double> timeByClock(tw_instance *instance, std::span<HostTensor> inputs,
                           const Restore *restore) //
    __asm__("__wrap_" TW_TIME_ONCE);

Result<double> timeByClock(tw_instance *instance, std::span<HostTensor> inputs,
                           const Restore *restore) {
  TW_ASSIGN([[maybe_unused]] double real, timeReally(instance, inputs, restore));
  double us = 0;
  for (const rt::DispatchInfo &dispatch : rt::metadataOf(programs.at(instance)).dispatches)
    us += microseconds(dispatch);
  return us;
}
} // namespace tw::cli
