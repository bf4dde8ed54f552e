// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What calls take with several numbers of threads, for tilewright tune --threads=1,4,16.
#pragma once
#include "Tune/Comparison.h"
#include <span>
#include <string>

namespace tw {
class JsonWriter;
}

namespace tw::cli {

struct CallOfThreads {
  int threads = 0;
  double us = 0;         // with what was found
  tune::TimeRatio ratio; // in terms of the compiler's own choice, with as many threads
};

/// The number with which a call takes least: the smallest of those that are about the same. `calls`
/// have ascending numbers.
int bestThreads(std::span<const CallOfThreads> calls);

/// A table, and which number is best.
std::string reportText(std::span<const CallOfThreads> calls);
/// [{"threads": 1, "us": 12.5, "ratio": {"median", "low", "high"}}]
void write(JsonWriter &json, std::span<const CallOfThreads> calls);

} // namespace tw::cli
