// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the time of a program goes: what its dispatches took, against what they compute and move,
// and what the machine could do.
#pragma once
#include "../Statistics.h"
#include "Recording.h"
#include "Roofline.h"
#include "tilewright/tilewright.h"
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::cli {

/// What a dispatch, or several of them together, took in all calls that were measured.
struct ProfileRow {
  std::string name, kernel, ops, source, module, configuration, arithmetic;
  std::string configuredAs; // the kernel, as `tune --kernel` takes it
  int64_t calls = 0;
  double totalUs = 0, minUs = 0, maxUs = 0; // of all calls; of one call
  std::optional<double> medianUs; // of what it took in a call of the program, each time it ran
  /// Of all calls; nothing where it is not known.
  std::optional<double> flops, weightBytes, otherBytes;
  /// What it would take at least, and how much of that is of dispatches that arithmetic bounds, and
  /// not memory.
  std::optional<double> boundUs;
  double arithmeticUs = 0;

  double meanUs() const { return calls ? totalUs / double(calls) : 0; }
  std::optional<double> bytes() const;
  /// Of the time that the bound leaves; more than 1 where data still was in a nearer cache.
  std::optional<double> rooflineShare() const;
  /// "flops" or "bytes", whichever bounds most of it; empty where no bound is known.
  std::string_view bound() const;
};

struct Profile {
  std::string model, target, device, cpu;
  Statistics call; // in us
  Roofline limits;
  int64_t weightBytes = 0, temporaryBytes = 0;
  int threads = 1;
  std::vector<ProfileRow> dispatches; // as in the program
  /// Bytes of temporaries that are in use while a dispatch runs; empty: not known.
  std::vector<int64_t> liveBytes;

  double totalUs() const;
};

/// How rows are put together.
enum class Grouping { Dispatch, Kernel, Module };

/// What an instance did in the calls of `recording`. Errors: those of tw_program_work.
Result<Profile> makeProfile(const tw_program *program, tw_instance *instance,
                            std::span<const tw_tensor> inputs, const Recording &recording,
                            const Statistics &call, const Roofline &limits);

/// The rows of those that ran, the longest first; of modules each with all that is inside of it, in
/// the order of the program.
std::vector<ProfileRow> groupRows(const Profile &profile, Grouping grouping);

} // namespace tw::cli
