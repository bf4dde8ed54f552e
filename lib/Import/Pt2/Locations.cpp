// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Pt2/Locations.h"
#include <charconv>

namespace tw::pt2 {

static constexpr std::string_view sitePackages = "site-packages/";

namespace {
struct Frame {
  std::string_view file, function;
  int line = 0;
};
} // namespace

/// The text between `begin` and the next `end` after it, from `from` on; advances `from`.
static std::optional<std::string_view> between(std::string_view text, std::string_view begin,
                                               std::string_view end, size_t &from) {
  size_t start = text.find(begin, from);
  if (start == text.npos)
    return std::nullopt;
  start += begin.size();
  size_t stop = std::min(text.find(end, start), text.size());
  from = stop;
  return text.substr(start, stop - start);
}

/// Frames are `File "net.py", line 12, in forward`, outermost first, each followed by its source.
static std::vector<Frame> parseFrames(std::string_view trace) {
  std::vector<Frame> frames;
  size_t from = 0;
  while (auto file = between(trace, "File \"", "\"", from)) {
    auto line = between(trace, ", line ", ",", from);
    auto function = between(trace, " in ", "\n", from);
    if (!line || !function)
      break;
    Frame frame{*file, *function};
    std::from_chars(line->data(), line->data() + line->size(), frame.line);
    frames.push_back(frame);
  }
  return frames;
}

static bool isTorchOwn(std::string_view file) {
  size_t at = file.rfind(sitePackages);
  return file.substr(at == file.npos ? 0 : at + sitePackages.size()).starts_with("torch/");
}

/// "transformers/models/bert/modeling_bert.py" of an installed package, else the file's name.
static std::string_view shortened(std::string_view file) {
  if (size_t at = file.rfind(sitePackages); at != file.npos)
    return file.substr(at + sitePackages.size());
  size_t slash = file.rfind('/');
  return slash == file.npos ? file : file.substr(slash + 1);
}

/// Modules are "key,path,type" separated by ";", outermost first. A key may hold commas.
static std::pair<std::string_view, std::string_view> splitModule(std::string_view entry) {
  size_t typeComma = entry.rfind(',');
  if (typeComma == entry.npos || typeComma == 0)
    return {};
  size_t pathComma = entry.rfind(',', typeComma - 1);
  if (pathComma == entry.npos)
    return {};
  return {entry.substr(pathComma + 1, typeComma - pathComma - 1), entry.substr(typeComma + 1)};
}

static std::string cleanPath(std::string_view path) {
  for (std::string_view prefix : {"L['self'].", "L__self__.", "L['self']", "L__self__"})
    if (path.starts_with(prefix)) {
      path.remove_prefix(prefix.size());
      break;
    }
  return std::string(path);
}

ModelPlace placeOf(const Node &node, int index, const std::string &model) {
  ModelPlace place;
  place.node = node.name;
  place.index = index;
  place.model = model;
  std::string_view userClass;
  for (size_t begin = 0; begin < node.moduleStack.size();) {
    size_t end = std::min(node.moduleStack.find(';', begin), node.moduleStack.size());
    auto [path, type] = splitModule(node.moduleStack.substr(begin, end - begin));
    begin = end + 1;
    if (type.empty())
      continue;
    place.module = cleanPath(path);
    if (!type.starts_with("torch."))
      userClass = type.substr(type.rfind('.') + 1);
  }
  std::vector<Frame> frames = parseFrames(node.stackTrace);
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
    if (!isTorchOwn(frame->file)) {
      place.file = shortened(frame->file);
      place.line = frame->line;
      place.function = frame->function;
      if (frame->function == "forward" && !userClass.empty())
        place.function = std::string(userClass) + ".forward";
      break;
    }
  return place;
}

} // namespace tw::pt2
