// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Size.h"
#include "Support/Checked.h"
#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

namespace tw {

/// Characters of a division. The text has a part as often as it is used, and whatever walks a size
/// comes by it as often: a few dozen times n = n * n mod 7 + n would take for ever.
static constexpr size_t mostText = 1 << 16;

static constexpr const char *operatorNames[] = {"", "floordiv", "ceildiv", "mod"};

Size::Size(int64_t constant) { add({}, constant); }

Size Size::symbol(std::string name) {
  Size size;
  size.add({Atom{Kind::Symbol, std::move(name), nullptr, nullptr}}, 1);
  return size;
}

bool Size::isSymbolName(std::string_view name) {
  auto isLetter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
  auto isInner = [&](char c) { return isLetter(c) || c == '_' || (c >= '0' && c <= '9'); };
  static const std::set<std::string_view> reserved = {"floordiv", "ceildiv", "mod", "symbols",
                                                      "grid"};
  return !name.empty() && (isLetter(name[0]) || name[0] == '_') &&
         std::all_of(name.begin(), name.end(), isInner) && !reserved.contains(name);
}

Size Size::invalid() {
  Size size;
  size.isValid = false;
  return size;
}

void Size::add(const Product &product, std::optional<int64_t> coefficient) {
  auto found = terms.find(product);
  auto sum =
      coefficient && found != terms.end() ? checkedAdd(found->second, *coefficient) : coefficient;
  if (!sum)
    *this = invalid();
  else if (*sum)
    terms[product] = *sum;
  else if (found != terms.end())
    terms.erase(found);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Size operator+(const Size &a, const Size &b) {
  if (!a.isValid || !b.isValid)
    return Size::invalid();
  Size sum = a;
  for (const auto &[product, coefficient] : b.terms)
    if (sum.isValid)
      sum.add(product, coefficient);
  return sum;
}

Size operator-(const Size &a, const Size &b) { return a + b * Size(-1); }

Size operator*(const Size &a, const Size &b) {
  if (!a.isValid || !b.isValid)
    return Size::invalid();
  Size result;
  for (const auto &[left, x] : a.terms)
    for (const auto &[right, y] : b.terms) {
      Size::Product product = left;
      product.insert(product.end(), right.begin(), right.end());
      std::sort(product.begin(), product.end());
      if (result.isValid)
        result.add(product, checkedMul(x, y));
      if (result.terms.size() > Size::mostTerms || product.size() > Size::mostTerms)
        return Size::invalid();
    }
  return result;
}

std::optional<int64_t> Size::divide(Kind kind, int64_t a, int64_t b) {
  auto quotient = checkedFloorDiv(a, b), rest = checkedMod(a, b);
  if (kind == Kind::Mod)
    return rest;
  bool isAbove = kind == Kind::CeilDiv && rest && *rest != 0;
  return quotient ? std::optional(*quotient + isAbove) : std::nullopt;
}

/// What `b`, a constant, divides exactly is divided; the rest stays as one atom.
Size Size::divide(Kind kind, const Size &a, const Size &b) {
  if (!a.isValid || !b.isValid)
    return invalid();
  auto divisor = b.constant();
  if (divisor == 0)
    return invalid();
  Size exact, rest;
  for (const auto &[product, coefficient] : a.terms)
    if (divisor && !product.empty() && divide(Kind::Mod, coefficient, *divisor) == 0)
      exact.add(product, divide(Kind::FloorDiv, coefficient, *divisor));
    else
      rest.add(product, coefficient);
  Size result = kind == Kind::Mod ? Size() : exact;
  if (auto left = rest.constant(); left && divisor) {
    auto value = divide(kind, *left, *divisor);
    return value ? result + Size(*value) : invalid();
  }
  Atom atom{kind, rest.asOperand() + " " + operatorNames[int(kind)] + " " + b.asOperand(),
            std::make_shared<Size>(rest), std::make_shared<Size>(b)};
  if (atom.text.size() > mostText)
    return invalid();
  result.add({std::move(atom)}, 1);
  return result;
}

Size floorDiv(const Size &a, const Size &b) { return Size::divide(Size::Kind::FloorDiv, a, b); }
Size ceilDiv(const Size &a, const Size &b) { return Size::divide(Size::Kind::CeilDiv, a, b); }
Size mod(const Size &a, const Size &b) { return Size::divide(Size::Kind::Mod, a, b); }

Size tripCount(const Size &begin, const Size &end, int64_t step) {
  Size distance = end - begin;
  return ceilDiv(distance.constant().value_or(0) < 0 ? Size(0) : distance, Size(step));
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool Size::operator==(const Size &other) const {
  return isValid == other.isValid && terms == other.terms;
}

std::optional<int64_t> Size::constant() const {
  if (!isValid || terms.size() > 1)
    return std::nullopt;
  if (terms.empty())
    return 0;
  return terms.begin()->first.empty() ? std::optional(terms.begin()->second) : std::nullopt;
}

std::optional<std::string> Size::asSymbol() const {
  if (!isValid || terms.size() != 1)
    return std::nullopt;
  const auto &[product, coefficient] = *terms.begin();
  if (coefficient != 1 || product.size() != 1 || product[0].kind != Kind::Symbol)
    return std::nullopt;
  return product[0].text;
}

std::set<std::string> Size::symbols() const {
  std::set<std::string> result;
  for (const auto &[product, coefficient] : terms)
    for (const Atom &atom : product)
      if (atom.kind == Kind::Symbol)
        result.insert(atom.text);
      else
        for (const Size *part : {atom.left.get(), atom.right.get()})
          result.merge(part->symbols());
  return result;
}

bool Size::isNonNegative() const {
  return isValid && std::all_of(terms.begin(), terms.end(), [](const auto &term) {
           return term.second >= 0 &&
                  std::all_of(term.first.begin(), term.first.end(), [](const Atom &atom) {
                    return atom.kind == Kind::Symbol ||
                           (atom.left->isNonNegative() && atom.right->isNonNegative());
                  });
         });
}

bool Size::mayDivideByZero() const {
  return std::any_of(terms.begin(), terms.end(), [](const auto &term) {
    return std::any_of(term.first.begin(), term.first.end(), [](const Atom &atom) {
      return atom.kind != Kind::Symbol &&
             (!atom.right->constant() || atom.left->mayDivideByZero() ||
              atom.right->mayDivideByZero());
    });
  });
}

Size Size::substitute(const std::map<std::string, Size> &replacements) const {
  if (!isValid)
    return *this;
  Size sum;
  for (const auto &[product, coefficient] : terms) {
    Size term(coefficient);
    for (const Atom &atom : product) {
      if (atom.kind != Kind::Symbol) {
        term = term * divide(atom.kind, atom.left->substitute(replacements),
                             atom.right->substitute(replacements));
        continue;
      }
      auto found = replacements.find(atom.text);
      term = term * (found == replacements.end() ? symbol(atom.text) : found->second);
    }
    sum = sum + term;
  }
  return sum;
}

std::optional<int64_t> Size::evaluate(const Values &values) const {
  if (!isValid)
    return std::nullopt;
  int64_t sum = 0;
  for (const auto &[product, coefficient] : terms) {
    std::optional<int64_t> term = coefficient;
    for (const Atom &atom : product) {
      std::optional<int64_t> factor;
      if (atom.kind != Kind::Symbol) {
        auto left = atom.left->evaluate(values), right = atom.right->evaluate(values);
        factor = left && right ? divide(atom.kind, *left, *right) : std::nullopt;
      } else if (auto found = values.find(atom.text); found != values.end()) {
        factor = found->second;
      }
      term = term && factor ? checkedMul(*term, *factor) : std::nullopt;
    }
    auto next = term ? checkedAdd(sum, *term) : std::nullopt;
    if (!next)
      return std::nullopt;
    sum = *next;
  }
  return sum;
}

std::optional<Size::Linear> Size::linear(const std::set<std::string> &known) const {
  std::set<std::string> unknown = symbols();
  std::erase_if(unknown, [&](const std::string &symbol) { return known.contains(symbol); });
  if (!isValid || unknown.size() != 1)
    return std::nullopt;
  const std::string &symbol = *unknown.begin();
  auto isUnknown = [&](const Atom &atom) {
    return atom.kind == Kind::Symbol && atom.text == symbol;
  };
  Size factor, offset;
  for (const auto &[product, coefficient] : terms) {
    Product rest;
    std::copy_if(product.begin(), product.end(), std::back_inserter(rest), std::not_fn(isUnknown));
    for (const Atom &atom : rest)
      if (atom.kind != Kind::Symbol &&
          (atom.left->symbols().contains(symbol) || atom.right->symbols().contains(symbol)))
        return std::nullopt;
    if (product.size() - rest.size() > 1)
      return std::nullopt;
    (product.size() == rest.size() ? offset : factor).add(rest, coefficient);
  }
  return Linear{symbol, std::move(factor), std::move(offset)};
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// As it stands beside an operator that binds like *: in parentheses unless it is one symbol or one
/// number that is not negative.
std::string Size::asOperand() const {
  auto value = constant();
  return asSymbol() || (value && *value >= 0) ? str() : "(" + str() + ")";
}

std::string Size::text(const Product &product, int64_t coefficient) {
  std::string result;
  for (const Atom &atom : product) {
    bool isAlone = product.size() == 1 && coefficient == 1;
    bool isBare = atom.kind == Kind::Symbol || isAlone;
    result += (result.empty() ? "" : " * ") + (isBare ? atom.text : "(" + atom.text + ")");
  }
  if (product.empty() || coefficient != 1)
    result += (product.empty() ? "" : " * ") + std::to_string(coefficient);
  return result;
}

std::string Size::str() const {
  if (!isValid)
    return "<overflow>";
  std::string result, constant;
  for (const auto &[product, coefficient] : terms) {
    // The least integer has no positive counterpart.
    bool isMinus =
        !result.empty() && coefficient < 0 && coefficient != std::numeric_limits<int64_t>::min();
    std::string term = text(product, isMinus ? -coefficient : coefficient);
    if (product.empty())
      constant = term; // last, after all others
    else
      result += (result.empty() ? "" : isMinus ? " - " : " + ") + term;
  }
  if (constant.empty())
    return result.empty() ? "0" : result;
  if (result.empty())
    return constant;
  return constant[0] == '-' ? result + " - " + constant.substr(1) : result + " + " + constant;
}

namespace {

/// sum := product (("+" | "-") product)*;  product := operand (("*" | "floordiv" | ...) operand)*;
/// operand := number | symbol | "(" sum ")" | "-" operand.
class SizeParser {
public:
  SizeParser(std::string_view text, std::string &why) : rest(text), why(why) {}

  std::optional<Size> run() {
    auto size = sum();
    skipSpace();
    if (size && !rest.empty())
      return fail("unexpected \"" + std::string(rest) + "\"");
    if (size && !size->valid())
      return fail("it overflows, divides by 0 or has too many terms");
    return size;
  }

private:
  static constexpr int deepest = 100;

  std::optional<Size> fail(std::string reason) {
    if (why.empty())
      why = std::move(reason);
    return std::nullopt;
  }

  void skipSpace() { rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size())); }

  bool take(char c) {
    skipSpace();
    if (rest.empty() || rest[0] != c)
      return false;
    rest.remove_prefix(1);
    return true;
  }

  std::string_view peekWord() {
    skipSpace();
    auto isWord = [](char c) {
      return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
    };
    return rest.substr(0, std::find_if_not(rest.begin(), rest.end(), isWord) - rest.begin());
  }

  std::optional<Size> sum() {
    auto left = product();
    while (left) {
      bool isMinus = take('-');
      if (!isMinus && !take('+'))
        break;
      auto right = product();
      if (!right)
        return std::nullopt;
      left = isMinus ? *left - *right : *left + *right;
    }
    return left;
  }

  std::optional<Size> product() {
    using Apply = Size (*)(const Size &, const Size &);
    static constexpr std::pair<std::string_view, Apply> words[] = {
        {"floordiv", floorDiv}, {"ceildiv", ceilDiv}, {"mod", mod}};
    auto left = operand();
    while (left) {
      Apply apply = nullptr;
      if (take('*')) {
        apply = [](const Size &a, const Size &b) { return a * b; };
      } else {
        for (auto [word, function] : words)
          if (peekWord() == word)
            apply = function;
        if (!apply)
          break;
        rest.remove_prefix(peekWord().size());
      }
      auto right = operand();
      if (!right)
        return std::nullopt;
      left = apply(*left, *right);
    }
    return left;
  }

  std::optional<Size> operand() {
    if (++depth > deepest)
      return fail("it is nested too deeply");
    auto result = operandInside();
    --depth;
    return result;
  }

  std::optional<Size> operandInside() {
    if (take('-')) {
      auto size = operand();
      return size ? std::optional(Size(0) - *size) : std::nullopt;
    }
    if (take('(')) {
      auto size = sum();
      return !size || take(')') ? size : fail("')' is missing");
    }
    std::string_view word = peekWord();
    if (word.empty())
      return fail("a number, a symbol or '(' is missing");
    rest.remove_prefix(word.size());
    return word[0] >= '0' && word[0] <= '9' ? number(word) : name(word);
  }

  std::optional<Size> number(std::string_view word) {
    int64_t value = 0;
    for (char digit : word) {
      auto next = digit >= '0' && digit <= '9' ? checkedMul(value, 10) : std::nullopt;
      next = next ? checkedAdd(*next, digit - '0') : std::nullopt;
      if (!next)
        return fail("\"" + std::string(word) + "\" is no 64-bit integer");
      value = *next;
    }
    return Size(value);
  }

  std::optional<Size> name(std::string_view word) {
    if (!Size::isSymbolName(word))
      return fail("\"" + std::string(word) + "\" cannot be the name of a symbol");
    return Size::symbol(std::string(word));
  }

  std::string_view rest;
  std::string &why;
  int depth = 0;
};

} // namespace

std::optional<Size> Size::parse(std::string_view text, std::string &why) {
  why.clear();
  return SizeParser(text, why).run();
}

} // namespace tw
