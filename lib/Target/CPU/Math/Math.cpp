// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AVX-512 multiplies by powers of two, and picks from 16 numbers, in one instruction: there erf is
// a polynomial for each of 16 pieces, and exp has a table.
#include "Target/CPU/Math/Math.h"
#include "Target/CPU/Math/ErfPieces.h"
#include "Target/Common/Math/F32Functions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <array>
#include <cmath>

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// How AVX-512 is told to round as always.
constexpr int32_t roundsToNearest = 4;
/// Of two operands the one of lesser magnitude; NaN is no operand.
constexpr int32_t lesserMagnitude = 2;

/// On 16 lanes.
class Avx512Functions : public F32Functions {
public:
  using F32Functions::F32Functions;

  /// 2^(i/16) comes from a table, so that a cubic is enough for the rest.
  Value exp(Value x) override {
    static const std::array<float, 16> powers = [] {
      std::array<float, 16> all;
      for (int i = 0; i < 16; ++i)
        all[i] = float(std::exp2(i / 16.0));
      return all;
    }();
    // The last bits of the sum are sixteenths.
    Value sixteenths = number(magic / 16);
    Value sum = fma(x, number(1.44269504088896341), sixteenths), n = sub(sum, sixteenths);
    Value r = fma(n, number(-0x1.62e4p-1), x);
    r = fma(n, number(-0x1.7f7d1cf79abcap-20), r);
    Value power = choose(powers, bits(sum));
    // Infinite where x is out of all bounds, as is n then, which decides alone.
    r = intrinsic("llvm.x86.avx512.mask.range.ps.512",
                  {r, number(1), scalar(b.getI32IntegerAttr(lesserMagnitude)), r, everyLane(),
                   scalar(b.getI32IntegerAttr(roundsToNearest))});
    Value q = fma(polynomial(r, {0.50001622, 0.16666667}), mul(r, r), r);
    return scale(fma(power, q, power), n); // which rounds n down
  }

  Value erf(Value x) override {
    const ErfPieces &pieces = ErfPieces::get();
    Value size = abs(x);
    Value piece = bits(fma(size, number(1 / ErfPieces::width), number(magic)));
    Value from = sub(size, choose(pieces.centers, piece));
    Value sum = choose(pieces.coefficients[ErfPieces::degree], piece);
    for (int i = ErfPieces::degree - 1; i > 0; --i)
      sum = fma(sum, from, choose(pieces.coefficients[i], piece));
    Value isFirst =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, piece, bits(number(magic)));
    Value start = select(isFirst, size, choose(pieces.coefficients[0], piece));
    // What the polynomial gives there is nothing.
    Value isFar =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, size, number(ErfPieces::end));
    return copySign(select(isFar, number(1), fma(sum, from, start)), x);
  }

protected:
  /// For any n, which it rounds down.
  Value scale(Value x, Value n) override {
    return intrinsic("llvm.x86.avx512.mask.scalef.ps.512",
                     {x, n, x, everyLane(), scalar(b.getI32IntegerAttr(roundsToNearest))});
  }

private:
  Value scalar(TypedAttr value) { return arith::ConstantOp::create(b, loc, value); }
  Value everyLane() { return scalar(b.getI16IntegerAttr(-1)); }

  Value intrinsic(StringRef name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands,
                                         LLVM::FastmathFlagsAttr())
        .getResult(0);
  }

  /// Which of 16 numbers, the low bits of `which` say.
  Value choose(ArrayRef<float> numbers, Value which) {
    auto all = DenseElementsAttr::get(cast<VectorType>(type), numbers);
    return intrinsic("llvm.x86.avx512.permvar.sf.512",
                     {arith::ConstantOp::create(b, loc, all), which});
  }
};

} // namespace

Value emitMath(OpBuilder &b, Location loc, StringRef operation, ValueRange operands,
               const CpuFeatures &cpu) {
  Type type = operands[0].getType();
  if (!getElementTypeOrSelf(type).isF32())
    return {};
  auto vector = dyn_cast<VectorType>(type);
  if (cpu.vectorBytes >= 64 && vector && vector.getNumElements() == 16)
    return Avx512Functions(b, loc, type).emit(operation, operands[0]);
  return F32Functions(b, loc, type).emit(operation, operands[0]);
}

} // namespace tw::target::cpu
