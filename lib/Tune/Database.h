// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every measurement of a configuration, in a SQLite file: written at once, so that a search that
// was killed goes on where it was, and kernels that were searched before start from what is known.
#pragma once
#include "Support/Diagnostic.h"
#include "Tune/Comparison.h"
#include "Tune/Space.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace tw::tune {

/// What a measurement is of: only those with the same are comparable.
struct MeasuredKernel {
  std::string signature; // of its dispatch: operations, dtypes, sizes
  int64_t number = 0;    // of the kernel in it
  std::string start;     // the configuration that times are in terms of, as pointText has it
  std::string target;    // with what it was compiled: "cpu:x86-64-v4, avx512bw, ..."
  std::string machine;   // on which it ran, and with how many threads
  std::string compiler;  // its version: another one makes other code
};

/// What a search knew of a kernel beside its measurements: with both it can be made again
/// (Replay.h), and kernels of other sizes learn from it.
struct KernelDescription {
  std::string dtypes; // of its buffers, inputs first: "f32, f32, f32"
  /// Of its dimensions, least and most: {"rows", {5, 5}}.
  std::map<std::string, std::pair<int64_t, int64_t>> sizes;
  Space space; // without what knobs mean and constraints are for
  std::optional<double> startCost;
  /// How many points an exhaustive search has to measure, beside the start; 0: it was none.
  int64_t enumerated = 0;
};

struct Measurement {
  Point point;
  std::optional<double> cost; // by the target's model
  /// Empty: it is right and has been timed; else why it is rejected ("results differ", ...).
  std::string rejection;
  TimeRatio ratio;
  int64_t pairs = 0;  // of times
  double startUs = 0; // what the start took in the same calls
  int64_t unixSeconds = 0;
};

/// All that a database has of a kernel.
struct RecordedKernel {
  MeasuredKernel kernel;
  KernelDescription description;         // without knobs: an earlier version has kept none
  std::vector<Measurement> measurements; // oldest first
};

/// What kernels have in common that learn from each other; their sizes differ.
struct KernelKind {
  std::string target, machine, dtypes; // as kernels and descriptions have them
  auto operator<=>(const KernelKind &) const = default;
};
KernelKind kindOf(const RecordedKernel &kernel);

/// "columns=32 rows=8"; sorted by name, so that equal points have equal texts.
std::string pointText(const Point &point);
/// The inverse; a text that is none gives fewer knobs.
Point parsePoint(const std::string &text);

class Database {
public:
  /// Opens the file, or makes one; one of an earlier version becomes one of this version, with all
  /// that it has. Errors (TUNE_1): it cannot be read or written, is no such database, or one of a
  /// later version.
  static Result<Database> open(const std::string &path);
  Database(Database &&) noexcept;
  Database &operator=(Database &&) noexcept;
  ~Database();

  /// Instead of what was known of the kernel; a guided search after an exhaustive one leaves
  /// `enumerated` as it is. Errors: TUNE_1.
  Status describe(const MeasuredKernel &kernel, const KernelDescription &description);
  /// Errors: TUNE_1.
  Status add(const MeasuredKernel &kernel, const Measurement &measurement);
  /// All of a kernel, oldest first. Errors: TUNE_1.
  Result<std::vector<Measurement>> find(const MeasuredKernel &kernel) const;
  /// Whether there is no measurement of any kernel. Errors: TUNE_1.
  Result<bool> isEmpty() const;
  /// All kernels, in the order in which they came. Errors: TUNE_1.
  Result<std::vector<RecordedKernel>> all() const;
  /// The same of one kind; nothing else is read. Errors: TUNE_1.
  Result<std::vector<RecordedKernel>> ofKind(const KernelKind &kind) const;
  /// Steps of SQLite's virtual machine that reading has taken so far, some ten for a row: what
  /// tells whether it has read only what it had to.
  int64_t stepsOfReading() const { return readingSteps; }

private:
  Database(std::string path, sqlite3 *database);
  Result<int64_t> idOf(const MeasuredKernel &kernel);
  Result<std::vector<Measurement>> measurementsOf(int64_t kernel) const;
  Result<std::vector<RecordedKernel>> kernelsWhere(const std::string &condition,
                                                   const std::vector<std::string> &values) const;
  Diagnostic failure(const char *doing) const;

  std::string path;
  std::unique_ptr<sqlite3, int (*)(sqlite3 *)> database;
  mutable int64_t readingSteps = 0;
};

} // namespace tw::tune
