// RUN: tilewright-opt %s -tw-configure -tw-tile-programs | FileCheck %s

// A convolution with channels last: its weight comes in panels of a block's outputs, what follows is
// a kernel that fusion writes behind its store.
// CHECK-LABEL: func.func @main
// CHECK: tw.weight <"w" in "w.bin"[0, 294912] start 0 strides[16, 24576, 8192, 256, 1]> : tensor<16x3x3x32x16xf32>
// CHECK: tw.dispatch @k0_0
// CHECK: tw.dispatch @k0_1
func.func @main(%x: tensor<1x9x12x32xf32>) -> tensor<1x9x12x256xf32> {
  %w = tw.weight <"w" in "w.bin"[0, 294912] start 0 strides[24576, 8192, 256, 1]> : tensor<3x3x32x256xf32>
  %e = tensor.empty() : tensor<1x9x12x256xf32>
  %y = tw.dispatch @k0(%x, %w) outs(%e) : (tensor<1x9x12x32xf32>, tensor<3x3x32x256xf32>)
       outs(tensor<1x9x12x256xf32>) -> tensor<1x9x12x256xf32>
  return %y : tensor<1x9x12x256xf32>
}

// CHECK: tile.kernel @k0_0(in %in0: !tile.buffer<[1, 9, 12, 32], f32>, in %in1: !tile.buffer<[16, 3, 3, 32, 16], f32>,
// CHECK-SAME: out %out2: !tile.buffer<[9, 12, 256], f32>)
// CHECK: tile.for
// CHECK: tile.load %in0[{{.*}}] pad
// CHECK: tile.dot
// CHECK: tile.store {{.*}}, %out2
// CHECK: tile.kernel @k0_1(in %in0: !tile.buffer<[9, 12, 256], f32>, out %out1: !tile.buffer<[9, 12, 256], f32>)
func.func private @k0(%x: tensor<1x9x12x32xf32>, %w: tensor<3x3x32x256xf32>, %out: tensor<1x9x12x256xf32>)
    -> tensor<1x9x12x256xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x9x12x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x9x12x256xf32>) -> tensor<1x9x12x256xf32>
  %y = tw.conv layout channels_last ins(%x, %w : tensor<1x9x12x32xf32>, tensor<3x3x32x256xf32>)
      outs(%f : tensor<1x9x12x256xf32>) {strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>,
      dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x9x12x256xf32>
  %z = linalg.generic {
      indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<1x9x12x256xf32>) outs(%out : tensor<1x9x12x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<1x9x12x256xf32>
  return %z : tensor<1x9x12x256xf32>
}

// Sizes of images that calls bring; x is a half of the channels of another tensor.
// CHECK-LABEL: tile.kernel @half(in %in0: !tile.buffer<[a{{.*}}, a{{.*}}, 8], f32>, in %in1: !tile.buffer<[3, 4, 16], f32>,
// CHECK: %[[C:.*]] = arith.constant 4 : index
// CHECK: tile.load %in0[%{{.*}}, %{{.*}}, %[[C]]]
func.func @halves(%x: tensor<?x?x8xf32>, %w: tensor<3x4x16xf32>, %e: tensor<?x?x16xf32>) -> tensor<?x?x16xf32> {
  %y = tw.dispatch @half(%x, %w) outs(%e) : (tensor<?x?x8xf32>, tensor<3x4x16xf32>)
       outs(tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  return %y : tensor<?x?x16xf32>
}
func.func private @half(%x: tensor<?x?x8xf32>, %w: tensor<3x4x16xf32>, %out: tensor<?x?x16xf32>)
    -> tensor<?x?x16xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %l = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %h = tensor.extract_slice %x[0, 0, 4] [%n, %l, 4] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %y = tw.conv layout channels_last ins(%h, %w : tensor<?x?x4xf32>, tensor<3x4x16xf32>)
      outs(%f : tensor<?x?x16xf32>) {strides = array<i64: 1>, padding_low = array<i64: 1>,
      dilations = array<i64: 1>, groups = 1 : i64} -> tensor<?x?x16xf32>
  return %y : tensor<?x?x16xf32>
}

// A part of the places has neighbours that are no zeros: it is copied first.
// CHECK: tile.kernel @part_0(in %in0: !tile.buffer<[9, 8], f32>, out %out1: !tile.buffer<[4, 8], f32>)
// CHECK: tile.kernel @part_1(in %in0: !tile.buffer<[1, 4, 8], f32>, in %in1: !tile.buffer<[3, 8, 16], f32>
func.func @parts(%x: tensor<1x9x8xf32>, %w: tensor<3x8x16xf32>, %e: tensor<1x4x16xf32>) -> tensor<1x4x16xf32> {
  %y = tw.dispatch @part(%x, %w) outs(%e) : (tensor<1x9x8xf32>, tensor<3x8x16xf32>)
       outs(tensor<1x4x16xf32>) -> tensor<1x4x16xf32>
  return %y : tensor<1x4x16xf32>
}
func.func private @part(%x: tensor<1x9x8xf32>, %w: tensor<3x8x16xf32>, %out: tensor<1x4x16xf32>)
    -> tensor<1x4x16xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %h = tensor.extract_slice %x[0, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<1x9x8xf32> to tensor<1x4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<1x4x16xf32>) -> tensor<1x4x16xf32>
  %y = tw.conv layout channels_last ins(%h, %w : tensor<1x4x8xf32>, tensor<3x8x16xf32>)
      outs(%f : tensor<1x4x16xf32>) {strides = array<i64: 1>, padding_low = array<i64: 1>,
      dilations = array<i64: 1>, groups = 1 : i64} -> tensor<1x4x16xf32>
  return %y : tensor<1x4x16xf32>
}

