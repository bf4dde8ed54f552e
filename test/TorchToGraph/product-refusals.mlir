// RUN: not tilewright-opt --torch-to-graph %s 2>&1 | FileCheck %s
// What products, distances and joins of chunks cannot take, with both values; and what is refused with its reason.

// CHECK: error: [TW-LOWER-0001] operator aten.cholesky is not supported: decompositions, inverses and solutions of matrices are not supported
// CHECK: error: [TW-LOWER-0002] operator aten._trilinear: i2 has 2 dimensions, but 1 is needed
// CHECK: error: [TW-LOWER-0002] operator aten._cdist_backward: its tensors need at least 2 dimensions
// CHECK: error: [TW-LOWER-0002] operator aten._chunk_cat: at least one tensor and one chunk are needed
func.func @trilinear(%x: !torch.vtensor<[3,2],f32>) -> !torch.vtensor<[3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %none = torch.prim.ListConstruct : () -> !torch.list<int>
  %first = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  %second = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten._trilinear %x, %x, %x, %none, %first, %none, %second, %int1 : !torch.vtensor<[3,2],f32>, !torch.vtensor<[3,2],f32>, !torch.vtensor<[3,2],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

func.func @distances(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  %p = torch.constant.float 2.000000e+00
  %0 = torch.aten._cdist_backward %x, %x, %x, %p, %x : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.float, !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

func.func @chunks(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,2],f32> {
  %int0 = torch.constant.int 0
  %tensors = torch.prim.ListConstruct %x : (!torch.vtensor<[3],f32>) -> !torch.list<vtensor>
  %0 = torch.aten._chunk_cat %tensors, %int0, %int0 : !torch.list<vtensor>, !torch.int, !torch.int -> !torch.vtensor<[2,2],f32>
  return %0 : !torch.vtensor<[2,2],f32>
}

func.func @factors(%x: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[2,2],f32> {
  %false = torch.constant.bool false
  %0 = torch.aten.cholesky %x, %false : !torch.vtensor<[2,2],f32>, !torch.bool -> !torch.vtensor<[2,2],f32>
  return %0 : !torch.vtensor<[2,2],f32>
}
