// What the tuner has found comes with the compiler: each rule of share/tuning fits a kernel that it was measured for.
// RUN: tilewright compile %s --target=nvidia:sm_90a -o %t.so --report 2>&1 | FileCheck %s --implicit-check-not="does not fit"
// CHECK-DAG: configured by share/tuning/nvidia.mlir:{{[0-9:]+}}, @contraction_f16_columns640_rows8192_sum2560
// CHECK-DAG: configured by share/tuning/nvidia.mlir:{{[0-9:]+}}, @contraction_bf16_columns8192_rows8192_sum8192
// CHECK-DAG: configured by share/tuning/nvidia.mlir:{{[0-9:]+}}, @attention_f16_batch20_depth64_keys4096_queries4096_width64
// CHECK-DAG: configured by share/tuning/nvidia.mlir:{{[0-9:]+}}, @contraction_f16_columns1280_rows2048_sum1280

// Specs that are given come first.
// RUN: tilewright compile %s --target=nvidia:sm_90a --tuning-spec=%S/../Inputs/any_product.mlir -o %t.so --report 2>&1 | FileCheck %s --check-prefix=GIVEN --implicit-check-not="nvidia.mlir:{{[0-9:]+}}, @contraction"
// GIVEN-DAG: configured by any_product.mlir:{{[0-9:]+}}, @any_product
// GIVEN-DAG: configured by share/tuning/nvidia.mlir:{{[0-9:]+}}, @attention_f16_batch20

func.func @main(%x: !torch.vtensor<[8192,2560],f16>, %w: !torch.vtensor<[640,2560],f16>, %b: !torch.vtensor<[640],f16>,
                %X: !torch.vtensor<[8192,8192],bf16>, %W: !torch.vtensor<[8192,8192],bf16>, %B: !torch.vtensor<[8192],bf16>,
                %y: !torch.vtensor<[2048,1280],f16>, %u: !torch.vtensor<[1280,1280],f16>, %c: !torch.vtensor<[1280],f16>,
                %q: !torch.vtensor<[1,20,4096,64],f16>, %k: !torch.vtensor<[1,20,4096,64],f16>, %v: !torch.vtensor<[1,20,4096,64],f16>)
    -> (!torch.vtensor<[8192,640],f16>, !torch.vtensor<[8192,8192],bf16>, !torch.vtensor<[2048,1280],f16>, !torch.vtensor<[1,20,4096,64],f16>) {
  %none = torch.constant.none
  %zero = torch.constant.float 0.000000e+00
  %false = torch.constant.bool false
  %0 = torch.aten.linear %x, %w, %b : !torch.vtensor<[8192,2560],f16>, !torch.vtensor<[640,2560],f16>, !torch.vtensor<[640],f16> -> !torch.vtensor<[8192,640],f16>
  %1 = torch.aten.linear %X, %W, %B : !torch.vtensor<[8192,8192],bf16>, !torch.vtensor<[8192,8192],bf16>, !torch.vtensor<[8192],bf16> -> !torch.vtensor<[8192,8192],bf16>
  %2 = torch.aten.linear %y, %u, %c : !torch.vtensor<[2048,1280],f16>, !torch.vtensor<[1280,1280],f16>, !torch.vtensor<[1280],f16> -> !torch.vtensor<[2048,1280],f16>
  %3 = torch.aten.scaled_dot_product_attention %q, %k, %v, %none, %zero, %false, %none, %false : !torch.vtensor<[1,20,4096,64],f16>, !torch.vtensor<[1,20,4096,64],f16>, !torch.vtensor<[1,20,4096,64],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,20,4096,64],f16>
  return %0, %1, %2, %3 : !torch.vtensor<[8192,640],f16>, !torch.vtensor<[8192,8192],bf16>, !torch.vtensor<[2048,1280],f16>, !torch.vtensor<[1,20,4096,64],f16>
}
