// RUN: tilewright-opt --torch-to-graph %s | FileCheck %s
// Fake quantization rounds to a grid and says where the value was in its range; with a zero point
// that is an integer it is the steps that are rounded, not the sum. f16 is computed in f32.

// CHECK-LABEL: func.func @main(
// CHECK: linalg.generic
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: %[[STEPS:.*]] = arith.mulf
// CHECK: %[[WHOLE:.*]] = math.roundeven %[[STEPS]]
// CHECK: %[[Q:.*]] = arith.addf %{{.*}}, %[[WHOLE]]
// CHECK: arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f16, i1
func.func @main(%x: !torch.vtensor<[4,3],f16>, %scale: !torch.vtensor<[3],f32>, %zero: !torch.vtensor<[3],si32>) -> (!torch.vtensor<[4,3],f16>, !torch.vtensor<[4,3],i1>) {
  %axis = torch.constant.int 1
  %low = torch.constant.int -8
  %high = torch.constant.int 7
  %y, %mask = torch.aten.fake_quantize_per_channel_affine_cachemask %x, %scale, %zero, %axis, %low, %high : !torch.vtensor<[4,3],f16>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],si32>, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,3],f16>, !torch.vtensor<[4,3],i1>
  return %y, %mask : !torch.vtensor<[4,3],f16>, !torch.vtensor<[4,3],i1>
}
