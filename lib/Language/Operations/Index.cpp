// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on sizes and indices. Numbers and sizes stay what they are; only what a program id or
// a loop variable is part of becomes operations.
#include "Language/Elements.h"

namespace tw::kernel::detail {
namespace {

constexpr const char *divisorHelp = "divide by a number or size that is 1 or more";

enum class IndexOp : uint8_t { add, sub, mul, floorDiv, ceilDiv, mod, minimum, maximum };

/// The operation as authors write it.
const char *nameOf(IndexOp op) {
  static constexpr const char *fixed[] = {"+",     "-",     "*",       nullptr,
                                          nullptr, nullptr, "minimum", "maximum"};
  static const Phrases usual;
  Tracer *tracer = Tracer::current();
  const Phrases &say = tracer ? tracer->say() : usual;
  return op == IndexOp::floorDiv  ? say.floorDiv
         : op == IndexOp::ceilDiv ? say.ceilDiv
         : op == IndexOp::mod     ? say.mod
                                  : fixed[size_t(op)];
}

/// The same on sizes; nothing for minimum and maximum, which sizes do not have.
std::optional<tw::Size> onSizes(IndexOp op, const tw::Size &a, const tw::Size &b) {
  switch (op) {
  case IndexOp::add:
    return a + b;
  case IndexOp::sub:
    return a - b;
  case IndexOp::mul:
    return a * b;
  case IndexOp::floorDiv:
    return tw::floorDiv(a, b);
  case IndexOp::ceilDiv:
    return tw::ceilDiv(a, b);
  case IndexOp::mod:
    return tw::mod(a, b);
  case IndexOp::minimum:
  case IndexOp::maximum:
    break;
  }
  auto x = a.constant(), y = b.constant();
  if (!x || !y)
    return std::nullopt;
  return tw::Size((op == IndexOp::minimum) == (*x < *y) ? *x : *y);
}

/// Null for what is no number or size.
std::optional<tw::Size> sizeOf(const Ref &ref) {
  if (auto *number = std::get_if<int64_t>(&ref))
    return tw::Size(*number);
  if (auto *flag = std::get_if<bool>(&ref))
    return tw::Size(int64_t(*flag));
  if (auto *size = std::get_if<SizePtr>(&ref); size && *size)
    return **size;
  return std::nullopt;
}

Ref toRef(const tw::Size &size) {
  if (auto number = size.constant())
    return *number;
  return std::make_shared<const SizeExpr>(size);
}

/// Writes index operations, with one place for all.
class Writer {
public:
  Writer(Tracer &tracer, Here here) : tracer(tracer), here(here) {}

  ValuePtr number(int64_t value) { return constantOf(tracer, value, DType::index, here); }
  ValuePtr operation(const char *name, const Values &operands, bool isNonNegative) {
    ValuePtr value = tracer.emit1(here, name, operands, Type{DType::index});
    std::const_pointer_cast<Value>(value)->isNonNegative = isNonNegative;
    return value;
  }
  ValuePtr compare(Elementwise kind, const ValuePtr &a, const ValuePtr &b) {
    return apply(tracer, kind, {a, b}, here);
  }
  ValuePtr logical(const char *name, const ValuePtr &a, const ValuePtr &b) {
    return tracer.emit1(here, name, {a, b}, Type{DType::i1});
  }
  ValuePtr select(const ValuePtr &test, const ValuePtr &a, const ValuePtr &b) {
    return tracer.emit1(here, "arith.select", {test, a, b}, Type{DType::index});
  }

