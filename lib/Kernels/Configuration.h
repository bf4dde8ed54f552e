// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configurations as names and values, which is what files, solvers and the IR have of them; each
// template has a struct of its own beside that, and a table that says which member is which.
#pragma once
#include "IR/Tile/ConfigurationSchema.h"
#include "Kernels/Fields.h"
#include <span>
#include <variant>

namespace tw::kernels {

/// A configuration of any kind.
struct Configuration {
  std::string kind; // the name of its schema
  Fields fields;
  std::string target = {}; // whose fields these are; empty: none
  Fields targetFields = {};
  bool operator==(const Configuration &) const = default;

  /// All values by their symbols.
  Numbers symbols() const {
    Numbers all = fields.symbols();
    all.merge(targetFields.symbols());
    return all;
  }
};

/// A member of a configuration's struct by its name in text.
template <typename C>
struct Member {
  const char *name;
  std::variant<int64_t C::*, bool C::*> member;
  int64_t least;
  const char *meaning;
};

template <typename C>
Numbers numbersOf(const C &of, std::span<const Member<C>> members) {
  Numbers numbers;
  for (const Member<C> &each : members)
    std::visit([&](auto member) { numbers[each.name] = of.*member; }, each.member);
  return numbers;
}

/// Members that `numbers` does not have keep their defaults.
template <typename C>
C fromNumbers(const Numbers &numbers, std::span<const Member<C>> members) {
  C made;
  for (const Member<C> &each : members)
    if (auto found = numbers.find(each.name); found != numbers.end())
      std::visit(
          [&](auto member) {
            made.*member = std::remove_reference_t<decltype(made.*member)>(found->second);
          },
          each.member);
  return made;
}

template <typename C>
ConfigurationSchema schemaOf(std::string name, std::span<const Member<C>> members) {
  ConfigurationSchema schema{std::move(name), {}};
  for (const Member<C> &each : members)
    schema.fields.push_back(
        {each.name,
         each.member.index() == 1 ? ConfigurationField::Flag : ConfigurationField::Number,
         each.least, each.meaning});
  return schema;
}

} // namespace tw::kernels
