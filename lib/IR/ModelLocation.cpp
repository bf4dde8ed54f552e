// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/ModelLocation.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringSet.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw {

// A FusedLoc of the Python place whose metadata is a dictionary of the rest: prints, parses and
// survives any upstream pass.
Location makeModelLoc(MLIRContext *context, const ModelPlace &place) {
  Builder b(context);
  SmallVector<NamedAttribute> parts;
  auto add = [&](StringRef name, const std::string &value) {
    if (!value.empty())
      parts.push_back(b.getNamedAttr(name, b.getStringAttr(value)));
  };
  add("function", place.function);
  add("module", place.module);
  add("node", place.node);
  add("model", place.model);
  if (place.index >= 0)
    parts.push_back(b.getNamedAttr("index", b.getI64IntegerAttr(place.index)));
  Location source = place.file.empty()
                        ? Location(UnknownLoc::get(context))
                        : Location(FileLineColLoc::get(context, place.file, place.line, 0));
  return FusedLoc::get(context, {source}, b.getDictionaryAttr(parts));
}

std::optional<ModelPlace> modelPlace(Location loc) {
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return modelPlace(call.getCallee());
  if (auto named = dyn_cast<NameLoc>(loc))
    return modelPlace(named.getChildLoc());
  auto fused = dyn_cast<FusedLoc>(loc);
  if (!fused)
    return std::nullopt;
  auto parts = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata());
  if (!parts) {
    for (Location inner : fused.getLocations())
      if (auto place = modelPlace(inner))
        return place;
    return std::nullopt;
  }
  auto text = [&](StringRef name) {
    auto value = parts.getAs<StringAttr>(name);
    return value ? value.str() : std::string();
  };
  ModelPlace place{"", 0, text("function"), text("module"), text("node"), -1, text("model")};
  if (auto index = parts.getAs<IntegerAttr>("index"))
    place.index = index.getInt();
  for (Location inner : fused.getLocations())
    if (auto source = dyn_cast<FileLineColLoc>(inner)) {
      place.file = source.getFilename().str();
      place.line = source.getLine();
    }
  return place;
}

static std::string describe(const ModelPlace &place) {
  std::string text = place.model;
  auto add = [&](std::string_view separator, std::string_view part) {
    text += (text.empty() ? "" : separator), text += part;
  };
  if (!place.node.empty())
    add(": ", place.index < 0 ? fmt::format("node {}", place.node)
                              : fmt::format("node {} (#{})", place.node, place.index));
  if (!place.file.empty())
    add(", ", fmt::format("from {}:{}", place.file, place.line));
  if (!place.function.empty())
    add(" ", fmt::format("in {}", place.function));
  if (!place.module.empty())
    add(", ", fmt::format("module {}", place.module));
  return text;
}

std::string describePlace(Location loc) {
  if (auto place = modelPlace(loc))
    return describe(*place);
  std::string text;
  loc->walk([&](Location inner) {
    auto source = dyn_cast<FileLineColLoc>(inner);
    if (!source)
      return WalkResult::advance();
    text =
        fmt::format("{}:{}:{}", source.getFilename().str(), source.getLine(), source.getColumn());
    return WalkResult::interrupt();
  });
  return text;
}

std::string nodeName(Location loc) {
  if (auto place = modelPlace(loc))
    return place->node;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return nodeName(call.getCallee());
  if (auto named = dyn_cast<NameLoc>(loc))
    return named.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::string name = nodeName(part); !name.empty())
        return name;
  return "";
}

SmallVector<Location> operatorLocs(Operation *op) {
  SmallVector<Location> locs;
  llvm::StringSet<> names; // its own comes last: what it reads is computed before
  names.insert(nodeName(op->getLoc()));
  for (Region &body : op->getRegions())
    body.walk([&](Operation *inner) {
      bool computes = inner->getNumResults() > 0 && !inner->hasTrait<OpTrait::ConstantLike>();
      std::string name = computes ? nodeName(inner->getLoc()) : "";
      if (!name.empty() && names.insert(name).second)
        locs.push_back(inner->getLoc());
    });
  locs.push_back(op->getLoc());
  return locs;
}

std::string nodeSuffix(Location loc) {
  std::string name = nodeName(loc);
  return name.empty() ? "" : " " + name;
}

} // namespace tw
