// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/CApi/Session.h"
#include "IO/Formats/JsonWriter.h"
#include "IR/Coded.h"
#include "IR/ModelLocation.h"
#include "Support/Advice.h"
#include "Support/Limits.h"
#include "Support/Warning.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>
#include <system_error>

namespace tw {

Session::Session(const tilewright_sink *sink, void *user) : sink(sink), user(user) {
  root.begin = Clock::now();
  open.push_back(&root);
}

/// LLVM's own answer is to abort.
static void onBadAlloc(void *, const char *, bool) {
  if (std::new_handler handler = std::get_new_handler())
    handler();
  throw std::bad_alloc();
}

tilewright_outcome Session::perform(const tilewright_sink *sink, void *user,
                                    const std::function<void(Session &)> &action) {
  static std::once_flag once;
  Session session(sink, user);
  try {
    std::function<void()> meanwhile;
    if (sink && sink->is_cancelled)
      meanwhile = [&] {
        if (sink->is_cancelled(user))
          session.wish.request();
      };
    runOnLargeStack(
        [&] {
          Compiling compiling;
          std::call_once(once, [] { llvm::install_bad_alloc_error_handler(onBadAlloc); });
          action(session);
        },
        meanwhile);
  } catch (const std::bad_alloc &) {
    session.error(*limitReached(ENOMEM, "the compiler"));
  } catch (const std::system_error &) { // a thread
    session.error(*limitReached(EAGAIN, "the compiler"));
  }
  return session.outcome();
}

void Session::error(const Diagnostic &problem) {
  std::string text = renderRepeated(problem);
  if (!given.insert(text).second)
    return;
  if (problem.help.empty() && advised.insert(problem.code).second)
    text = problem.render();
  auto outcome = static_cast<tilewright_outcome>(problem.category());
  if (result == TILEWRIGHT_FINE)
    result = outcome;
  give<&tilewright_sink::diagnostic>(text.c_str(), outcome);
}

void Session::warning(const Diagnostic &problem) {
  warned = true;
  give<&tilewright_sink::diagnostic>(renderWarning(problem).c_str(), TILEWRIGHT_FINE);
}

bool Session::isCancelled() {
  if (!wish.isRequested())
    return false;
  error(Cancellation::error());
  return true;
}

void Session::report(const std::string &text) { give<&tilewright_sink::report>(text.c_str()); }

//===----------------------------------------------------------------------===//
// Diagnostics of MLIR
//===----------------------------------------------------------------------===//

void Session::take(mlir::Diagnostic &diagnostic) {
  using Severity = mlir::DiagnosticSeverity;
  if (diagnostic.getSeverity() == Severity::Remark) {
    std::pair remark(describePlace(diagnostic.getLocation()), diagnostic.str());
    if (knownRemarks.insert(remark).second) // it may be reported for each call of a kernel
      remarks.push_back(std::move(remark));
  }
  if (diagnostic.getSeverity() == Severity::Warning && isCoded(diagnostic)) {
    Diagnostic known = toDiagnostic(diagnostic);
    known.location.clear(); // of one of several kernels that it may be about
    if (given.insert(renderWarning(known)).second)
      warning(known);
  }
  if (diagnostic.getSeverity() != Severity::Error)
    return;
  Diagnostic problem = toDiagnostic(diagnostic);
  if (problem.code != Code::TARGET_1)
    return error(problem);
  uncoded.push_back((problem.location.empty() ? "" : problem.location + ": ") + problem.message);
}

std::unique_ptr<mlir::ScopedDiagnosticHandler> Session::handler(mlir::MLIRContext &context) {
  return std::make_unique<mlir::ScopedDiagnosticHandler>(&context,
                                                         [this](mlir::Diagnostic &diagnostic) {
                                                           take(diagnostic);
                                                           return mlir::success();
                                                         });
}

void Session::failStage(const std::string &stage) {
  if (result != TILEWRIGHT_FINE)
    return;
  constexpr size_t most = 5;
  uncoded.resize(std::min(uncoded.size(), most));
  error({Code::TARGET_1, "the compiler failed in stage \"" + stage + "\"", {}, uncoded});
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void Session::beginStage(const std::string &name) {
  give<&tilewright_sink::progress>(name.c_str(), -1);
  // References to a parent's children stay valid: only the innermost open stage gets new ones.
  Stage *parent = open.back();
  parent->children.push_back({name, Clock::now(), 0, {}});
  open.push_back(&parent->children.back());
}

void Session::endStage() {
  Stage *stage = open.back();
  stage->ms = std::chrono::duration<double, std::milli>(Clock::now() - stage->begin).count();
  open.pop_back();
}

void Session::writeStages(JsonWriter &json, const std::vector<Stage> &stages) {
  json.beginArray();
  for (const Stage &stage : stages) {
    json.beginObject().member("name", stage.name).member("ms", stage.ms);
    if (!stage.children.empty())
      writeStages(json.key("children"), stage.children);
    json.endObject();
  }
  json.endArray();
}

void Session::giveTimes() {
  if (!sink || !sink->time_report)
    return;
  JsonWriter json;
  double total = std::chrono::duration<double, std::milli>(Clock::now() - root.begin).count();
  json.beginObject().member("total_ms", total);
  writeStages(json.key("stages"), root.children);
  json.endObject();
  give<&tilewright_sink::time_report>(json.text().c_str());
}

} // namespace tw
