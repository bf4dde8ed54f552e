// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Threads.h"
#include "Support/Limits.h"
#include "Support/Parallel.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <atomic>
#include <optional>
#include <vector>

using namespace mlir;

namespace tw {
namespace {

/// Lets several threads use a context for as long as this lives.
class Threading {
public:
  explicit Threading(MLIRContext &context)
      : context(context), wasEnabled(context.isMultithreadingEnabled()) {
    context.disableMultithreading(false);
  }
  ~Threading() { context.disableMultithreading(!wasEnabled); }
  Threading(const Threading &) = delete;
  Threading &operator=(const Threading &) = delete;

private:
  MLIRContext &context;
  bool wasEnabled;
};

/// The same for longer than the statement that reports it: a diagnostic refers to its texts.
mlir::Diagnostic keepTexts(mlir::Diagnostic &diagnostic) {
  mlir::Diagnostic kept(diagnostic.getLocation(), diagnostic.getSeverity());
  kept << Twine(diagnostic.str());
  llvm::append_range(kept.getMetadata(), diagnostic.getMetadata()); // numbers (IR/Coded.h)
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    kept.attachNote(note.getLocation()) << Twine(note.str());
  return kept;
}

/// Which piece of work this thread is at, if any.
thread_local std::optional<size_t> current;

} // namespace

LogicalResult onThreadsInOrder(MLIRContext &context, size_t count,
                               const std::function<LogicalResult(size_t)> &work) {
  if (current) { // all threads have work, and what is reported is part of it
    for (size_t i = 0; i < count; ++i)
      if (failed(work(i)))
        return failure();
    return success();
  }
  std::vector<std::vector<mlir::Diagnostic>> said(count);
  std::vector<char> hasFailed(count);
  std::atomic<size_t> firstFailure = count;
  {
    Threading threading(context);
    // MLIR calls it for one diagnostic at a time.
    ScopedDiagnosticHandler keep(&context, [&](mlir::Diagnostic &diagnostic) {
      if (!current)
        return failure(); // of another thread
      said[*current].push_back(keepTexts(diagnostic));
      return success();
    });
    onThreads(count, mostCompilingThreads, [&](size_t i) {
      if (i > firstFailure)
        return;
      runOnLargeStack([&] {
        current = i;
        hasFailed[i] = failed(work(i));
      });
      size_t first = firstFailure;
      while (hasFailed[i] && i < first && !firstFailure.compare_exchange_weak(first, i)) {
      }
    });
  }
  for (size_t i = 0; i < std::min(count, firstFailure + 1); ++i)
    for (mlir::Diagnostic &diagnostic : said[i])
      context.getDiagEngine().emit(std::move(diagnostic));
  return failure(firstFailure < count);
}

} // namespace tw
