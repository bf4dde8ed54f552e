// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of buffers, tiles and grids: expressions over symbols in a normal form, so that equal sizes
// compare and print equal. docs/tile-programs.md, "Types".
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// A sum of integer multiples of products of atoms; an atom is a symbol or a division (floordiv,
/// ceildiv, mod, rounding as in mathematics) that does not simplify. Values are 64-bit integers;
/// an expression whose coefficients overflow, that divides by 0, has more than `mostTerms` terms or
/// a division of more than 65,536 characters is not `valid` and stays so.
class Size {
public:
  static constexpr size_t mostTerms = 256;
  using Values = std::map<std::string, int64_t, std::less<>>;

  Size(int64_t constant = 0);
  /// `name` must be an identifier that is no operator of the text form; or one that begins with
  /// '%', which no text can name.
  static Size symbol(std::string name);
  static bool isSymbolName(std::string_view name);
  /// Reads the text form, in which `str` writes: integers, symbols, + - * floordiv ceildiv mod,
  /// parentheses, unary -; * and the divisions bind alike, from the left. On an error nothing is
  /// returned and `why` says what is wrong.
  static std::optional<Size> parse(std::string_view text, std::string &why);

  friend Size operator+(const Size &a, const Size &b);
  friend Size operator-(const Size &a, const Size &b);
  friend Size operator*(const Size &a, const Size &b);
  friend Size floorDiv(const Size &a, const Size &b);
  friend Size ceilDiv(const Size &a, const Size &b);
  friend Size mod(const Size &a, const Size &b);

  bool operator==(const Size &other) const;
  bool valid() const { return isValid; }
  std::string str() const;
  /// The value, when it depends on no symbol.
  std::optional<int64_t> constant() const;
  /// The symbol, when it is nothing else.
  std::optional<std::string> asSymbol() const;
  std::set<std::string> symbols() const;
  /// Whether it certainly is not negative where no symbol is: nothing is subtracted in it.
  bool isNonNegative() const;
  /// Whether it may divide by 0: a divisor in it is no constant.
  bool mayDivideByZero() const;

  Size substitute(const std::map<std::string, Size> &replacements) const;
  /// Empty when a symbol has no value, on overflow and on division by 0.
  std::optional<int64_t> evaluate(const Values &values) const;

  /// The value in another arithmetic, such as instructions: `ops` has constant(int64_t),
  /// symbol(const std::string &), add, mul, floorDiv, ceilDiv and mod on what these return.
  template <typename Ops>
  auto build(Ops &&ops) const -> decltype(ops.constant(0)) {
    auto sum = ops.constant(0);
    for (const auto &[product, coefficient] : terms) {
      auto term = ops.constant(coefficient);
      for (const Atom &atom : product)
        term = ops.mul(term, buildAtom(atom, ops));
      sum = ops.add(sum, term);
    }
    return sum;
  }

  struct Linear;
  /// The line that it is in its one symbol that is not among `known`; empty when it has none or
  /// several such symbols, or is no line in it.
  std::optional<Linear> linear(const std::set<std::string> &known) const;

private:
  enum class Kind : uint8_t { Symbol, FloorDiv, CeilDiv, Mod };
  struct Atom {
    Kind kind;
    std::string text; // the symbol, or the whole division
    std::shared_ptr<const Size> left, right;
    bool operator<(const Atom &other) const { return text < other.text; }
    bool operator==(const Atom &other) const { return text == other.text; }
  };
  using Product = std::vector<Atom>; // sorted; empty: the constant term

  template <typename Ops>
  static auto buildAtom(const Atom &atom, Ops &&ops) -> decltype(ops.constant(0)) {
    switch (atom.kind) {
    case Kind::FloorDiv:
      return ops.floorDiv(atom.left->build(ops), atom.right->build(ops));
    case Kind::CeilDiv:
      return ops.ceilDiv(atom.left->build(ops), atom.right->build(ops));
    case Kind::Mod:
      return ops.mod(atom.left->build(ops), atom.right->build(ops));
    case Kind::Symbol:
      break;
    }
    return ops.symbol(atom.text);
  }
  static Size invalid();
  static Size divide(Kind kind, const Size &a, const Size &b);
  static std::optional<int64_t> divide(Kind kind, int64_t a, int64_t b);
  void add(const Product &product, std::optional<int64_t> coefficient);
  std::string asOperand() const;
  static std::string text(const Product &product, int64_t coefficient);

  std::map<Product, int64_t> terms; // no coefficient is 0
  bool isValid = true;
};

/// factor * symbol + offset; the symbol is in neither, and the factor is not the constant 0.
struct Size::Linear {
  std::string symbol;
  Size factor, offset;
};

Size operator+(const Size &a, const Size &b);
Size operator-(const Size &a, const Size &b);
Size operator*(const Size &a, const Size &b);
/// Rounded down, rounded up, and the remainder of rounding down.
Size floorDiv(const Size &a, const Size &b);
Size ceilDiv(const Size &a, const Size &b);
Size mod(const Size &a, const Size &b);
/// How often a loop from `begin` to before `end` runs whose `step` is positive, and whose end is
/// not before its begin unless both are constants.
Size tripCount(const Size &begin, const Size &end, int64_t step);

} // namespace tw
