// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What bounds the dispatches of a program on this machine, measured beside its calls.
#pragma once
#include "../Limits.h"
#include "tilewright/tilewright.h"
#include <chrono>

namespace tw::cli {

struct Roofline {
  Limits arithmetic;
  /// Bytes per second at which weights, and temporaries, can be read.
  double weightBandwidth = 0, temporaryBandwidth = 0;

  /// Takes over what is faster there.
  void raiseTo(const Roofline &other);
};

/// The fastest of samples that are spread over a run: other work on the machine slows down some of
/// them, as it does some of the calls. Of a GPU nothing is measured.
class RooflineSampler {
public:
  /// Of an instance that has run, for its temporaries to have their sizes.
  RooflineSampler(const tw_program *program, tw_instance *instance);

  void sample();
  /// The same where samples have taken a small part of the time until now; not while it runs.
  void sampleIfCheap();
  const Roofline &found() const { return fastest; }

private:
  using Clock = std::chrono::steady_clock;

  bool isHost;
  int threads;
  int64_t weightBytes, temporaryBytes;
  Roofline fastest;
  Clock::time_point start = Clock::now();
  Clock::duration spent = {};
};

} // namespace tw::cli