  /// arith divides towards zero: the quotient or remainder is mended where that differs.
  ValuePtr divide(IndexOp op, const ValuePtr &a, const ValuePtr &b) {
    if (a->isNonNegative && b->isNonNegative && op != IndexOp::ceilDiv)
      return operation(op == IndexOp::mod ? "arith.remsi" : "arith.divsi", {a, b}, true);
    ValuePtr rest = operation("arith.remsi", {a, b}, false);
    ValuePtr differs = compare(Elementwise::notEqual, rest, number(0));
    ValuePtr quotient;
    if (op != IndexOp::mod)
      quotient = operation("arith.divsi", {a, b}, a->isNonNegative && b->isNonNegative);
    if (a->isNonNegative && b->isNonNegative) { // ceilDiv
      ValuePtr up = operation("arith.addi", {quotient, number(1)}, true);
      ValuePtr result = select(differs, up, quotient);
      std::const_pointer_cast<Value>(result)->isNonNegative = true;
      return result;
    }
    ValuePtr restSign = compare(Elementwise::less, rest, number(0));
    ValuePtr divisorSign = compare(Elementwise::less, b, number(0));
    ValuePtr isBelow = logical("arith.xori", restSign, divisorSign);
    if (op == IndexOp::ceilDiv) {
      ValuePtr isAbove = apply(tracer, Elementwise::equal, {restSign, divisorSign}, here);
      ValuePtr up = operation("arith.addi", {quotient, number(1)}, false);
      return select(logical("arith.andi", differs, isAbove), up, quotient);
    }
    ValuePtr mend = logical("arith.andi", differs, isBelow);
    if (op == IndexOp::mod)
      return select(mend, operation("arith.addi", {rest, b}, false), rest);
    return select(mend, operation("arith.subi", {quotient, number(1)}, false), quotient);
  }

private:
  Tracer &tracer;
  Here here;
};

ValuePtr emitIndex(Tracer &tracer, IndexOp op, const ValuePtr &a, const ValuePtr &b, Here here) {
  Writer writer(tracer, here);
  bool both = a->isNonNegative && b->isNonNegative, either = a->isNonNegative || b->isNonNegative;
  switch (op) {
  case IndexOp::add:
    return writer.operation("arith.addi", {a, b}, both);
  case IndexOp::sub:
    return writer.operation("arith.subi", {a, b}, false);
  case IndexOp::mul:
    return writer.operation("arith.muli", {a, b}, both);
  case IndexOp::minimum:
    return writer.operation("arith.minsi", {a, b}, both);
  case IndexOp::maximum:
    return writer.operation("arith.maxsi", {a, b}, either);
  default:
    return writer.divide(op, a, b);
  }
}

bool divides(IndexOp op) {
  return op == IndexOp::floorDiv || op == IndexOp::ceilDiv || op == IndexOp::mod;
}

/// Whether the result of an operation that is not valid has too many parts, rather than numbers
/// that are too large.
bool isTooLong(IndexOp op, const tw::Size &a, const tw::Size &b) {
  if (divides(op))
    return !a.constant() || !b.constant();
  auto terms = [](const std::string &text) {
    size_t count = 1;
    for (size_t i = 1; i < text.size(); ++i)
      count += text[i] == ' ' && (text[i - 1] == '+' || text[i - 1] == '-');
    return count;
  };
  size_t left = terms(a.str()), right = terms(b.str());
  return (op == IndexOp::mul ? left * right : left + right) > tw::Size::mostTerms;
}

/// Of an operation whose result is not valid.
[[noreturn]] void failOf(Tracer &tracer, IndexOp op, const tw::Size &a, const tw::Size &b,
                         Here here) {
  auto shown = [](std::string text) {
    constexpr size_t most = 200;
    return text.size() > most ? text.substr(0, most) + "..." : text;
  };
  std::string what = nameOf(op) + (" of " + shown(a.str())) + " and " + shown(b.str());
  if (divides(op) && b == tw::Size(0))
    tracer.fail(here, what + " divides by 0", divisorHelp);
  if (isTooLong(op, a, b))
    tracer.fail(here, what + " is too long", "make the size of fewer terms");
  tracer.fail(here, what + " overflows 64 bits", "sizes are from -2^63 to 2^63 - 1");
}

Index indexOp(IndexOp op, const Ref &a, const Ref &b, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  std::string what = nameOf(op);
  for (const Ref &ref : {a, b})
    if (ref.index() == 0)
      tracer->fail(here, what + " got an empty Index", "give it a value first");
  auto withoutOperation = [&](Ref ref) {
    tracer->countOperation(here);
    return Index(std::move(ref));
  };
  auto x = sizeOf(a), y = sizeOf(b);
  if (auto size = x && y ? onSizes(op, *x, *y) : std::nullopt) {
    if (!size->valid())
      failOf(*tracer, op, *x, *y, here);
    return withoutOperation(toRef(*size));
  }
  // What changes nothing is left out: grids of 1 and blocks of 1 are common.
  if (y && *y == tw::Size(0) && (op == IndexOp::add || op == IndexOp::sub))
    return withoutOperation(a);
  if (x && *x == tw::Size(0) && op == IndexOp::add)
    return withoutOperation(b);
  if (y && *y == tw::Size(1) && op == IndexOp::mul)
    return withoutOperation(a);
  if (y && *y == tw::Size(0) && divides(op))
    tracer->fail(here, what + " divides by 0", divisorHelp);
  ValuePtr left = indexOf(*tracer, a, "an operand of " + what, here);
  ValuePtr right = indexOf(*tracer, b, "an operand of " + what, here);
  return Index(Ref(emitIndex(*tracer, op, left, right, here)));
}

Scalar compareIndex(Elementwise kind, const Ref &a, const Ref &b, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  ValuePtr left = indexOf(*tracer, a, "an operand of a comparison", here);
  ValuePtr right = indexOf(*tracer, b, "an operand of a comparison", here);
  return Scalar(Ref(apply(*tracer, kind, {left, right}, here)));
}

/// `/` and `%`, which C++ rounds to 0 and index arithmetic does not.
void refuseQuotient(const std::string &what, char sign, Here here) {
  if (Tracer *tracer = Tracer::current())
    tracer->fail(here, what + " no " + sign,
                 sign == '%' ? tracer->say().noRemainder : tracer->say().noQuotient);
}

Size sizeOp(IndexOp op, const Size &a, const Size &b, Here here) {
  tw::Size result = *onSizes(op, *a.expr(), *b.expr());
  if (Tracer *tracer = Tracer::current()) {
    tracer->countOperation(here);
    if (!result.valid())
      failOf(*tracer, op, *a.expr(), *b.expr(), here);
  }
  return Size(std::make_shared<const SizeExpr>(std::move(result)));
}

} // namespace
} // namespace tw::kernel::detail

