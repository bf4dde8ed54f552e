// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/SmtLib.h"
#include <fmt/format.h>

namespace tw::tune {

namespace {

/// What Size::build asks for, as text. SMT-LIB's div and mod round down where the divisor is
/// positive; of other divisors a constraint says nothing, and it does not hold.
class TextOps {
public:
  explicit TextOps(std::vector<std::string> &divisors) : divisors(divisors) {}

  std::string constant(int64_t value) const {
    return value < 0 ? fmt::format("(- {})", -static_cast<uint64_t>(value)) : std::to_string(value);
  }
  std::string symbol(const std::string &name) const { return name; }
  std::string add(const std::string &a, const std::string &b) const {
    return fmt::format("(+ {} {})", a, b);
  }
  std::string mul(const std::string &a, const std::string &b) const {
    return fmt::format("(* {} {})", a, b);
  }
  std::string floorDiv(const std::string &a, const std::string &b) const {
    divisors.push_back(b);
    return fmt::format("(div {} {})", a, b);
  }
  std::string ceilDiv(const std::string &a, const std::string &b) const {
    return fmt::format("(- {})", floorDiv(fmt::format("(- {})", a), b));
  }
  std::string mod(const std::string &a, const std::string &b) const {
    divisors.push_back(b);
    return fmt::format("(mod {} {})", a, b);
  }

private:
  std::vector<std::string> &divisors;
};

std::string textOf(const Constraint &constraint) {
  std::vector<std::string> divisors;
  TextOps ops(divisors);
  std::string text =
      fmt::format("(<= {} {})", constraint.less.build(ops), constraint.more.build(ops));
  if (divisors.empty())
    return text;
  std::string all = "(and";
  for (const std::string &divisor : divisors)
    all += fmt::format(" (> {} 0)", divisor);
  return fmt::format("{} {})", all, text);
}

} // namespace

std::string smtLib(const Space &space) {
  std::string text;
  for (const Knob &knob : space.knobs) {
    text += fmt::format("(declare-const {} Int)\n(assert (! (or", knob.name);
    for (int64_t value : knob.values)
      text += fmt::format(" (= {} {})", knob.name, value);
    // A disjunction of nothing is false, but takes one argument at least.
    text += fmt::format("{}) :named values_{}))\n", knob.values.empty() ? " false" : "", knob.name);
  }
  for (size_t number = 0; number < space.constraints.size(); ++number) {
    const Constraint &constraint = space.constraints[number];
    text += fmt::format("; {} <= {}{}{}\n", constraint.lessText, constraint.moreText,
                        constraint.reason.empty() ? "" : ": ", constraint.reason);
    text += fmt::format("(assert (! {} :named c{}))\n", textOf(constraint), number);
  }
  return text;
}

} // namespace tw::tune
