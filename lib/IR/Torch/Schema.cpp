// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Torch/Schema.h"
#include "IR/Torch/SchemaTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <memory>
#include <mutex>

using namespace llvm;

namespace tw::torch {

static const char tableText[] =
#include "IR/Torch/AtenSchemas.inc"
    ;

static uint32_t parseFlags(StringRef letters) {
  static constexpr std::pair<char, Flag> flagOf[] = {
      {'m', Flag::Mutates},      {'s', Flag::Random},      {'e', Flag::SideEffect},
      {'a', Flag::MaybeAliases}, {'v', Flag::View},        {'c', Flag::Core},
      {'p', Flag::Pointwise},    {'r', Flag::Reduction},   {'d', Flag::DynamicShape},
      {'D', Flag::DynamicShape}, {'i', Flag::InplaceView}, {'o', Flag::Out},
      {'w', Flag::ViewCopy}};
  uint32_t flags = 0;
  for (auto [letter, flag] : flagOf)
    if (letters.contains(letter))
      flags |= static_cast<uint32_t>(flag);
  return flags;
}

/// The rows, and the parser that owns their signatures.
class SchemaTable {
public:
  static SchemaTable &get() {
    static SchemaTable table;
    return table;
  }

  ArrayRef<Schema> rows() const { return {storage.get(), count}; }

  const Schema::Signature *parse(const Schema &row) {
    std::lock_guard<std::mutex> guard(mutex);
    if (const Schema::Signature *done = row.parsed.load(std::memory_order_relaxed))
      return done;
    Schema::Signature signature{parser.parseArguments(row.argumentText),
                                parser.parseArguments(row.resultText)};
    const Schema::Signature *kept = parser.keep(ArrayRef(signature)).data();
    row.parsed.store(kept, std::memory_order_release);
    return kept;
  }

private:
  SchemaTable() {
    StringRef text(tableText, sizeof(tableText) - 1);
    storage = std::make_unique<Schema[]>(text.count('\n'));
    while (!text.empty()) {
      auto [line, rest] = text.split('\n');
      text = rest;
      if (!line.empty() && !line.starts_with("#"))
        fill(storage[count++], line);
    }
  }

  void fill(Schema &row, StringRef line) {
    SmallVector<StringRef, 4> fields;
    line.split(fields, '\t');
    row.opName = parser.keep(("torch." + fields[0]).str());
    row.flags = parseFlags(fields[1]);
    row.argumentText = fields[2];
    row.resultText = fields[3];
    if (row.argumentText.ends_with("..."))
      row.flags |= static_cast<uint32_t>(Flag::AnyArguments);
    if (row.resultText == "...")
      row.flags |= static_cast<uint32_t>(Flag::AnyResults);
    // Interpreter primitives without a real schema may do anything.
    if (row.has(Flag::AnyArguments) && row.opName.starts_with("torch.prim."))
      row.flags |= static_cast<uint32_t>(Flag::SideEffect);
  }

  std::unique_ptr<Schema[]> storage;
  size_t count = 0;
  SchemaParser parser;
  std::mutex mutex;
};

bool TypePattern::isOrOptional(TypeKind wanted) const {
  return kind == wanted || (kind == TypeKind::Optional && elements[0]->kind == wanted);
}

const Schema::Signature &Schema::signature() const {
  const Signature *done = parsed.load(std::memory_order_acquire);
  return done ? *done : *SchemaTable::get().parse(*this);
}

std::optional<unsigned> Schema::argumentIndex(StringRef name) const {
  for (auto [index, argument] : enumerate(arguments()))
    if (argument.name == name)
      return index;
  return std::nullopt;
}

std::string Schema::str() const {
  auto listed = [](StringRef text) { return join(split(text, ';'), ", "); };
  auto [space, name] = opName.drop_front(StringRef("torch.").size()).split('.');
  std::string returned = listed(resultText);
  if (results().size() != 1)
    returned = "(" + returned + ")";
  return (space + "::" + name + "(" + listed(argumentText) + ") -> " + returned).str();
}

ArrayRef<Schema> schemaTable() { return SchemaTable::get().rows(); }

const Schema *lookupSchema(StringRef opName) {
  ArrayRef<Schema> rows = schemaTable();
  const Schema *row = partition_point(rows, [&](const Schema &r) { return r.opName < opName; });
  return row != rows.end() && row->opName == opName ? row : nullptr;
}

const Schema *lookupTarget(StringRef target) {
  target.consume_front("torch.ops.");
  std::string name = target.str();
  if (size_t colons = name.find("::"); colons != std::string::npos)
    name.replace(colons, 2, ".");
  if (StringRef(name).ends_with(".default"))
    name.resize(name.size() - StringRef(".default").size());
  return lookupSchema("torch." + name);
}

} // namespace tw::torch
