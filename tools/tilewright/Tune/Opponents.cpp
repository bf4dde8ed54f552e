// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Opponents.h"
#include "runtime/Observe.h"
#include "tools/tilewright/Compiler/ModelOptions.h"
#include "tools/tilewright/Failure.h"

namespace tw::cli {

/// Events around a dispatch on a GPU take as long as some microseconds of it, and what it waits for
/// before it begins overlaps with the one before where others follow: of those that take less than
/// this, several are timed together.
static constexpr int64_t longDispatchNs = 200'000;

Result<Runner> Runner::load(const std::string &artifact, std::span<const HostTensor> inputs,
                            int threads) {
  Runner runner;
  TW_TRY(loadArtifact(artifact, "", /*verify=*/false, runner.program));
  TW_ASSIGN(runner.instance, createInstance(runner.program.get(), threads));
  TW_ASSIGN(runner.inputs, copyOf(inputs));
  if (runner.isOnGpu())
    TW_TRY(rt::repeatDispatches(runner.instance.get(), longDispatchNs));
  runner.restore.emplace(runner.program.get(), runner.inputs);
  return runner;
}

bool Runner::isOnGpu() const { return isForGpu(rt::metadataOf(program.get()).target); }

Status Runner::warmUp() {
  auto time = timeOnce(instance.get(), inputs, &*restore);
  return time ? Status() : Status(time.error());
}

int64_t Runner::bytes() const {
  return tw_program_describe(program.get())->weight_bytes +
         tw_instance_memory(instance.get()).reserved_bytes;
}

Status Runner::time(ProgramCosts &times) {
  TW_TRY(fromRuntime(tw_instance_record(instance.get(), 1)));
  TW_ASSIGN(double us, timeOnce(instance.get(), inputs, &*restore));
  double all = 0;
  std::map<std::vector<std::string>, double> spent;
  const auto &dispatches = rt::metadataOf(program.get()).dispatches;
  for (size_t i = 0; i < dispatches.size(); ++i) {
    const rt::DispatchInfo &dispatch = dispatches[i];
    std::vector<std::string> kernels = dispatch.configured;
    if (kernels.empty())
      kernels.push_back(dispatch.kernel);
    tw_dispatch_times recorded = tw_instance_recorded(instance.get(), int32_t(i));
    double total = double(recorded.total_ns) / 1000;
    spent[std::move(kernels)] += total;
    all += total;
  }
  times.call.push_back(isOnGpu() ? all : us);
  for (const auto &[kernels, total] : spent)
    times.dispatches[kernels].push_back(total);
  return {};
}

Status Opponents::load(const std::string &start, const std::string &candidate,
                       std::span<const HostTensor> inputs, int threads) {
  isCandidateLoadedFirst = incumbent && !isCandidateLoadedFirst;
  incumbent.reset(), challenger.reset();
  bool order[] = {isCandidateLoadedFirst, !isCandidateLoadedFirst};
  for (bool isCandidate : order) {
    TW_ASSIGN(Runner made, Runner::load(isCandidate ? candidate : start, inputs, threads));
    (isCandidate ? challenger : incumbent).emplace(std::move(made));
  }
  for (bool isCandidate : order)
    TW_TRY((isCandidate ? challenger : incumbent)->warmUp());
  return {};
}

bool Opponents::areToBeLoaded(int pair) const {
  constexpr int pairsOfOneLoad = 3;
  // Onto a GPU that takes as long as hundreds of short calls.
  return pair % pairsOfOneLoad == 0 && !(incumbent && incumbent->isOnGpu());
}

Status Opponents::time(bool isCandidateFirst, TrialResult &result) {
  if (!isCandidateFirst)
    TW_TRY(incumbent->time(result.start));
  TW_TRY(challenger->time(result.candidate));
  return isCandidateFirst ? incumbent->time(result.start) : Status();
}

void Opponents::readBytes(TrialResult &result) const {
  result.start.bytes = incumbent->bytes();
  result.candidate.bytes = challenger->bytes();
}

} // namespace tw::cli
