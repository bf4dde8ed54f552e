// What the verifier says of the variants of a kernel: a call goes to the first whose bounds it keeps.
// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// Ascending bounds of one symbol, and then a bound of another.
tile.kernel @right(in %x: !tile.buffer<[M, N], f32>) symbols [M, N] grid [M]
    attributes {tile.variants = [@right_max1, @right_max6, @right_few]} {}
tile.kernel @right_max1(in %x: !tile.buffer<[M, N], f32>) symbols [M {min = 1, max = 1}, N] grid [M] {}
tile.kernel @right_max6(in %x: !tile.buffer<[M, N], f32>) symbols [M {max = 6}, N] grid [M] {}
tile.kernel @right_few(in %x: !tile.buffer<[M, N], f32>) symbols [M, N {max = 2}] grid [M] {}

// -----

// Sizes, and then numbers of workers, the most first.
tile.kernel @workers(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M]
    attributes {tile.variants = [@workers_max6, @workers_16, @workers_4]} {}
tile.kernel @workers_max6(in %x: !tile.buffer<[M], f32>) symbols [M {max = 6}] grid [M] {}
tile.kernel @workers_16(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M] attributes {tile.workers = 16} {}
tile.kernel @workers_4(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M] attributes {tile.workers = 4} {}

// -----

// expected-error @+1 {{no call would go to the variant @fewer_16: @fewer_4 stands before it and takes all}}
tile.kernel @fewer(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M] attributes {tile.variants = [@fewer_4, @fewer_16]} {}
tile.kernel @fewer_4(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M] attributes {tile.workers = 4} {}
tile.kernel @fewer_16(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M] attributes {tile.workers = 16} {}

// -----

// expected-error @+1 {{tile.workers is a number of workers, 2 or more, but is 1 : i64}}
tile.kernel @alone(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M] attributes {tile.workers = 1} {}

// -----

// expected-error @+1 {{tile.variants is an array of names of kernels, but is "other"}}
tile.kernel @text(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M] attributes {tile.variants = "other"} {}

// -----

// expected-error @+1 {{there is no kernel @other for a variant}}
tile.kernel @missing(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M] attributes {tile.variants = [@other]} {}

// -----

// expected-error @+1 {{the variant @itself is the kernel itself}}
tile.kernel @itself(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M] attributes {tile.variants = [@itself]} {}

// -----

// expected-error @+1 {{the variant @nested_max6 has variants itself}}
tile.kernel @nested(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M] attributes {tile.variants = [@nested_max6]} {}
tile.kernel @nested_max6(in %x: !tile.buffer<[M], f32>) symbols [M {max = 6}] grid [M]
    attributes {tile.variants = [@nested_max1]} {}
tile.kernel @nested_max1(in %x: !tile.buffer<[M], f32>) symbols [M {max = 1}] grid [M] {}

// -----

// expected-error @+1 {{the variant @arguments_max1 takes other arguments}}
tile.kernel @arguments(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M] attributes {tile.variants = [@arguments_max1]} {}
tile.kernel @arguments_max1(in %x: !tile.buffer<[M], f64>) symbols [M {max = 1}] grid [M] {}

// -----

// expected-error @+1 {{the variant @unbounded_max has no bound on a symbol or on workers that the kernel has not: no call would go to the kernel itself}}
tile.kernel @unbounded(in %x: !tile.buffer<[M], f32>) symbols [M {min = 1, max = 6}] grid [M] attributes {tile.variants = [@unbounded_max]} {}
tile.kernel @unbounded_max(in %x: !tile.buffer<[M], f32>) symbols [M {max = 6}] grid [M] {}

// -----

// expected-error @+1 {{no call would go to the variant @descending_max1: @descending_max6 stands before it and takes all}}
tile.kernel @descending(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M]
    attributes {tile.variants = [@descending_max6, @descending_max1]} {}
tile.kernel @descending_max6(in %x: !tile.buffer<[M], f32>) symbols [M {max = 6}] grid [M] {}
tile.kernel @descending_max1(in %x: !tile.buffer<[M], f32>) symbols [M {max = 1}] grid [M] {}

// -----

// expected-error @+1 {{no call would go to the variant @twice_max1: @twice_max1 stands before it and takes all}}
tile.kernel @twice(in %x: !tile.buffer<[M], f32>) symbols [M] grid [M]
    attributes {tile.variants = [@twice_max1, @twice_max1]} {}
tile.kernel @twice_max1(in %x: !tile.buffer<[M], f32>) symbols [M {max = 1}] grid [M] {}
