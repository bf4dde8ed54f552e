// RUN: tilewright run %s --input=2x2xf32=1,0,0,1 --expected-output=2x2xf32=1,2,3,4 --expected-output=2xbool=1,0 --expected-output=2xi64=5,-3 --expected-output=2xbf16=1.5,-2 --expected-output=3xu8=1,2,255 --expected-output=2x2xf16=1,2,3,4 --expected-output=i32=-7 | FileCheck %s

// Literals in every way of writing them: numbers, bytes, and bytes at the end of the text.

// CHECK-COUNT-7: agree

module {
  func.func @main(%x: !torch.vtensor<[2,2],f32>) -> (!torch.vtensor<[2,2],f32>, !torch.vtensor<[2],i1>, !torch.vtensor<[2],si64>, !torch.vtensor<[2],bf16>, !torch.vtensor<[3],ui8>, !torch.vtensor<[2,2],f16>, !torch.vtensor<[],si32>) {
    %0 = torch.vtensor.literal(dense_resource<torch_tensor_2_2_torch.float32> : tensor<2x2xf32>) : !torch.vtensor<[2,2],f32>
    %1 = torch.vtensor.literal(dense_resource<torch_tensor_2_torch.bool> : tensor<2xi1>) : !torch.vtensor<[2],i1>
    %2 = torch.vtensor.literal(dense_resource<torch_tensor_2_torch.int64> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
    %3 = torch.vtensor.literal(dense<[1.5, -2.0]> : tensor<2xbf16>) : !torch.vtensor<[2],bf16>
    %4 = torch.vtensor.literal(dense<[1, 2, 255]> : tensor<3xui8>) : !torch.vtensor<[3],ui8>
    %5 = torch.vtensor.literal(dense<"0x003C004000420044"> : tensor<2x2xf16>) : !torch.vtensor<[2,2],f16>
    %6 = torch.vtensor.literal(dense<-7> : tensor<si32>) : !torch.vtensor<[],si32>
    %7 = torch.aten.mm %x, %0 : !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],f32> -> !torch.vtensor<[2,2],f32>
    return %7, %1, %2, %3, %4, %5, %6 : !torch.vtensor<[2,2],f32>, !torch.vtensor<[2],i1>, !torch.vtensor<[2],si64>, !torch.vtensor<[2],bf16>, !torch.vtensor<[3],ui8>, !torch.vtensor<[2,2],f16>, !torch.vtensor<[],si32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      torch_tensor_2_2_torch.float32: "0x040000000000803F000000400000404000008040",
      torch_tensor_2_torch.bool: "0x010000000100",
      torch_tensor_2_torch.int64: "0x040000000500000000000000FDFFFFFFFFFFFFFF"
    }
  }
#-}
