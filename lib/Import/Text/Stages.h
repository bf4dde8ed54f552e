// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of text import, in their order. Private to lib/Import/Text.
#pragma once
#include "Import/Text/Text.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tw::text {

/// Refuses text that could exhaust the parser: too large, nested too deeply, not text.
Status checkLimits(std::string_view text, const std::string &name);

/// torch-mlir declares expressions of symbols, "s77 + 1", as symbols, too: they get names that are
/// identifiers, or go where nothing uses them.
void nameSymbols(mlir::ModuleOp module);

/// Refuses two symbols of one name in a function.
Status checkSymbols(mlir::ModuleOp module);

/// Finds the entry, inlines what it calls, makes it the module's only function, @main.
Result<mlir::func::FuncOp> isolateEntry(mlir::ModuleOp module, const std::string &name,
                                        const std::string &entry);

/// Gives operations names that people can use; those that have one in their location keep it.
void nameOperations(mlir::func::FuncOp entry);

/// Turns !torch.tensor into !torch.vtensor; writes to arguments become results.
Status makeValueSemantic(mlir::func::FuncOp entry);

/// Turns exceptions in branches and cf.assert into assertions.
void normalizeAssertions(mlir::func::FuncOp entry);

/// Rewrites forms of linalg text that the graph level does not know into those it does.
void normalizeForms(mlir::func::FuncOp entry);

/// Asserts what text promises of sizes that are known only when it runs: that operands fit each
/// other, that slices and elements are inside.
void assertSizes(mlir::func::FuncOp entry);

/// Makes the positions of elements that bodies look up safe.
void checkPositions(mlir::func::FuncOp entry);

/// Puts the bytes of dense_resource literals where they are used; refuses missing or wrong ones.
Status resolveResources(mlir::func::FuncOp entry);

/// Whether the torch dialect occurs.
TextLevel levelOf(mlir::func::FuncOp entry);

/// Refuses operations, dtypes and kinds of arguments that no later level takes, all at once.
Status checkSupported(mlir::func::FuncOp entry, TextLevel level);

/// Makes returned tuples several results.
void flattenResults(mlir::func::FuncOp entry);

/// Adds the attributes that tell inputs and outputs, and a symbol for every unnamed dynamic size.
void annotate(mlir::func::FuncOp entry, TextLevel level);

/// Folds Python scalars, lists and optional values of the torch dialect.
void simplify(mlir::func::FuncOp entry);

/// A type as text prints it.
std::string describeType(mlir::Type type);

/// An error about an operation, at its place in the text.
Diagnostic errorAt(mlir::Operation *op, Code code, std::string message, std::string help = {});

/// Replaces the results that `entry` returns and its type accordingly.
void setReturned(mlir::func::FuncOp entry, mlir::ValueRange values);

} // namespace tw::text
