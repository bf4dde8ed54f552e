// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Text.h"
#include "tools/tilewright/Program/Values.h"
#include <fmt/format.h>

namespace tw::cli {

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters, too.
    bool isHigh =
        c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c < 0x20 || c == 0x7f || isHigh)
      out += fmt::format("\\x{:02x}", isHigh ? static_cast<unsigned char>(text[++i]) : c);
    else
      out += text[i];
  }
  return out;
}

/// A number with a unit of thousands, in few letters: "1.23 G".
static std::string scaled(std::optional<double> number) {
  if (!number)
    return "?";
  constexpr const char *units[] = {"", " k", " M", " G", " T", " P"};
  size_t unit = 0;
  double value = *number;
  for (; value >= 999.5 && unit + 1 < std::size(units); ++unit)
    value /= 1000;
  return fmt::format("{:.3g}{}", value, units[unit]);
}

static std::string rate(std::optional<double> amount, double us) {
  return amount && us > 0 ? fmt::format("{:.1f}", *amount / us / 1e3) : "?";
}

static std::string rooflineText(const ProfileRow &row) {
  std::optional<double> share = row.rooflineShare();
  return share ? fmt::format("{:.0f} {}", 100 * *share, row.bound()) : "?";
}

static std::string lineOf(const ProfileRow &row, double total) {
  double calls = double(std::max<int64_t>(row.calls, 1));
  auto each = [&](std::optional<double> all) {
    return all ? std::optional(*all / calls) : std::nullopt;
  };
  return fmt::format("{:<28} {:>7} {:>11.1f} {:>9.1f} {:>5.1f} {:>9} {:>9} {:>7} {:>8} {:>10}\n",
                     printable(row.name), row.calls, row.totalUs, row.meanUs(),
                     total > 0 ? 100 * row.totalUs / total : 0, scaled(each(row.bytes())),
                     scaled(each(row.flops)), rate(row.bytes(), row.totalUs),
                     rate(row.flops, row.totalUs), rooflineText(row));
}

static std::string headText(const Profile &profile) {
  std::string text = fmt::format(
      "call        median {:.1f} us, p10 {:.1f}, min {:.1f} ({} calls, {} threads, {})\n",
      profile.call.median, profile.call.p10, profile.call.min, profile.call.count, profile.threads,
      profile.device);
  double dispatches = 0;
  for (const ProfileRow &row : profile.dispatches)
    dispatches += row.medianUs.value_or(0);
  text += fmt::format("dispatches  {:.1f} us of a call, by their medians\n", dispatches);
  if (profile.limits.arithmetic.flops32 > 0)
    text += fmt::format(
        "limits      f32 {:.1f} GFLOP/s, bf16 {:.1f}; weights {:.1f} GB/s ({}), temporaries {:.1f} "
        "GB/s ({})\n",
        profile.limits.arithmetic.flops32 / 1e9, profile.limits.arithmetic.flops16 / 1e9,
        profile.limits.weightBandwidth / 1e9, bytesText(profile.weightBytes),
        profile.limits.temporaryBandwidth / 1e9, bytesText(profile.temporaryBytes));
  return text;
}

static const char *groupingName(Grouping grouping) {
  static constexpr const char *names[] = {"dispatch", "kernel", "module"};
  return names[static_cast<size_t>(grouping)];
}

std::string profileText(const Profile &profile, Grouping grouping) {
  std::string text =
      headText(profile) +
      fmt::format("\n{:<28} {:>7} {:>11} {:>9} {:>5} {:>9} {:>9} {:>7} {:>8} {:>10}\n",
                  groupingName(grouping), "calls", "total us", "mean us", "%", "bytes", "FLOP",
                  "GB/s", "GFLOP/s", "% roofline");
  double total = profile.totalUs();
  for (const ProfileRow &row : groupRows(profile, grouping)) {
    text += lineOf(row, total);
    for (const std::string &more : {row.ops, row.source, row.configuration})
      if (!more.empty() && grouping != Grouping::Module)
        text += fmt::format("    {}\n", printable(more));
  }
  return text;
}

} // namespace tw::cli