namespace tw::kernel {
using namespace detail;

#define INDEX_AND_SIZE(function, op)                                                               \
  Index function(const Index::Operand &a, const Index::Operand &b) {                               \
    return indexOp(IndexOp::op, a.ref, b.ref, a.here);                                             \
  }                                                                                                \
  Size function(const Size::Operand &a, const Size::Operand &b) {                                  \
    return sizeOp(IndexOp::op, a.size, b.size, a.here);                                            \
  }
INDEX_AND_SIZE(operator+, add)
INDEX_AND_SIZE(operator-, sub)
INDEX_AND_SIZE(operator*, mul)
INDEX_AND_SIZE(floorDiv, floorDiv)
INDEX_AND_SIZE(ceilDiv, ceilDiv)
INDEX_AND_SIZE(mod, mod)
#undef INDEX_AND_SIZE

#define QUOTIENT(function, sign)                                                                   \
  Index function(const Index::Operand &a, const Index::Operand &) {                                \
    refuseQuotient("an Index has", sign, a.here);                                                  \
    return {};                                                                                     \
  }                                                                                                \
  Index &function## = (Index & a, const Index::Operand &b) {                                       \
    refuseQuotient("an Index has", sign, b.here);                                                  \
    return a;                                                                                      \
  }                                                                                                \
  Size function(const Size::Operand &a, const Size::Operand &b) {                                  \
    refuseQuotient(a.size.str() + ' ' + sign + ' ' + b.size.str() + ": sizes have", sign, a.here); \
    return {};                                                                                     \
  }
QUOTIENT(operator/, '/')
QUOTIENT(operator%, '%')
#undef QUOTIENT

static int64_t divide(IndexOp op, int64_t a, int64_t b, Here here) {
  return sizeOp(op, Size(a), Size(b), here).expr()->constant().value_or(0);
}
int64_t floorDiv(int64_t a, int64_t b, Here here) { return divide(IndexOp::floorDiv, a, b, here); }
int64_t ceilDiv(int64_t a, int64_t b, Here here) { return divide(IndexOp::ceilDiv, a, b, here); }
int64_t mod(int64_t a, int64_t b, Here here) { return divide(IndexOp::mod, a, b, here); }

#define EXTREMUM(function)                                                                         \
  Index function(const Index::Operand &a, const Index::Operand &b) {                               \
    return indexOp(IndexOp::function, a.ref, b.ref, a.here);                                       \
  }                                                                                                \
  Index function(const Size::Operand &a, const Size::Operand &b) {                                 \
    return indexOp(IndexOp::function, a.size.expr(), b.size.expr(), a.here);                       \
  }
EXTREMUM(minimum)
EXTREMUM(maximum)
#undef EXTREMUM

Index operator-(const Index::Operand &a) {
  return indexOp(IndexOp::sub, int64_t(0), a.ref, a.here);
}

#define COMPARE(function, kind)                                                                    \
  Scalar function(const Index::Operand &a, const Index::Operand &b) {                              \
    return compareIndex(Elementwise::kind, a.ref, b.ref, a.here);                                  \
  }                                                                                                \
  Scalar function(const Size::Operand &a, const Size::Operand &b) {                                \
    return compareIndex(Elementwise::kind, a.size.expr(), b.size.expr(), a.here);                  \
  }
COMPARE(operator==, equal)
COMPARE(operator!=, notEqual)
COMPARE(operator<, less)
COMPARE(operator<=, lessEqual)
COMPARE(operator>, greater)
COMPARE(operator>=, greaterEqual)
#undef COMPARE

Index::Index(const Scalar &scalar, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return;
  const Ref &ref = scalar.ref();
  bool isKept = std::holds_alternative<int64_t>(ref) || std::holds_alternative<SizePtr>(ref);
  Handle::operator=(
      Handle(isKept ? ref : Ref(indexOf(*tracer, ref, "the scalar used as an index", here))));
}

} // namespace tw::kernel
