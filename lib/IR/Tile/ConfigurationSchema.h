// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which fields a kind of configuration has. Templates and targets declare theirs; #tile.config is
// verified against them. No MLIR here, so templates can say theirs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tw {

struct ConfigurationField {
  enum Kind {
    Number,
    Flag, // 0 or 1
    List, // of numbers, one for each loop dimension
  };
  std::string name;
  Kind kind = Number;
  int64_t least = 0; // of a number, and of each of a list
  std::string meaning;
};

struct ConfigurationSchema {
  std::string name; // "contraction", "loops", "cpu", ...
  std::vector<ConfigurationField> fields;

  const ConfigurationField *find(const std::string &field) const {
    for (const ConfigurationField &candidate : fields)
      if (candidate.name == field)
        return &candidate;
    return nullptr;
  }
};

} // namespace tw
