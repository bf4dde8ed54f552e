// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/DatabaseText.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

namespace tw::tune {

std::string pointText(const Point &point) {
  std::string text;
  for (const auto &[name, value] : point)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

Point parsePoint(const std::string &text) {
  Point point;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    int64_t value = 0;
    const char *end = word.data() + word.size();
    if (equals == word.npos)
      continue;
    auto read = std::from_chars(word.data() + equals + 1, end, value);
    if (read.ec == std::errc() && read.ptr == end)
      point[word.substr(0, equals)] = value;
  }
  return point;
}

std::string sizesText(const std::map<std::string, std::pair<int64_t, int64_t>> &sizes) {
  std::string text;
  for (const auto &[name, range] : sizes)
    text += fmt::format("{} {} {}\n", name, range.first, range.second);
  return text;
}

std::string knobsText(const Space &space) {
  std::string text;
  for (const Knob &knob : space.knobs)
    text += fmt::format("{} {}\n", knob.name, fmt::join(knob.values, " "));
  return text;
}

std::string constraintsText(const Space &space) {
  std::string text;
  for (const Constraint &constraint : space.constraints)
    text += fmt::format("{} <= {}\n", constraint.lessText, constraint.moreText);
  return text;
}

/// Calls `take` with the name and the numbers of each line, until it returns false.
template <typename F>
static bool forEachLine(const std::string &text, F take) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::vector<int64_t> numbers;
    words >> name;
    for (int64_t number; words >> number;)
      numbers.push_back(number);
    if (name.empty() || !words.eof() || !take(std::move(name), std::move(numbers)))
      return false;
  }
  return true;
}

std::optional<std::map<std::string, std::pair<int64_t, int64_t>>>
parseSizes(const std::string &text) {
  std::map<std::string, std::pair<int64_t, int64_t>> sizes;
  bool isRead = forEachLine(text, [&](std::string name, std::vector<int64_t> ends) {
    if (ends.size() != 2)
      return false;
    sizes.emplace(std::move(name), std::pair(ends[0], ends[1]));
    return true;
  });
  return isRead ? std::optional(std::move(sizes)) : std::nullopt;
}

std::optional<Space> parseSpace(const std::string &knobs, const std::string &constraints) {
  Space space;
  bool isRead = forEachLine(knobs, [&](std::string name, std::vector<int64_t> values) {
    bool isKnob = !values.empty() && std::ranges::is_sorted(values) && Size::isSymbolName(name);
    space.knobs.push_back({std::move(name), std::move(values), {}});
    return isKnob;
  });
  std::istringstream lines(constraints);
  for (std::string line; isRead && std::getline(lines, line);) {
    size_t sign = line.find(" <= ");
    std::string why, less = line.substr(0, sign),
                     more = sign == line.npos ? "" : line.substr(sign + 4);
    isRead = Size::parse(less, why) && Size::parse(more, why);
    if (isRead)
      space.constraints.emplace_back(less, more);
  }
  return isRead ? std::optional(std::move(space)) : std::nullopt;
}

} // namespace tw::tune
