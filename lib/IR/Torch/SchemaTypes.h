// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the arguments and types of a schema row. Private to the table: the text is ours, so there
// are no errors; what is not understood becomes TypeKind::Opaque.
#pragma once
#include "IR/Torch/Schema.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"

namespace tw::torch {

/// Parses arguments; owns what they refer to beyond the text itself.
class SchemaParser {
public:
  /// "Tensor self;*;int dim=0".
  llvm::ArrayRef<Argument> parseArguments(llvm::StringRef text);

  /// A copy of `values` that lives as long as the parser.
  template <typename T>
  llvm::ArrayRef<T> keep(llvm::ArrayRef<T> values) {
    if (values.empty())
      return {};
    T *copy = arena.Allocate<T>(values.size());
    std::uninitialized_copy(values.begin(), values.end(), copy);
    return {copy, values.size()};
  }
  llvm::StringRef keep(llvm::StringRef text) { return text.copy(arena); }

private:
  Argument parseArgument(llvm::StringRef text);
  const TypePattern *parseType(llvm::StringRef &text, llvm::StringRef &alias);
  const TypePattern *parseBaseType(llvm::StringRef &text);
  const TypePattern *intern(TypeKind kind, llvm::StringRef spelled,
                            llvm::ArrayRef<const TypePattern *> elements);

  llvm::BumpPtrAllocator arena;
  llvm::StringMap<const TypePattern *> patterns;
};

} // namespace tw::torch
