// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/SoftFloat.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"

namespace tw {

// The calling convention is that of libgcc and compiler-rt: 16-bit floats travel in vector
// registers, as `half` and `bfloat` do in LLVM IR; bitcasts between them and i16 need no
// conversion.
//
// Narrowing rounds to nearest even. From f64 the value is first rounded to odd in f32, which keeps
// what the second rounding must know.
static const char text[] = R"(
define linkonce_odr hidden i16 @tw_f32_to_f16_bits(float %x) alwaysinline {
  %bits = bitcast float %x to i32
  %sign = and i32 %bits, -2147483648
  %magnitude = xor i32 %bits, %sign
  %is_nan = icmp ugt i32 %magnitude, 2139095040
  %is_large = icmp uge i32 %magnitude, 1199570944
  %is_small = icmp ult i32 %magnitude, 947912704
  ; normal: rebias, round to nearest even on the 13 dropped bits
  %odd = lshr i32 %magnitude, 13
  %odd1 = and i32 %odd, 1
  %rebias = add i32 %magnitude, -939520001
  %rounded = add i32 %rebias, %odd1
  %normal = lshr i32 %rounded, 13
  ; subnormal: adding 0.5 lets the FPU shift and round
  %magnitude_f = bitcast i32 %magnitude to float
  %shifted = fadd float %magnitude_f, 5.000000e-01
  %shifted_bits = bitcast float %shifted to i32
  %subnormal = add i32 %shifted_bits, -1056964608
  %finite = select i1 %is_small, i32 %subnormal, i32 %normal
  %special = select i1 %is_nan, i32 32256, i32 31744
  %value = select i1 %is_large, i32 %special, i32 %finite
  %sign16 = lshr i32 %sign, 16
  %all = or i32 %value, %sign16
  %result = trunc i32 %all to i16
  ret i16 %result
}

define linkonce_odr hidden i16 @tw_f32_to_bf16_bits(float %x) alwaysinline {
  %bits = bitcast float %x to i32
  %magnitude = and i32 %bits, 2147483647
  %is_nan = icmp ugt i32 %magnitude, 2139095040
  %high = lshr i32 %bits, 16
  %odd = and i32 %high, 1
  %bias = add i32 %odd, 32767
  %sum = add i32 %bits, %bias
  %rounded = lshr i32 %sum, 16
  %quiet = or i32 %high, 64
  %value = select i1 %is_nan, i32 %quiet, i32 %rounded
  %result = trunc i32 %value to i16
  ret i16 %result
}

define linkonce_odr hidden float @tw_f64_to_odd_f32(double %x) alwaysinline {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %inexact = fcmp one double %back, %x
  %near_bits = bitcast float %near to i32
  %magnitude = call double @llvm.fabs.f64(double %x)
  %back_magnitude = call double @llvm.fabs.f64(double %back)
  %above = fcmp ogt double %back_magnitude, %magnitude
  %step = zext i1 %above to i32
  %toward_zero = sub i32 %near_bits, %step
  %odd = or i32 %toward_zero, 1
  %bits = select i1 %inexact, i32 %odd, i32 %near_bits
  %result = bitcast i32 %bits to float
  ret float %result
}

declare double @llvm.fabs.f64(double)

define linkonce_odr hidden half @__truncsfhf2(float %x) {
  %bits = call i16 @tw_f32_to_f16_bits(float %x)
  %result = bitcast i16 %bits to half
  ret half %result
}

define linkonce_odr hidden half @__truncdfhf2(double %x) {
  %odd = call float @tw_f64_to_odd_f32(double %x)
  %bits = call i16 @tw_f32_to_f16_bits(float %odd)
  %result = bitcast i16 %bits to half
  ret half %result
}

define linkonce_odr hidden bfloat @__truncsfbf2(float %x) {
  %bits = call i16 @tw_f32_to_bf16_bits(float %x)
  %result = bitcast i16 %bits to bfloat
  ret bfloat %result
}

define linkonce_odr hidden bfloat @__truncdfbf2(double %x) {
  %odd = call float @tw_f64_to_odd_f32(double %x)
  %bits = call i16 @tw_f32_to_bf16_bits(float %odd)
  %result = bitcast i16 %bits to bfloat
  ret bfloat %result
}

define linkonce_odr hidden float @__extendhfsf2(half %x) {
  %half_bits = bitcast half %x to i16
  %bits = zext i16 %half_bits to i32
  %magnitude = and i32 %bits, 32767
  %shifted = shl i32 %magnitude, 13
  %is_special = icmp uge i32 %magnitude, 31744
  ; multiplying by 2^112 rebiases, and makes subnormals normal
  %scaled_from = bitcast i32 %shifted to float
  %scaled = fmul float %scaled_from, 0x46F0000000000000
  %scaled_bits = bitcast float %scaled to i32
  %special = or i32 %shifted, 2139095040
  %value = select i1 %is_special, i32 %special, i32 %scaled_bits
  %sign = and i32 %bits, 32768
  %sign32 = shl i32 %sign, 16
  %all = or i32 %value, %sign32
  %result = bitcast i32 %all to float
  ret float %result
}

@llvm.compiler.used = appending global [5 x ptr] [ptr @__truncsfhf2, ptr @__truncdfhf2,
  ptr @__truncsfbf2, ptr @__truncdfbf2, ptr @__extendhfsf2], section "llvm.metadata"
)";

static bool isSmallFloat(const llvm::Type *type) {
  const llvm::Type *scalar = type->getScalarType();
  return scalar->isHalfTy() || scalar->isBFloatTy();
}

/// Without 16-bit floats no conversions are called, and to compile these takes some milliseconds.
static bool hasSmallFloats(llvm::Module &module) {
  auto isOfSmallFloats = [](const llvm::Instruction &instruction) {
    return isSmallFloat(instruction.getType()) ||
           llvm::any_of(instruction.operands(),
                        [](const llvm::Use &operand) { return isSmallFloat(operand->getType()); });
  };
  return llvm::any_of(module, [&](llvm::Function &function) {
    return llvm::any_of(llvm::instructions(function), isOfSmallFloats);
  });
}

void addSoftFloat(llvm::Module &module) {
  if (!hasSmallFloats(module))
    return;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> soft =
      llvm::parseAssemblyString(text, problem, module.getContext());
  assert(soft && "the text above is valid");
  soft->setDataLayout(module.getDataLayout());
  soft->setTargetTriple(module.getTargetTriple());
  llvm::Linker::linkModules(module, std::move(soft));
}

} // namespace tw
