// RUN: not tilewright-opt %s -split-input-file -torch-to-graph 2>&1 | FileCheck %s

// What selects by truth has a size that depends on the data.

// CHECK: error: [TW-LOWER-0002] operator aten.index.Tensor: a mask selects a number of elements that depends on the data
func.func @main(%x: !torch.vtensor<[2,3],f32>, %m: !torch.vtensor<[2],i1>) -> !torch.vtensor<[?,3],f32> {
  %list = torch.prim.ListConstruct %m : (!torch.vtensor<[2],i1>) -> !torch.list<optional<vtensor>>
  %y = torch.aten.index.Tensor %x, %list : !torch.vtensor<[2,3],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[?,3],f32>
  return %y : !torch.vtensor<[?,3],f32>
}

// -----

// CHECK: error: [TW-LOWER-0002] operator aten.one_hot: without num_classes its result's size depends on the data
func.func @main(%x: !torch.vtensor<[2],si64>) -> !torch.vtensor<[2,?],si64> {
  %n = torch.constant.int -1
  %y = torch.aten.one_hot %x, %n : !torch.vtensor<[2],si64>, !torch.int -> !torch.vtensor<[2,?],si64>
  return %y : !torch.vtensor<[2,?],si64>
}

// -----

// CHECK: error: [TW-LOWER-0002] operator aten.topk: k (8) exceeds the size of the dimension (7)
func.func @main(%x: !torch.vtensor<[7],f32>) -> (!torch.vtensor<[8],f32>, !torch.vtensor<[8],si64>) {
  %k = torch.constant.int 8
  %dim = torch.constant.int 0
  %yes = torch.constant.bool true
  %v, %i = torch.aten.topk %x, %k, %dim, %yes, %yes : !torch.vtensor<[7],f32>, !torch.int, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[8],f32>, !torch.vtensor<[8],si64>
  return %v, %i : !torch.vtensor<[8],f32>, !torch.vtensor<[8],si64>
}

// -----

// CHECK: error: [TW-LOWER-0001] operator aten.masked_select is not supported: its result's sizes or value depend on the data
func.func @main(%x: !torch.vtensor<[7],f32>, %m: !torch.vtensor<[7],i1>) -> !torch.vtensor<[?],f32> {
  %y = torch.aten.masked_select %x, %m : !torch.vtensor<[7],f32>, !torch.vtensor<[7],i1> -> !torch.vtensor<[?],f32>
  return %y : !torch.vtensor<[?],f32>
}
