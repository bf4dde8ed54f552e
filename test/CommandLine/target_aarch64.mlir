// --target=cpu:aarch64 makes code for another architecture than this machine's; features follow the name.
// RUN: tilewright compile %s -o %t.so --target=cpu:aarch64
// RUN: llvm-objdump -d %t.so | FileCheck %s --check-prefix=CODE --implicit-check-not=bfdot
// CODE: file format elf64-littleaarch64
// CODE: fmla v{{[0-9]+}}.4s
// It needs what programs may need, without versions, which differ.
// RUN: llvm-readelf --dynamic --dyn-syms %t.so | FileCheck %s --check-prefix=NEEDS --implicit-check-not=GLIBC --implicit-check-not=NEEDED
// NEEDS: (NEEDED) Shared library: [libm.so.6]
// NEEDS: UND fmodf

// It is read everywhere, and run by such machines.
// RUN: tilewright inspect %t.so | FileCheck %s --check-prefix=TEXT
// TEXT: target   cpu
// TEXT-NEXT: needs    aarch64{{$}}
// RUN: tilewright inspect %t.so --json | FileCheck %s --check-prefix=JSON
// JSON: "cpu_architecture": "aarch64", "cpu_features": []
// RUN: not tilewright run %t.so --input=64x64xf32=1 --input=64x64xf32=1 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error[TW-RUNTIME-0005]: the code is for aarch64, but this machine is x86-64
// OTHER-NEXT: --> {{.*}}.so
// OTHER-NEXT: help: run it on such a machine, or compile for this one: --target=cpu, in Python target="cpu"

// RUN: tilewright compile %s -o %t.bf16.so --target=cpu:aarch64+bf16+i8mm+bf16
// RUN: tilewright inspect %t.bf16.so | FileCheck %s --check-prefix=FEATURES
// FEATURES: needs    aarch64 bf16 i8mm{{$}}
// RUN: not tilewright compile %s -o %t.none.so --target=cpu:aarch64+avx2 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error[TW-DRIVER-0002]: there is no target "cpu:aarch64+avx2"
// UNKNOWN-NEXT: help: features of aarch64 CPUs follow the name, each after a +: {{.*}}bf16, i8mm

// What is constant is computed here, whatever the target.
// RUN: tilewright compile %models/small_mlp/small_mlp.pt2 -o %t.mlp.so --target=cpu:aarch64

func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>)
    outs(%none : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%c : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %two = arith.constant 2.0 : f32
    %y = arith.remf %x, %two : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
