// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbols of a kernel that are known only when the program runs: as values of the host program,
// solved and checked there by the rules of Binding.h.
#pragma once
#include "Support/SolveSymbols.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <string>
#include <vector>

namespace tw {
struct KernelSignature;

namespace tile {

class RuntimeBinding {
public:
  RuntimeBinding(mlir::OpBuilder &b, mlir::Location loc, const KernelSignature &kernel)
      : b(b), loc(loc), kernel(kernel) {}

  /// Binds and checks everything: `given` has a value for each argument of the kernel that is not
  /// `out`, a tensor or an index. False when a symbol does not follow from them.
  bool bind(llvm::ArrayRef<mlir::Value> given);

  /// The value of a size under the symbols, which bind() has found.
  mlir::Value evaluate(const Size &size);
  /// The same for a size that must not be negative.
  mlir::Value evaluateSize(const Size &size, const std::string &place);
  /// Ends the call unless `value` is `wanted`: "kernel k: PLACE must be M + 1 = 4, but is 5".
  void require(mlir::Value value, const Size &wanted, const std::string &place);

private:
  struct Equation {
    Size size;
    mlir::Value value;
    std::string place;
    bool isSolved = false;
  };

  void collect(llvm::ArrayRef<mlir::Value> given);
  void solve(const SolvedSymbol &solved);
  void checkSymbols();
  void checkSizes();
  void limitProduct(llvm::ArrayRef<Size> sizes, int64_t most, const std::string &what,
                    const char *ofWhat);
  std::string whence(llvm::ArrayRef<Size> sizes, llvm::SmallVectorImpl<mlir::Value> &shown) const;
  mlir::Value divisor(mlir::Value value, const std::string &message);
  mlir::Value constant(int64_t value);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y);
  void check(mlir::Value condition, const std::string &message, mlir::ValueRange values);

  mlir::OpBuilder &b;
  mlir::Location loc;
  const KernelSignature &kernel;
  std::vector<Equation> equations;
  std::map<std::string, mlir::Value> symbols;
  std::map<std::string, mlir::Value> evaluated; // sizes by their text
};

} // namespace tile
} // namespace tw
