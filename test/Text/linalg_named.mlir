// RUN: tilewright run %s --input=1x4x4x2xf32=1 --input=2x2x2x3xf32=0.125 --expected-output=1x1x1x3xf32=1 --expected-output=3x2x2xf32=1 --expected-output=9xf32=3 --expected-output=2xf32=20.085537 | FileCheck %s

// Convolution, pooling, transposition, reduction and map by name; slices and reshapes.

// CHECK-COUNT-4: agree

func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<2x2x2x3xf32>) -> (tensor<1x1x1x3xf32>, tensor<3x2x2xf32>, tensor<9xf32>, tensor<2xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x3x3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  %conv = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %k : tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) outs(%f : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  %pe = tensor.empty() : tensor<1x1x1x3xf32>
  %pf = linalg.fill ins(%low : f32) outs(%pe : tensor<1x1x1x3xf32>) -> tensor<1x1x1x3xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %pool = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%conv, %window : tensor<1x3x3x3xf32>, tensor<3x3xf32>) outs(%pf : tensor<1x1x1x3xf32>) -> tensor<1x1x1x3xf32>
  %flat = tensor.collapse_shape %conv [[0, 1, 2], [3]] : tensor<1x3x3x3xf32> into tensor<9x3xf32>
  %te = tensor.empty() : tensor<3x9xf32>
  %t = linalg.transpose ins(%flat : tensor<9x3xf32>) outs(%te : tensor<3x9xf32>) permutation = [1, 0]
  %slice = tensor.extract_slice %t[0, 0] [3, 4] [1, 2] : tensor<3x9xf32> to tensor<3x4xf32>
  %exp = tensor.expand_shape %slice [[0], [1, 2]] output_shape [3, 2, 2] : tensor<3x4xf32> into tensor<3x2x2xf32>
  %re = tensor.empty() : tensor<9xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<9xf32>) -> tensor<9xf32>
  %red = linalg.reduce { arith.addf } ins(%t : tensor<3x9xf32>) outs(%rf : tensor<9xf32>) dimensions = [0]
  %a = tensor.extract_slice %red[0] [2] [1] : tensor<9xf32> to tensor<2xf32>
  %me = tensor.empty() : tensor<2xf32>
  %m = linalg.map { math.exp } ins(%a : tensor<2xf32>) outs(%me : tensor<2xf32>)
  return %pool, %exp, %red, %m : tensor<1x1x1x3xf32>, tensor<3x2x2xf32>, tensor<9xf32>, tensor<2xf32>
}
