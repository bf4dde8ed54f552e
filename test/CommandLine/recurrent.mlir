// RUN: tilewright compile %s -o %t.so
// RUN: tilewright run %t.so --input=3x1x1xf32=1 --expected-output=3x1x1xf32=1,2,3 | FileCheck %s
// RUN: tilewright run %t.so --input=1x2x1xf32=1,5 --expected-output=1x2x1xf32=1,5
// RUN: not tilewright run %t.so --input=0x1x1xf32= 2>&1 | FileCheck %s --check-prefix=EMPTY

// A running sum as a recurrent layer, over sequences whose length and batch are known only at run
// time.

// CHECK: all 3 elements agree
// EMPTY: error[{{.*}}the sequence of a recurrent layer has length 0; it needs at least one step
func.func @main(%x: !torch.vtensor<[?,?,1],f32>) -> !torch.vtensor<[?,?,1],f32> {
  %w = torch.vtensor.literal(dense<1.0> : tensor<1x1xf32>) : !torch.vtensor<[1,1],f32>
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %dropout = torch.constant.float 0.0
  %false = torch.constant.bool false
  %none = torch.constant.none
  %batch = torch.aten.size.int %x, %one : !torch.vtensor<[?,?,1],f32>, !torch.int -> !torch.int
  %sizes = torch.prim.ListConstruct %one, %batch, %one : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %h = torch.aten.zeros %sizes, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[1,?,1],f32>
  %params = torch.prim.ListConstruct %w, %w : (!torch.vtensor<[1,1],f32>, !torch.vtensor<[1,1],f32>) -> !torch.list<vtensor>
  %y, %n = torch.aten.rnn_relu.input %x, %h, %params, %false, %one, %dropout, %false, %false, %false : !torch.vtensor<[?,?,1],f32>, !torch.vtensor<[1,?,1],f32>, !torch.list<vtensor>, !torch.bool, !torch.int, !torch.float, !torch.bool, !torch.bool, !torch.bool -> !torch.vtensor<[?,?,1],f32>, !torch.vtensor<[1,?,1],f32>
  return %y : !torch.vtensor<[?,?,1],f32>
}
