# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a program of so many branches, each inside the one before."""
import sys
n=int(sys.argv[1])
print('func.func @main(%x: !torch.vtensor<[4],f32>, %c: !torch.vtensor<[],i1>) -> !torch.vtensor<[4],f32> {')
print('  %b = torch.aten.Bool.Tensor %c : !torch.vtensor<[],i1> -> !torch.bool')
print('  %v0 = torch.aten.tanh %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>')
for i in range(1,n+1):
    print(f'  %r{i} = torch.prim.If %b -> (!torch.vtensor<[4],f32>) {{')
    print(f'  %v{i} = torch.aten.tanh %v{i-1} : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>')
print(f'  torch.prim.If.yield %v{n} : !torch.vtensor<[4],f32>')
for i in range(n,0,-1):
    print(f'  }} else {{\n  torch.prim.If.yield %v{i-1} : !torch.vtensor<[4],f32>\n  }}')
    print(f'  torch.prim.If.yield %r{i} : !torch.vtensor<[4],f32>' if i>1 else f'  return %r1 : !torch.vtensor<[4],f32>')
print('}')
