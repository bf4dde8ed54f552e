// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schemas of PyTorch's operators: data, not hand-written ops. The table is AtenSchemas.tsv,
// made by scripts/dump_aten_schemas.py; it is part of the binary, immutable and independent of any
// MLIRContext. A row's arguments are parsed when first asked for.
#pragma once
#include "mlir/IR/Types.h"
#include "mlir/Support/TypeID.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <atomic>
#include <optional>

namespace tw::torch {

enum class TypeKind : uint8_t {
  Tensor,
  Int, // also SymInt, ScalarType, Layout, MemoryFormat: integers in the torch dialect
  Float,
  Bool,
  Number, // Scalar
  Complex,
  Str,
  Device,
  Generator,
  None,
  Any,
  Variable, // a type variable: "t", "key"
  List,
  Optional,
  Tuple,
  Dict,
  Opaque // classes of TorchScript; no type of the dialect is checked against them
};

/// A type as a schema spells it. Equal spellings are one object.
struct TypePattern {
  TypeKind kind;
  llvm::StringRef spelled; // "int[2]?"
  llvm::ArrayRef<const TypePattern *> elements;

  /// True when this is `kind` or an optional of it.
  bool isOrOptional(TypeKind kind) const;
};

/// One argument or result.
struct Argument {
  llvm::StringRef name; // empty for unnamed results
  const TypePattern *type;
  llvm::StringRef defaultText; // a Python literal: "None", "[0, 1]"; null data() without default
  llvm::StringRef alias;       // "a", "a!", "a -> *"; empty when it aliases nothing
  bool isKeywordOnly = false;
  bool isWritten = false; // in-place and out arguments

  bool hasDefault() const { return defaultText.data(); }
};

enum class Flag : uint32_t {
  Mutates = 1 << 0,      // writes to an argument
  Random = 1 << 1,       // depends on the random state
  SideEffect = 1 << 2,   // exists for its effect: assertions, printing
  MaybeAliases = 1 << 3, // a result may or may not be a view
  View = 1 << 4,         // a result aliases an argument
  Core = 1 << 5,         // torch.Tag.core
  Pointwise = 1 << 6,
  Reduction = 1 << 7,
  DynamicShape = 1 << 8, // the result's sizes or value depend on data
  InplaceView = 1 << 9,
  Out = 1 << 10, // an out= variant
  ViewCopy = 1 << 11,
  AnyArguments = 1 << 12, // ends in "..."
  AnyResults = 1 << 13,
};

/// One overload. Its address is the TypeID of the operation, hence the alignment.
struct alignas(8) Schema {
  llvm::StringRef opName; // "torch.aten.add.Tensor"
  uint32_t flags;
  llvm::StringRef argumentText, resultText; // fields of the table

  bool has(Flag flag) const { return flags & static_cast<uint32_t>(flag); }
  llvm::ArrayRef<Argument> arguments() const { return signature().arguments; }
  llvm::ArrayRef<Argument> results() const { return signature().results; }
  /// The position of an argument by name; empty when there is none.
  std::optional<unsigned> argumentIndex(llvm::StringRef name) const;
  /// "aten::mm(Tensor self, Tensor mat2) -> Tensor", as PyTorch prints it.
  std::string str() const;
  mlir::TypeID typeID() const { return mlir::TypeID::getFromOpaquePointer(this); }
  static const Schema &fromTypeID(mlir::TypeID id) {
    return *static_cast<const Schema *>(id.getAsOpaquePointer());
  }

  struct Signature {
    llvm::ArrayRef<Argument> arguments, results;
  };

private:
  const Signature &signature() const;
  mutable std::atomic<const Signature *> parsed{nullptr};
  friend class SchemaTable;
};

/// All rows, sorted by name.
llvm::ArrayRef<Schema> schemaTable();

/// By operation name ("torch.aten.mm"); null when PyTorch has no such operator.
const Schema *lookupSchema(llvm::StringRef opName);

/// By PyTorch's name as exported programs spell it: "torch.ops.aten.add.Tensor",
/// "torch.ops.aten.mm.default", "aten::mm"; null when unknown.
const Schema *lookupTarget(llvm::StringRef target);

/// Whether a value of `type` may stand for `pattern`. A written tensor must be `!torch.tensor`.
bool matches(const TypePattern &pattern, mlir::Type type, bool isWritten);

} // namespace tw::torch
