func.func @main(%x: !torch.tensor<[2,?],f32> {tw.name = "x"}) -> !torch.tuple<int, float> {
  %int3 = torch.constant.int 3
  %f = torch.constant.float 1.5
  %0 = torch.copy.to_vtensor %x : !torch.vtensor<[2,?],f32>
  torch.overwrite.tensor.contents %0 overwrites %x : !torch.vtensor<[2,?],f32>, !torch.tensor<[2,?],f32>
  %1 = torch.prim.TupleConstruct %int3, %f : !torch.int, !torch.float -> !torch.tuple<int, float>
  return %1 : !torch.tuple<int, float>
}
