// RUN: split-file %s %t
// RUN: not tilewright run %t/linalg.mlir --input=i64=4 --input=i64=0 2>&1 | FileCheck %s --check-prefix=LINALG
// RUN: not tilewright run %t/torch.mlir --input=i64=4 --input=i64=0 2>&1 | FileCheck %s --check-prefix=TORCH
// RUN: tilewright run %t/torch.mlir --input=i64=-7 --input=i64=2 --expected-output=i64=-4 --expected-output=i64=1
// RUN: tilewright run %t/torch.mlir --input=i64=-9223372036854775808 --input=i64=-1 --expected-output=i64=-9223372036854775808 --expected-output=i64=0

// Where there is no quotient of two sizes or numbers a call ends with an error, not the process.

// LINALG: error[TW-RUNTIME-0013]: linalg.mlir:2:8: arith.remsi: the divisor is 0
// TORCH: error[TW-RUNTIME-0013]: aten.floordiv.int: integer division by zero

//--- linalg.mlir
func.func @main(%n: i64, %m: i64) -> tensor<?xf32> {
  %q = arith.remsi %n, %m : i64
  %size = arith.index_cast %q : i64 to index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%size) : tensor<?xf32>
  %y = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
//--- torch.mlir
func.func @main(%n: !torch.int, %m: !torch.int) -> (!torch.int, !torch.int) {
  %q = torch.aten.floordiv.int %n, %m : !torch.int, !torch.int -> !torch.int
  %r = torch.aten.remainder.int %n, %m : !torch.int, !torch.int -> !torch.int
  return %q, %r : !torch.int, !torch.int
}
