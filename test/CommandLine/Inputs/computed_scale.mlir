// Attention whose scale is computed at the call, which no kernel takes, between two products.
func.func @main(%q: !torch.vtensor<[1,2,4,8],f32>, %k: !torch.vtensor<[1,2,6,8],f32>, %s: !torch.float) -> !torch.vtensor<[1,2,4,8],f32> {
  %none = torch.constant.none
  %zero = torch.constant.float 0.000000e+00
  %false = torch.constant.bool false
  %a = torch.aten.relu %q : !torch.vtensor<[1,2,4,8],f32> -> !torch.vtensor<[1,2,4,8],f32>
  %r = torch.aten.scaled_dot_product_attention %a, %k, %k, %none, %zero, %false, %s, %false : !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,2,6,8],f32>, !torch.vtensor<[1,2,6,8],f32>, !torch.none, !torch.float, !torch.bool, !torch.float, !torch.bool -> !torch.vtensor<[1,2,4,8],f32>
  %y = torch.aten.tanh %r : !torch.vtensor<[1,2,4,8],f32> -> !torch.vtensor<[1,2,4,8],f32>
  return %y : !torch.vtensor<[1,2,4,8],f32>
}