// Windows of 3 x 3 of many channels by Winograd's filtering: a kernel transforms the weight, which is
// done at compile time where there is who evaluates. Four stores have every second place each.
// CHECK-LABEL: func.func @filters
// CHECK: %[[U:.*]] = tw.dispatch @filter_0(%{{.*}}) outs(%{{.*}}) : (tensor<3x3x64x64xf32>) outs(tensor<1x16x64x64xf32>)
// CHECK: tw.dispatch @filter_1(%{{.*}}, %[[U]])
// CHECK: tile.kernel @filter_0(in %{{.*}}: !tile.buffer<[3, 3, 64, 64], f32>, out %transformed: !tile.buffer<[1, 16, 64, 64], f32>)
// CHECK: tile.kernel @filter_1(in %in0: !tile.buffer<[1, 28, 28, 64], f32>, in %transformed: !tile.buffer<[1, 16, 64, 64], f32>,
// CHECK: tile.for
// CHECK-COUNT-4: tile.dot
// CHECK-COUNT-4: tile.store {{.*}} strides [2, 2, 1] drop
func.func @filters(%x: tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32> {
  %w = tw.weight <"w" in "w.bin"[0, 147456] start 0 strides[12288, 4096, 64, 1]> : tensor<3x3x64x64xf32>
  %e = tensor.empty() : tensor<1x28x28x64xf32>
  %y = tw.dispatch @filter(%x, %w) outs(%e) : (tensor<1x28x28x64xf32>, tensor<3x3x64x64xf32>)
       outs(tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  return %y : tensor<1x28x28x64xf32>
}
func.func private @filter(%x: tensor<1x28x28x64xf32>, %w: tensor<3x3x64x64xf32>, %out: tensor<1x28x28x64xf32>)
    -> tensor<1x28x28x64xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %y = tw.conv layout channels_last ins(%x, %w : tensor<1x28x28x64xf32>, tensor<3x3x64x64xf32>)
      outs(%f : tensor<1x28x28x64xf32>) {strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>,
      dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x28x28x64xf32>
  return %y : tensor<1x28x28x64xf32>
}

// So it is at each call where the weight is an input.
// CHECK-LABEL: func.func @given_filters
// CHECK: %[[V:.*]] = tw.dispatch @filter_of_input_0(%{{.*}}) outs(%{{.*}}) : (tensor<3x3x64x64xf32>) outs(tensor<1x16x64x64xf32>)
// CHECK: tw.dispatch @filter_of_input_1(%{{.*}}, %[[V]])
func.func @given_filters(%x: tensor<1x28x28x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<1x28x28x64xf32> {
  %e = tensor.empty() : tensor<1x28x28x64xf32>
  %y = tw.dispatch @filter_of_input(%x, %w) outs(%e) : (tensor<1x28x28x64xf32>, tensor<3x3x64x64xf32>)
       outs(tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  return %y : tensor<1x28x28x64xf32>
}
func.func private @filter_of_input(%x: tensor<1x28x28x64xf32>, %w: tensor<3x3x64x64xf32>, %out: tensor<1x28x28x64xf32>)
    -> tensor<1x28x28x64xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %y = tw.conv layout channels_last ins(%x, %w : tensor<1x28x28x64xf32>, tensor<3x3x64x64xf32>)
      outs(%f : tensor<1x28x28x64xf32>) {strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>,
      dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x28x28x64xf32>
  return %y : tensor<1x28x28x64xf32>
}

// Filters as they are given: for few places a program transposes those of some channels at a time.
// CHECK-LABEL: tile.kernel @few_places
// CHECK-SAME: in %in1: !tile.buffer<[64, 1152], f32>
// CHECK: tile.for
// CHECK: %[[W:.*]] = tile.load %in1{{.*}} -> tensor<16x576xf32>
// CHECK: %[[T:.*]] = tile.transpose %[[W]] [1, 0]
// CHECK: tile.slice %[[T]] offsets [0, 0] strides [9, 1] : tensor<576x16xf32> -> tensor<64x16xf32>
// CHECK: tile.slice %[[T]] offsets [8, 0] strides [9, 1]
func.func private @few_places(%x: tensor<1x14x14x128xf32>, %w: tensor<64x128x3x3xf32>, %out: tensor<1x7x7x64xf32>)
    -> tensor<1x7x7x64xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<1x7x7x64xf32>) -> tensor<1x7x7x64xf32>
  %y = tw.conv layout channels_last outputs_first ins(%x, %w : tensor<1x14x14x128xf32>, tensor<64x128x3x3xf32>)
      outs(%f : tensor<1x7x7x64xf32>) {strides = array<i64: 2, 2>, padding_low = array<i64: 1, 1>,
      dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x7x7x64xf32>
  return %y : tensor<1x7x7x64xf32>
}
func.func @few(%x: tensor<1x14x14x128xf32>, %w: tensor<64x128x3x3xf32>) -> tensor<1x7x7x64xf32> {
  %e = tensor.empty() : tensor<1x7x7x64xf32>
  %y = tw.dispatch @few_places(%x, %w) outs(%e) : (tensor<1x14x14x128xf32>, tensor<64x128x3x3xf32>)
       outs(tensor<1x7x7x64xf32>) -> tensor<1x7x7x64xf32>
  return %y : tensor<1x7x7x64xf32>
}

// For many images a kernel of its own transposes them, once.
// CHECK-LABEL: func.func @many
// CHECK: %[[COPY:.*]] = tw.dispatch @many_places_0(%{{.*}}) outs(%{{.*}}) : (tensor<64x128x9xf32>) outs(tensor<9x128x64xf32>)
// CHECK: %[[TAPS:.*]] = tensor.expand_shape %[[COPY]] {{.*}} into tensor<3x3x128x64xf32>
// CHECK: tw.dispatch @many_places_1(%{{.*}}, %[[TAPS]])
func.func private @many_places(%x: tensor<64x14x14x128xf32>, %w: tensor<64x128x3x3xf32>, %out: tensor<64x7x7x64xf32>)
    -> tensor<64x7x7x64xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<64x7x7x64xf32>) -> tensor<64x7x7x64xf32>
  %y = tw.conv layout channels_last outputs_first ins(%x, %w : tensor<64x14x14x128xf32>, tensor<64x128x3x3xf32>)
      outs(%f : tensor<64x7x7x64xf32>) {strides = array<i64: 2, 2>, padding_low = array<i64: 1, 1>,
      dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<64x7x7x64xf32>
  return %y : tensor<64x7x7x64xf32>
}
func.func @many(%x: tensor<64x14x14x128xf32>, %w: tensor<64x128x3x3xf32>) -> tensor<64x7x7x64xf32> {
  %e = tensor.empty() : tensor<64x7x7x64xf32>
  %y = tw.dispatch @many_places(%x, %w) outs(%e) : (tensor<64x14x14x128xf32>, tensor<64x128x3x3xf32>)
       outs(tensor<64x7x7x64xf32>) -> tensor<64x7x7x64xf32>
  return %y : tensor<64x7x7x64xf32>
}

// A window of one element: matrices. So they are where there are no whole blocks of outputs.
// CHECK-LABEL: func.func @odd
// CHECK: %[[COPY:.*]] = tw.dispatch @odd_outputs_0(%{{.*}}) outs(%{{.*}}) : (tensor<40x128xf32>) outs(tensor<128x40xf32>)
// CHECK: %[[TAPS:.*]] = tensor.expand_shape %[[COPY]] {{.*}} into tensor<1x1x128x40xf32>
func.func private @odd_outputs(%x: tensor<1x14x14x128xf32>, %w: tensor<40x128x1x1xf32>, %out: tensor<1x7x7x40xf32>)
    -> tensor<1x7x7x40xf32> attributes {tw.kernel} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<1x7x7x40xf32>) -> tensor<1x7x7x40xf32>
  %y = tw.conv layout channels_last outputs_first ins(%x, %w : tensor<1x14x14x128xf32>, tensor<40x128x1x1xf32>)
      outs(%f : tensor<1x7x7x40xf32>) {strides = array<i64: 2, 2>, padding_low = array<i64: 0, 0>,
      dilations = array<i64: 1, 1>, groups = 1 : i64} -> tensor<1x7x7x40xf32>
  return %y : tensor<1x7x7x40xf32>
}
func.func @odd(%x: tensor<1x14x14x128xf32>, %w: tensor<40x128x1x1xf32>) -> tensor<1x7x7x40xf32> {
  %e = tensor.empty() : tensor<1x7x7x40xf32>
  %y = tw.dispatch @odd_outputs(%x, %w) outs(%e) : (tensor<1x14x14x128xf32>, tensor<40x128x1x1xf32>)
       outs(tensor<1x7x7x40xf32>) -> tensor<1x7x7x40xf32>
  return %y : tensor<1x7x7x40xf32>
}
