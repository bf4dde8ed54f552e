// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Constraint.h"
#include <algorithm>
#include <cassert>
#include <iterator>

namespace tw::kernels {

static Size parsed(std::string_view text) {
  std::string why;
  auto size = Size::parse(text, why);
  assert(size && "a constraint is no size expression");
  return *size;
}

Constraint::Constraint(std::string_view less, std::string_view more, std::string_view reason)
    : less(parsed(less)), more(parsed(more)), lessText(less), moreText(more), reason(reason) {}

/// An expression with the symbols of `texts` written as it says.
static std::string withTexts(std::string_view expression, const SymbolTexts &texts) {
  auto isWord = [](char c) {
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
  };
  std::string written;
  while (!expression.empty()) {
    auto end = std::find_if_not(expression.begin(), expression.end(), isWord);
    std::string_view word(expression.begin(), end);
    if (word.empty())
      word = expression.substr(0, 1);
    auto found = texts.find(word);
    written += found == texts.end() ? word : std::string_view(found->second);
    expression.remove_prefix(word.size());
  }
  return written;
}

std::vector<Constraint> allConstraints(std::vector<Constraint> common,
                                       const ConfigurationSchema &schema,
                                       std::vector<Constraint> own) {
  for (const ConfigurationField &field : schema.fields)
    common.emplace_back(std::to_string(field.least), field.name);
  std::move(own.begin(), own.end(), std::back_inserter(common));
  return common;
}

const Constraint *firstViolated(const std::vector<Constraint> &constraints, const Numbers &values) {
  auto found = std::find_if(constraints.begin(), constraints.end(), [&](const Constraint &c) {
    auto less = c.less.evaluate(values), more = c.more.evaluate(values);
    return !less || !more || *less > *more;
  });
  return found == constraints.end() ? nullptr : &*found;
}

std::string describe(const Constraint &constraint, const Numbers &values,
                     const SymbolTexts &texts) {
  auto side = [&](const Size &size, const std::string &written) {
    auto value = size.evaluate(values);
    std::string text = withTexts(written, texts);
    return size.constant() ? text : text + " = " + (value ? std::to_string(*value) : "?");
  };
  std::string text = side(constraint.less, constraint.lessText) + " must not be more than " +
                     side(constraint.more, constraint.moreText);
  return constraint.reason.empty() ? text : text + ": " + constraint.reason;
}

} // namespace tw::kernels
