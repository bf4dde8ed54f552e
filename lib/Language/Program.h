// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a trace leaves: the operations of a kernel, as plain data. Emit.h writes it as text.
#ifndef TILEWRIGHT_LANGUAGE_PROGRAM_H
#define TILEWRIGHT_LANGUAGE_PROGRAM_H

#include "Support/Size.h"
#include "tilewright/Kernel.h"

#include <set>

namespace tw::kernel::detail {

/// A size, under a name that authors who are in namespace tw do not meet.
struct SizeExpr : tw::Size {
  SizeExpr(tw::Size size) : tw::Size(std::move(size)) {}
};

using Extents = std::vector<tw::Size>;

/// A scalar, or a tile with a shape.
struct Type {
  DType dtype = DType::f32;
  bool isTile = false;
  Extents shape = {};
};

struct Value {
  uint64_t region; // where it was made
  Type type;
  Here here;
  std::string name;                             // what the text calls it, if it can; "" is a number
  bool isNonNegative = false;                   // of an index: known not to be negative
  std::shared_ptr<const Value> alias = nullptr; // the same bits with another dtype (u8 and i8)
};
using ValuePtr = std::shared_ptr<const Value>;
using Values = std::vector<ValuePtr>;

enum class Access : uint8_t { in, out, inout };

struct BufferInfo {
  uint64_t trace;
  std::string name;
  Access access;
  DType dtype;
  Extents shape;
  Here here;
  Ref init = {};
};
using BufferPtr = std::shared_ptr<const BufferInfo>;

struct Op;

struct Region {
  uint64_t id = 0;
  std::string what; // as messages call it: "the body of the loop"
  Here here;
  Values arguments;
  std::vector<Op> ops;
  Values yields;
};

/// What the text of an operation shows beside its operands and types; each uses what it needs.
struct Attributes {
  std::string word = {};             // a kind (max, add), a predicate, a message, a constant
  std::vector<int64_t> numbers = {}; // strides, a permutation, offsets
  std::vector<int64_t> strides = {};
  int64_t axis = 0;
  bool flag = false; // drop, reverse, commutative
  BufferPtr buffer = nullptr;
  size_t positions = 0; // how many of the operands are positions
  bool hasMask = false, hasPad = false;
  tw::Size size = {};
};

struct Op {
  std::string name; // "tile.load"
  Values operands;
  Values results;
  Attributes attributes;
  std::vector<Region> regions;
  Here here;
};

struct ScalarArgument {
  ValuePtr value;
  std::string symbol; // that it binds; "" if none
};

struct DeclaredSymbol {
  std::string name;
  SymbolRange range;
  Here here;
};

struct Program {
  std::string name;
  Here here;
  std::vector<std::variant<BufferPtr, ScalarArgument>> arguments;
  std::vector<DeclaredSymbol> symbols;
  Extents grid;
  std::vector<std::pair<std::string, std::vector<int64_t>>> hints;
  /// Further attributes: name, and value as the text has it.
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<int64_t> begins;     // pairs of arguments: tile.begins
  std::set<std::string> constants; // buffers that are the same in all calls
  bool outputsBind = false;        // the sizes of outputs bind symbols
  Region body;
};

} // namespace tw::kernel::detail

#endif // TILEWRIGHT_LANGUAGE_PROGRAM_H
