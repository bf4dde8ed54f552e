// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Report.h"
#include "../EmbeddedJson.h"
#include "IO/Formats/JsonWriter.h"
#include "Support/Counted.h"
#include "TunePageText.h"
#include "tools/tilewright/Program/Values.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tw::cli {

static std::vector<const TunedKernel *> longestFirst(const Tuner &tuner) {
  std::vector<const TunedKernel *> kernels;
  for (const TunedKernel &kernel : tuner.kernels())
    kernels.push_back(&kernel);
  std::ranges::stable_sort(kernels, std::greater(), &TunedKernel::startUs);
  return kernels;
}

/// Calls `take` with each knob that was changed, and its values before and after.
template <typename F>
static void forEachChange(const TunedKernel &kernel, F take) {
  if (kernel.chosen)
    for (const auto &[name, value] : *kernel.chosen)
      if (int64_t before = kernel.space.start.point.at(name); before != value)
        take(name, before, value);
}

/// The geometric mean over all kernels of how fast each was in terms of its best configuration.
static double meanShareOfBest(const Tuner &tuner) {
  double sum = 0;
  for (const TunedKernel &kernel : tuner.kernels())
    sum += std::log(kernel.shareOfBest());
  return std::exp(sum / double(std::max<size_t>(tuner.kernels().size(), 1)));
}

/// What an exhaustive search says of the configurations that it began with.
static std::string exhaustiveText(const Tuner &tuner) {
  size_t measured = 0, rejected = 0, untried = 0;
  for (const TunedKernel &kernel : tuner.kernels()) {
    measured += kernel.search.measuredCount();
    rejected += kernel.search.rejectedCount();
    untried += kernel.search.untriedCount();
  }
  return fmt::format("what the search began with reaches {:.1f} % of the best configurations "
                     "(geometric mean of {}), of {} measured, {} rejected and {} not tried\n",
                     100 * meanShareOfBest(tuner), counted(tuner.kernels().size(), "kernel"),
                     measured, rejected, untried);
}

std::string reportText(const Tuner &tuner) {
  const TuneReport &report = tuner.report();
  bool isExhaustive = tuner.asked().exhaustiveWithin.has_value();
  std::string text = fmt::format("{:>10} {:>6} {:>6} {:>10} {:>10} {:>6}{}  {}\n", "us before", "%",
                                 "ratio", "us after", "% roofline", "tried",
                                 isExhaustive ? "  % of best" : "", "kernel, and what is changed");
  for (const TunedKernel *kernel : longestFirst(tuner)) {
    std::string ratio = kernel->chosen ? fmt::format("{:.3f}", kernel->ratio.median) : "-";
    std::string changes = kernel->chosen ? changesText(kernel->space, *kernel->chosen) : "";
    double after = kernel->startUs * (kernel->chosen ? kernel->ratio.median : 1);
    auto roofline = kernel->rooflineShare(/*isStart=*/false);
    text += fmt::format("{:>10.1f} {:>6.1f} {:>6} {:>10.1f} {:>10} {:>6}{}  {} {}{}{}\n",
                        kernel->startUs, 100 * kernel->startUs / report.startUs, ratio, after,
                        roofline ? fmt::format("{:.0f}", 100 * *roofline) : "-",
                        kernel->search.measuredCount() + kernel->search.rejectedCount(),
                        isExhaustive ? fmt::format("{:>11.1f}", 100 * kernel->shareOfBest()) : "",
                        kernel->space.name + kernel->space.bound.text(), kernel->space.ops,
                        changes.empty() ? "" : ":", changes);
  }
  for (const KeptAlternative &kept : report.decisions.kept)
    for (const Decision &decision : kept.decisions)
      text +=
          fmt::format("{:>10} {:>6} {:>6.3f}  {}\n", "", "", kept.ratio.median, decision.text());
  if (report.decisions.tried > 0)
    text += fmt::format("{} about fusion and layout tried: {} cannot be had, {} kept\n",
                        counted(report.decisions.tried, "other decision"), report.decisions.refused,
                        report.decisions.kept.size());
  for (const std::string &note : report.notes)
    text += fmt::format("note: {}\n", note);
  if (isExhaustive)
    text += exhaustiveText(tuner);
  bool isForMemory = tuner.asked().objective == Objective::Memory;
  if (isForMemory)
    text +=
        fmt::format("weights, temporaries, outputs and state take {}; with what is chosen {:.3f} "
                    "of it\n",
                    bytesText(report.startBytes), report.ratio.median);
  const tune::TimeRatio &time = isForMemory ? report.timeRatio : report.ratio;
  text += fmt::format("a call takes {:.1f} us; with what is chosen {:.3f} of it (95 %: {:.3f} to "
                      "{:.3f}), after {}{}\n",
                      report.startUs, time.median, time.low, time.high,
                      counted(report.trials, "trial"), report.isInterrupted ? "; interrupted" : "");
  if (report.ofCompilers)
    text += fmt::format(
        "compiled with what is written it takes {:.3f} of the time with the compiler's own choice "
        "(95 %: {:.3f} to {:.3f})\n",
        report.ofCompilers->median, report.ofCompilers->low, report.ofCompilers->high);
  return text;
}

