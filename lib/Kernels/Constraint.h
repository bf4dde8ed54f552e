// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a configuration legal, as data: whoever searches configurations gives these to a
// solver; whoever has one asks `holds`.
#pragma once
#include "IR/Tile/ConfigurationSchema.h"
#include "Support/Size.h"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tw::kernels {

/// `less` must not be more than `more`, over the numbers of a configuration and what it has to fit.
/// `Size::build` writes them for a solver.
struct Constraint {
  /// In Size's text form, which is kept for messages. `reason`: what would go wrong, for people.
  Constraint(std::string_view less, std::string_view more, std::string_view reason = {});
  Size less, more;
  std::string lessText, moreText, reason;
};

/// What a target asks of a configuration beside what all of them do: `common`, the least values of
/// the schema's fields, and `own`.
std::vector<Constraint> allConstraints(std::vector<Constraint> common,
                                       const ConfigurationSchema &schema,
                                       std::vector<Constraint> own);

/// Numbers by name.
using Numbers = Size::Values;

/// The first that does not hold, or null; one that cannot be evaluated with `values` does not.
const Constraint *firstViolated(const std::vector<Constraint> &constraints, const Numbers &values);
inline bool holds(const std::vector<Constraint> &constraints, const Numbers &values) {
  return !firstViolated(constraints, values);
}
/// What symbols are called that people know under another name.
using SymbolTexts = std::map<std::string, std::string, std::less<>>;

/// "rows = 40 must not be more than 32": both sides of a constraint as they were written but for
/// the symbols of `texts`, their values where they are no numbers, and the reason.
std::string describe(const Constraint &constraint, const Numbers &values,
                     const SymbolTexts &texts = {});

} // namespace tw::kernels
