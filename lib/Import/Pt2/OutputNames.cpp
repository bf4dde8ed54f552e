// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names for outputs, out of PyTorch's description of what forward returns.
#include "IO/Formats/Json.h"
#include "Import/Pt2/ProgramImporter.h"
#include <fmt/format.h>

namespace tw::pt2 {

/// The keys of a dictionary node; empty when its context is something else.
static std::vector<std::string> keysOf(const Json &node) {
  std::vector<std::string> keys;
  auto context = node.find("context");
  if (!context || !context->isString())
    return keys;
  auto document = JsonDocument::parse(*context->string(), "context");
  if (!document || !document->root().isArray())
    return keys;
  (void)document->root().forEach([&](Json key) -> Status {
    keys.push_back(key.isString() ? std::string(*key.string()) : std::string());
    return {};
  });
  return keys;
}

/// Appends a name for every leaf below `node`, whose own name is `path`.
static void collect(const Json &node, const std::string &path, std::vector<std::string> &names) {
  auto children = node.find("children_spec");
  if (!children || children->size() == 0) {
    auto type = node.find("type");
    if (!type) // a leaf has no type; an empty tuple has one and no leaves
      names.push_back(path.empty() ? fmt::format("output_{}", names.size()) : path);
    return;
  }
  std::vector<std::string> keys = keysOf(node);
  size_t index = 0;
  (void)children->forEach([&](Json child) -> Status {
    size_t i = index++;
    bool named = i < keys.size() && keys.size() == children->size() && !keys[i].empty();
    std::string own = named ? keys[i] : path.empty() ? "" : fmt::format("{}", i);
    if (own.empty() && child.find("type"))
      own = fmt::format("output_{}", i);
    collect(child, path.empty() || own.empty() ? path + own : path + "." + own, names);
    return {};
  });
}

std::vector<std::string> outputNames(std::string_view spec) {
  std::vector<std::string> names;
  auto document = JsonDocument::parse(spec, "out_spec");
  if (!document)
    return names;
  (void)document->root().forEach([&](Json element) -> Status {
    if (element.isObject())
      collect(element, "", names);
    return {};
  });
  return names;
}

} // namespace tw::pt2
