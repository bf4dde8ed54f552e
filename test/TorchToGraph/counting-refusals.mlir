// RUN: not tilewright-opt --torch-to-graph %s 2>&1 | FileCheck %s
// What histograms, reductions of segments, fractional pooling and gradients of sampling cannot take, with both values.

// CHECK: error: [TW-LOWER-0002] operator aten.histogram.bin_ct: bins must be positive, and is 0
func.func @no_bins(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[0],f32> {
  %int0 = torch.constant.int 0
  %none = torch.constant.none
  %false = torch.constant.bool false
  %0:2 = torch.aten.histogram.bin_ct %x, %int0, %none, %none, %false : !torch.vtensor<[5],f32>, !torch.int, !torch.none, !torch.none, !torch.bool -> !torch.vtensor<[0],f32>, !torch.vtensor<[1],f32>
  return %0#0 : !torch.vtensor<[0],f32>
}

// CHECK: error: [TW-LOWER-0002] operator aten.histogram.bin_ct: range goes from 2.000000 to 1.000000
func.func @range(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[2],f32> {
  %int2 = torch.constant.int 2
  %one = torch.constant.float 1.0
  %two = torch.constant.float 2.0
  %none = torch.constant.none
  %false = torch.constant.bool false
  %range = torch.prim.ListConstruct %two, %one : (!torch.float, !torch.float) -> !torch.list<float>
  %0:2 = torch.aten.histogram.bin_ct %x, %int2, %range, %none, %false : !torch.vtensor<[5],f32>, !torch.int, !torch.list<float>, !torch.none, !torch.bool -> !torch.vtensor<[2],f32>, !torch.vtensor<[3],f32>
  return %0#0 : !torch.vtensor<[2],f32>
}

// CHECK: error: [TW-LOWER-0002] operator aten._histogramdd_from_bin_cts: bins holds 1 counts for 3 coordinates
func.func @coordinates(%x: !torch.vtensor<[5,3],f32>) -> !torch.vtensor<[2],f32> {
  %int2 = torch.constant.int 2
  %none = torch.constant.none
  %false = torch.constant.bool false
  %bins = torch.prim.ListConstruct %int2 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten._histogramdd_from_bin_cts %x, %bins, %none, %none, %false : !torch.vtensor<[5,3],f32>, !torch.list<int>, !torch.none, !torch.none, !torch.bool -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// CHECK: error: [TW-LOWER-0002] operator aten.segment_reduce: axis is 0, but must be the last of the 2 dimensions of lengths or offsets, and one of the data's 2
func.func @segments(%x: !torch.vtensor<[5,3],f32>, %n: !torch.vtensor<[5,2],si64>) -> !torch.vtensor<[2,3],f32> {
  %int0 = torch.constant.int 0
  %none = torch.constant.none
  %false = torch.constant.bool false
  %sum = torch.constant.str "sum"
  %0 = torch.aten.segment_reduce %x, %sum, %n, %none, %none, %int0, %false, %none : !torch.vtensor<[5,3],f32>, !torch.str, !torch.vtensor<[5,2],si64>, !torch.none, !torch.none, !torch.int, !torch.bool, !torch.none -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// CHECK: error: [TW-LOWER-0002] operator aten.fractional_max_pool2d: windows reach over 5 elements of a dimension of size 4
func.func @windows(%x: !torch.vtensor<[1,1,4,4],f32>, %s: !torch.vtensor<[1,1,2],f32>) -> !torch.vtensor<[1,1,4,4],f32> {
  %int2 = torch.constant.int 2
  %int4 = torch.constant.int 4
  %two = torch.prim.ListConstruct %int2, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %four = torch.prim.ListConstruct %int4, %int4 : (!torch.int, !torch.int) -> !torch.list<int>
  %0:2 = torch.aten.fractional_max_pool2d %x, %two, %four, %s : !torch.vtensor<[1,1,4,4],f32>, !torch.list<int>, !torch.list<int>, !torch.vtensor<[1,1,2],f32> -> !torch.vtensor<[1,1,4,4],f32>, !torch.vtensor<[1,1,4,4],si64>
  return %0#0 : !torch.vtensor<[1,1,4,4],f32>
}

// CHECK: error: [TW-LOWER-0002] operator aten.grid_sampler_2d_backward: cubic interpolation (interpolation_mode=2) exists for 4-d inputs only
func.func @cubic(%x: !torch.vtensor<[1,1,4,4,4],f32>, %g: !torch.vtensor<[1,2,2,2,3],f32>, %o: !torch.vtensor<[1,1,2,2,2],f32>) -> !torch.vtensor<[1,1,4,4,4],f32> {
  %int2 = torch.constant.int 2
  %int0 = torch.constant.int 0
  %true = torch.constant.bool true
  %mask = torch.prim.ListConstruct %true, %true : (!torch.bool, !torch.bool) -> !torch.list<bool>
  %0:2 = torch.aten.grid_sampler_2d_backward %o, %x, %g, %int2, %int0, %true, %mask : !torch.vtensor<[1,1,2,2,2],f32>, !torch.vtensor<[1,1,4,4,4],f32>, !torch.vtensor<[1,2,2,2,3],f32>, !torch.int, !torch.int, !torch.bool, !torch.list<bool> -> !torch.vtensor<[1,1,4,4,4],f32>, !torch.vtensor<[1,2,2,2,3],f32>
  return %0#0 : !torch.vtensor<[1,1,4,4,4],f32>
}
