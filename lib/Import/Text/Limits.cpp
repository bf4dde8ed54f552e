// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's parser recurses over brackets and affine expressions; text that nests thousands deep would
// overflow its stack, of 8 MiB as a rule. Real programs nest less than twenty deep.
#include "Import/Text/Stages.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace tw::text {

static constexpr size_t kMaxBytes = size_t(1) << 30;
static constexpr int kMaxDepth = 2100;
static constexpr size_t kMaxAffineBytes = 1 << 14;

namespace {

/// Of each character whether something that counts may begin with it. Most of a text are others,
/// and a scan that looks at each of them closely takes an eighth of what parsing takes.
constexpr auto startsSomething = [] {
  std::array<bool, 256> made{};
  for (unsigned char c : std::string_view("\"/-a([{<)]}>"))
    made[c] = true;
  return made;
}();

/// Walks over the text outside comments and strings.
class Scanner {
public:
  Scanner(std::string_view text, const std::string &name) : text(text), name(name) {}

  Status scan() {
    while (true) {
      while (position < text.size() && !startsSomething[static_cast<unsigned char>(text[position])])
        ++position;
      if (position == text.size())
        return {};
      TW_TRY(step());
    }
  }

private:
  Status step() {
    char c = text[position];
    if (c == '"') {
      skipString();
    } else if (at("//")) {
      position = std::min(text.find('\n', position), text.size());
    } else if (at("->")) {
      position += 2;
    } else if (at("affine_map<") || at("affine_set<")) {
      size_t end = std::min(text.find(';', position), text.find('\n', position));
      if (std::min(end, text.size()) - position > kMaxAffineBytes)
        return refuse(fmt::format("an affine map takes more than {} bytes", kMaxAffineBytes));
      position += sizeof("affine_map") - 1;
    } else {
      depth += opens(c) - closes(c);
      ++position;
    }
    if (depth > kMaxDepth)
      return refuse(fmt::format("brackets nest more than {} deep", kMaxDepth));
    return {};
  }

  bool at(std::string_view word) const { return text.substr(position).starts_with(word); }
  static int opens(char c) { return c == '(' || c == '[' || c == '{' || c == '<'; }
  int closes(char c) const { return depth > 0 && (c == ')' || c == ']' || c == '}' || c == '>'); }

  void skipString() {
    for (++position; position < text.size() && text[position] != '"'; ++position)
      if (text[position] == '\\')
        ++position;
    position = std::min(position + 1, text.size());
  }

  Status refuse(std::string message) const {
    auto line = 1 + std::count(text.begin(), text.begin() + ptrdiff_t(position), '\n');
    return Diagnostic{Code::IMPORT_100, std::move(message), fmt::format("{}:{}", name, line)};
  }

  std::string_view text;
  const std::string &name;
  size_t position = 0;
  int depth = 0;
};
} // namespace

Status checkLimits(std::string_view text, const std::string &name) {
  if (text.size() > kMaxBytes)
    return Diagnostic{Code::IMPORT_100,
                      fmt::format("the text has {} bytes, more than {}", text.size(), kMaxBytes),
                      name,
                      {},
                      "export the model as .pt2, where weights are not text"};
  if (text.find('\0') != std::string_view::npos || text.starts_with("ML\xefR"))
    return Diagnostic{Code::IMPORT_100,
                      "the file is not text",
                      name,
                      {},
                      "give MLIR text; bytecode can be printed by the tool that wrote it"};
  return Scanner(text, name).scan();
}

} // namespace tw::text
