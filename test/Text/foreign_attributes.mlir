// RUN: tilewright run %s --input=2xf32=-1,2 --expected-output=2xf32=0,2 | FileCheck %s

// Attributes of other tools' dialects, on the module, the function and its arguments, mean nothing here, and
// those of ours on the function are the importer's to set.

// CHECK: all 2 elements agree
module @module attributes {other.version = #other.thing<3>} {
  func.func @main(%x: !torch.vtensor<[2],f32> {other.affinity = #other.device<@a>}) -> (!torch.vtensor<[2],f32> {other.kept}) attributes {tw.symbols = [4], tw.fixed_results = [5], torch.assume_strict_symbolic_shapes, other.stub = #other<kind sync>} {
    %0 = torch.aten.relu %x {other.note = #other.thing<4>} : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
    return %0 : !torch.vtensor<[2],f32>
  }
}
