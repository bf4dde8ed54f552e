// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small readers that the files of the schema share.
#pragma once
#include "Import/Pt2/Schema/Schema.h"

namespace tw::pt2 {

/// The one member of a union: its tag and value. Members that are null do not count.
struct Tagged {
  std::string_view tag;
  Json value;
};
Result<Tagged> readUnion(const Json &json);

/// Reads each element of the array `json` with `read`.
template <typename T, typename F>
Status readList(const Json &json, std::vector<T> &out, F read) {
  return json.forEach([&](Json element) -> Status {
    TW_ASSIGN(T value, read(element));
    out.push_back(std::move(value));
    return {};
  });
}

/// Reads each member of the object `json` with `read`.
template <typename T, typename F>
Status readMembers(const Json &json, Named<T> &out, F read) {
  return json.forEachMember([&](std::string_view key, Json element) -> Status {
    TW_ASSIGN(T value, read(element));
    out.emplace_back(key, std::move(value));
    return {};
  });
}

Result<Argument> readArgument(const Json &json);
Result<SymInt> readSymInt(const Json &json);
Result<TensorMeta> readTensorMeta(const Json &json);
Result<Graph> readGraph(const Json &json);
/// {"name": ...}.
Result<std::string_view> readName(const Json &json);

} // namespace tw::pt2
