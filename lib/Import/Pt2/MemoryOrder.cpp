// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Pt2/MemoryOrder.h"
#include "Import/Pt2/Symbols.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tw::pt2 {

namespace {

/// A size or stride, or a product of sizes: as the number that it was when the model was exported,
/// where the file says that, and as factors, where its text is understood.
struct Number {
  std::optional<int64_t> value = 1;
  bool isUnderstood = true;
  int64_t constant = 1; // times:
  SmallVector<AffineExpr> factors;

  bool isOne() const { return isUnderstood ? constant == 1 && factors.empty() : value == 1; }

  void multiply(AffineExpr expression) {
    if (auto number = dyn_cast<AffineConstantExpr>(expression))
      isUnderstood &= !__builtin_mul_overflow(constant, number.getValue(), &constant);
    else if (auto product = dyn_cast<AffineBinaryOpExpr>(expression);
             product && product.getKind() == AffineExprKind::Mul)
      multiply(product.getLHS()), multiply(product.getRHS());
    else
      factors.push_back(expression);
  }

  /// Of an empty tensor strides are as if its sizes of 0 were 1.
  void multiply(const Number &size) {
    int64_t next;
    bool isKnown = value && size.value &&
                   !__builtin_mul_overflow(*value, std::max<int64_t>(*size.value, 1), &next);
    value = isKnown ? std::optional(next) : std::nullopt;
    isUnderstood &= size.isUnderstood;
    if (size.constant != 0)
      isUnderstood &= !__builtin_mul_overflow(constant, size.constant, &constant);
    factors.append(size.factors);
  }

  bool operator==(const Number &other) const {
    if (value && value == other.value)
      return true;
    auto sorted = [](const Number &number) {
      SmallVector<const void *> all = llvm::map_to_vector(number.factors, [](AffineExpr factor) {
        return static_cast<const void *>(factor.getAsOpaquePointer());
      });
      llvm::sort(all);
      return all;
    };
    return isUnderstood && other.isUnderstood && constant == other.constant &&
           sorted(*this) == sorted(other);
  }
};

class NumberReader {
public:
  explicit NumberReader(MLIRContext *context) : context(context) {}

  Number read(const SymInt &given) {
    Number number;
    number.value = given.isConstant() ? std::optional(given.value) : given.hint;
    if (given.isConstant()) {
      number.constant = given.value;
      return number;
    }
    AffineExpr expression =
        parseSize(context, {given.expression.data(), given.expression.size()}, [&](StringRef name) {
          return symbols.try_emplace(name, symbols.size()).first->second;
        });
    number.isUnderstood = bool(expression);
    if (expression)
      number.multiply(expression);
    return number;
  }

private:
  MLIRContext *context;
  llvm::StringMap<unsigned> symbols;
};

/// A tensor's dimensions from the innermost to the outermost in memory, and by dimension the
/// product of the sizes before it, which is its stride unless its size is 1. Where several orders
/// fit, the row-major one.
struct MemoryOrder {
  SmallVector<int64_t> dimensions;
  SmallVector<Number> products, strides;
};

std::optional<MemoryOrder> memoryOrder(MLIRContext *context, const TensorMeta &meta) {
  NumberReader reader(context);
  auto read = [&](const SymInt &given) { return reader.read(given); };
  SmallVector<Number> sizes = llvm::map_to_vector(meta.sizes, read);
  MemoryOrder order{{}, SmallVector<Number>(sizes.size()), llvm::map_to_vector(meta.strides, read)};
  if (sizes.size() != order.strides.size())
    return std::nullopt;
  Number product;
  while (order.dimensions.size() < sizes.size()) {
    auto all = llvm::reverse(llvm::seq<int64_t>(sizes.size()));
    auto next = llvm::find_if(all, [&](int64_t d) {
      return !llvm::is_contained(order.dimensions, d) &&
             (sizes[d].isOne() || order.strides[d] == product);
    });
    if (next == all.end())
      return std::nullopt;
    order.products[*next] = product;
    order.dimensions.push_back(*next);
    product.multiply(sizes[*next]);
  }
  return order;
}

} // namespace

std::optional<SmallVector<int64_t>> dimensionsWithin(MLIRContext *context, const TensorMeta &meta,
                                                     int64_t dim) {
  auto order = memoryOrder(context, meta);
  if (!order || !(order->strides[dim] == order->products[dim]))
    return std::nullopt;
  return SmallVector<int64_t>(
      ArrayRef(order->dimensions).take_until([&](int64_t d) { return d == dim; }));
}

bool isContiguous(MLIRContext *context, const TensorMeta &meta) {
  auto order = memoryOrder(context, meta);
  return order && llvm::is_sorted(order->dimensions, std::greater<>()) &&
         meta.storageOffset.isConstant() && meta.storageOffset.value == 0;
}

} // namespace tw::pt2
