// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s
// Operators of the schema table, as other tools print them.

// CHECK-LABEL: @mm
func.func @mm(%a: !torch.vtensor<[2,3],f16>, %b: !torch.vtensor<[3,?],f16>) -> !torch.vtensor<[2,?],f16> {
  // CHECK: %0 = torch.aten.mm %arg0, %arg1 : !torch.vtensor<[2,3],f16>, !torch.vtensor<[3,?],f16> -> !torch.vtensor<[2,?],f16>
  %0 = torch.aten.mm %a, %b : !torch.vtensor<[2,3],f16>, !torch.vtensor<[3,?],f16> -> !torch.vtensor<[2,?],f16>
  return %0 : !torch.vtensor<[2,?],f16>
}

// Several results have the schema's names.
// CHECK-LABEL: @max
func.func @max(%a: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2],si64> {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  // CHECK: %values, %indices = torch.aten.max.dim %arg0, %int1, %false : !torch.vtensor<[2,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>
  %v, %i = torch.aten.max.dim %a, %int1, %false : !torch.vtensor<[2,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>
  return %i : !torch.vtensor<[2],si64>
}

// CHECK-LABEL: @other_namespaces
func.func @other_namespaces(%a: !torch.vtensor<[2],f32>, %t: !torch.tuple<int, str>) {
  %int6 = torch.constant.int 6
  // CHECK: torch.prims.convert_element_type %arg0, %int6 : !torch.vtensor<[2],f32>, !torch.int -> !torch.vtensor<[2],f64>
  %0 = torch.prims.convert_element_type %a, %int6 : !torch.vtensor<[2],f32>, !torch.int -> !torch.vtensor<[2],f64>
  // CHECK: %[[U:.*]]:2 = torch.prim.TupleUnpack %arg1 : !torch.tuple<int, str> -> !torch.int, !torch.str
  %1:2 = torch.prim.TupleUnpack %t : !torch.tuple<int, str> -> !torch.int, !torch.str
  // CHECK: torch.prim.Print(%[[U]]#0, %[[U]]#1) : !torch.int, !torch.str
  torch.prim.Print(%1#0, %1#1) : !torch.int, !torch.str
  // CHECK: torch.aten._assert_async %arg0 {note = 3 : i64} : !torch.vtensor<[2],f32>
  torch.aten._assert_async %a {note = 3 : i64} : !torch.vtensor<[2],f32>
  return
}
