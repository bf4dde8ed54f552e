// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What this machine sustains, measured in a fraction of a second: multiply-adds in registers, and
// reads. The limits of a roofline; peaks of data sheets say little about a clock under load, or
// about virtual machines.
#pragma once
#include <cstdint>
#include <string_view>

namespace tw::cli {

/// Of all threads together, per second.
struct Limits {
  int threads = 0;
  double flops32 = 0;
  double flops16 = 0; // bf16 summed in f32, by instructions of its own or as f32

  /// Operations on elements of a type ("f32", "bf16"); 0: not known.
  double flopsOf(std::string_view type) const;
};

/// The fastest of several samples on `threads` threads at once. Zeros where nothing is known of the
/// CPU.
Limits measureLimits(int threads);

/// Bytes per second of reading `bytes` (at most 1 GiB of them) again and again, from wherever so
/// many come to lie; 0: not known.
double measureRead(int threads, int64_t bytes);

/// Bytes of the rows that `measureLookups` reads: 64 numbers in f32.
constexpr int64_t lookupBytes = 256;

/// The same of rows at random places, which are `bytes` (at most 1 GiB of them) in all. Each is
/// requested early enough that as many are on their way as the hardware allows.
double measureLookups(int threads, int64_t bytes);

} // namespace tw::cli
