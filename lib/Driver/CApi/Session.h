// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call of the compiler's C API: what it has to say goes to the caller's sink, in one order,
// with the times of its stages.
#pragma once
#include "Support/Cancellation.h"
#include "Support/Diagnostic.h"
#include "Support/Forks.h"
#include "mlir/IR/Diagnostics.h"
#include "tilewright/Compiler.h"
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace mlir {
class MLIRContext;
}

namespace tw {

class JsonWriter;

class Session {
public:
  Session(const tilewright_sink *sink, void *user);

  /// The outcome of `action` in a session of its own, on a stack for deeply nested programs. Memory
  /// and threads that cannot be had are errors (SYSTEM_1, SYSTEM_5).
  static tilewright_outcome perform(const tilewright_sink *sink, void *user,
                                    const std::function<void(Session &)> &action);

  /// Gives an error to the sink; it decides the outcome of the call. Each text is given once.
  void error(const Diagnostic &problem);
  /// Gives a warning to the sink, which decides nothing.
  void warning(const Diagnostic &problem);
  bool hasWarned() const { return warned; }
  void report(const std::string &text);
  tilewright_outcome outcome() const { return result; }

  /// Set once the caller wants the call to end.
  const Cancellation &cancellation() const { return wish; }
  /// Whether that is so; then it is the call's error.
  bool isCancelled();

  /// Routes the context's diagnostics here: coded errors to the sink at once, others are kept
  /// until their stage fails, remarks are collected for --report.
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler(mlir::MLIRContext &context);
  /// Ends a stage that failed: when no coded error says why, an internal error names the stage.
  void failStage(const std::string &stage);

  /// Begins stage `name` below the innermost open stage, and tells the caller.
  void beginStage(const std::string &name);
  void endStage();
  /// {"total_ms": ..., "stages": [...]} to the sink.
  void giveTimes();

  /// Remarks in the order they were made, each once: where, and what.
  std::vector<std::pair<std::string, std::string>> remarks;

private:
  using Clock = std::chrono::steady_clock;
  struct Stage {
    std::string name;
    Clock::time_point begin;
    double ms = 0;
    std::vector<Stage> children;
  };
  static void writeStages(JsonWriter &json, const std::vector<Stage> &stages);
  void take(mlir::Diagnostic &diagnostic);
  /// Calls one of the sink's functions, if it has it: what it does, it may do while forks wait.
  template <auto Function, typename... Values>
  void give(Values... values) const {
    if (!sink || !(sink->*Function))
      return;
    Resting resting;
    (sink->*Function)(user, values...);
  }

  const tilewright_sink *sink;
  void *user;
  Cancellation wish;
  tilewright_outcome result = TILEWRIGHT_FINE;
  bool warned = false;
  std::vector<std::string> uncoded;
  std::set<std::string> given;                                // errors
  std::set<Code> advised;                                     // whose row's advice was given
  std::set<std::pair<std::string, std::string>> knownRemarks; // of `remarks`
  Stage root;
  std::vector<Stage *> open;
};

} // namespace tw
