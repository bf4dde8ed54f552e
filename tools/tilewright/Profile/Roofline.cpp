// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Roofline.h"
#include <algorithm>
#include <string_view>

namespace tw::cli {

void Roofline::raiseTo(const Roofline &other) {
  arithmetic.threads = other.arithmetic.threads;
  arithmetic.flops32 = std::max(arithmetic.flops32, other.arithmetic.flops32);
  arithmetic.flops16 = std::max(arithmetic.flops16, other.arithmetic.flops16);
  weightBandwidth = std::max(weightBandwidth, other.weightBandwidth);
  temporaryBandwidth = std::max(temporaryBandwidth, other.temporaryBandwidth);
}

RooflineSampler::RooflineSampler(const tw_program *program, tw_instance *instance)
    : isHost(tw_program_device(program) == std::string_view("cpu")),
      threads(tw_instance_threads(instance)),
      weightBytes(tw_program_describe(program)->weight_bytes),
      temporaryBytes(tw_instance_memory(instance).arena_bytes) {}

void RooflineSampler::sample() {
  if (!isHost)
    return;
  Clock::time_point begin = Clock::now();
  fastest.raiseTo({measureLimits(threads), measureRead(threads, weightBytes + temporaryBytes),
                   measureRead(threads, temporaryBytes)});
  spent += Clock::now() - begin;
}

void RooflineSampler::sampleIfCheap() {
  constexpr int leastPart = 16;
  if (isHost && leastPart * spent < Clock::now() - start)
    sample();
}

} // namespace tw::cli