static void write(JsonWriter &json, const tune::TimeRatio &ratio) {
  json.beginObject().member("median", ratio.median).member("low", ratio.low);
  json.member("high", ratio.high).endObject();
}

static void write(JsonWriter &json, const TunedKernel &kernel, double callUs) {
  json.beginObject().member("kernel", std::string_view(kernel.space.name));
  if (!kernel.space.bound.isForAll()) {
    auto [name, number] = kernel.space.bound.field();
    json.key("variant").beginObject().member(name, number).endObject();
  }
  json.member("ops", std::string_view(kernel.space.ops));
  json.member("source", std::string_view(kernel.space.source));
  json.member("start_us", kernel.startUs).member("share", kernel.startUs / callUs);
  json.member("measured", int64_t(kernel.search.measuredCount()));
  json.member("rejected", int64_t(kernel.search.rejectedCount()));
  if (kernel.chosen)
    write(json.key("ratio"), kernel.ratio);
  for (bool isStart : {true, false})
    if (auto share = kernel.rooflineShare(isStart))
      json.member(isStart ? "roofline_before" : "roofline", *share);
  if (auto ofChosen = kernel.ratioOfChosen())
    json.member("ratio_of_chosen", ofChosen->median);
  if (const auto &all = kernel.space.enumerated) {
    json.key("exhaustive").beginObject().member("legal", all->legal);
    json.member("within", all->within);
    json.member("untried", int64_t(kernel.search.untriedCount()));
    json.member("share_of_best", kernel.shareOfBest()).endObject();
  }
  json.key("search").beginArray();
  for (const auto &each : kernel.search.measurements()) {
    json.beginObject().member("ratio", each.ratio.median);
    json.member("point", tune::pointText(each.point)).endObject();
  }
  json.endArray().key("changes").beginObject();
  forEachChange(kernel, [&](const std::string &name, int64_t before, int64_t after) {
    json.key(name).beginArray().value(before).value(after).endArray();
  });
  json.endObject().endObject();
}

std::string reportJson(const Tuner &tuner) {
  const TuneReport &report = tuner.report();
  JsonWriter json;
  json.beginObject().member("model", std::string_view(tuner.asked().model.model));
  json.member("start_us", report.startUs);
  json.member("start_bytes", report.startBytes);
  write(json.key("ratio"), report.ratio);
  if (tuner.asked().objective == Objective::Memory)
    write(json.key("time_ratio"), report.timeRatio);
  if (report.ofCompilers)
    write(json.key("ratio_of_compilers"), *report.ofCompilers);
  json.member("trials", int64_t(report.trials)).member("interrupted", report.isInterrupted);
  if (tuner.asked().exhaustiveWithin)
    json.member("share_of_best", meanShareOfBest(tuner));
  json.key("decisions").beginObject().member("tried", int64_t(report.decisions.tried));
  json.member("refused", int64_t(report.decisions.refused)).key("kept").beginArray();
  for (const KeptAlternative &kept : report.decisions.kept) {
    write(json.beginObject().key("decisions"), kept.decisions);
    write(json.key("ratio"), kept.ratio);
    json.endObject();
  }
  json.endArray().endObject().key("notes").beginArray();
  for (const std::string &note : report.notes)
    json.value(note);
  json.endArray().key("kernels").beginArray();
  for (const TunedKernel *kernel : longestFirst(tuner))
    write(json, *kernel, report.startUs);
  return json.endArray().endObject().text() + "\n";
}

std::string reportPage(const Tuner &tuner) {
  return pageWith(tunePageTemplate, {{"{{report}}", reportJson(tuner)}});
}

} // namespace tw::cli
