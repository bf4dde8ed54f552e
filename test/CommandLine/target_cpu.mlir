// --target=cpu:NAME makes code for that CPU: nothing beyond it, and the artifact says what it needs.
// RUN: tilewright compile %s -o %t.v3.so --target=cpu:x86-64-v3
// RUN: llvm-objdump -d %t.v3.so | FileCheck %s --check-prefix=V3 --implicit-check-not=zmm
// V3: ymm
// RUN: tilewright inspect %t.v3.so --json | FileCheck %s --check-prefix=V3-NEEDS --implicit-check-not=avx512
// V3-NEEDS: "cpu_features": [{{.*}}"avx2"{{.*}}"fma"

// RUN: tilewright compile %s -o %t.v4.so --target=cpu:x86-64-v4
// RUN: llvm-objdump -d %t.v4.so | FileCheck %s --check-prefix=V4
// V4: zmm
// RUN: tilewright compile %s -o %t.amx.so --target=cpu:amx
// RUN: tilewright inspect %t.amx.so --json | FileCheck %s --check-prefix=AMX
// AMX: "cpu_features": [{{.*}}"amx-tile", "amx-bf16"

// A machine that lacks something says so before it runs anything.
// RUN: sed 's/"fma"/"fmb"/' %t.v3.so > %t.lacking.so
// RUN: seal %t.lacking.so
// RUN: not tilewright run %t.lacking.so --input=64x64xf32=1 --input=64x64xf32=1 2>&1 | FileCheck %s --check-prefix=LACKS
// LACKS: error[TW-RUNTIME-0005]: the artifact needs CPU features that this machine lacks: fmb

// RUN: not tilewright compile %s -o %t.none.so --target=cpu:pentium 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error[TW-DRIVER-0002]: there is no target "cpu:pentium"
// UNKNOWN-NEXT: help: the targets are cpu (this machine's), {{.*}}cpu:x86-64-v3, {{.*}}cpu:amx, cpu:aarch64, nvidia:sm_90a, and reference

func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>)
    outs(%none : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
