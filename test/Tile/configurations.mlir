// What the verifiers of configurations and hints say.
// RUN: tilewright-opt %s -split-input-file -verify-diagnostics=only-expected

// expected-error @+1 {{there is no kind of configurations called "winograd"}}
tile.kernel @kind() grid [1] attributes {tile.configuration = #tile.config<"winograd" {rows = 4 : i64}>} {}

// -----

// expected-error @+1 {{a cpu configuration has no field registers}}
tile.kernel @field() grid [1] attributes {tile.configuration = #tile.config<"cpu" {registers = 4 : i64}>} {}

// -----

// expected-error @+1 {{field accumulators_in_memory of a cpu configuration is missing}}
tile.kernel @missing() grid [1] attributes {tile.configuration = #tile.config<"cpu" {}>} {}

// -----

// expected-error @+1 {{field accumulators_in_memory of a cpu configuration is true or false}}
tile.kernel @flag() grid [1] attributes {tile.configuration = #tile.config<"cpu" {accumulators_in_memory = 2 : i64, interleaved = false}>} {}

// -----

// expected-error @+1 {{field block of a loops configuration is an array of i64}}
tile.kernel @list() grid [1] attributes {tile.configuration =
    #tile.config<"loops" {block = 4 : i64, chunk = array<i64: 0>, parts = 1 : i64, programs = array<i64: 1>, split_parts = 0 : i64}>} {}

// -----

// expected-error @+1 {{field programs of a loops configuration is 0, but must be 1 or more}}
tile.kernel @least() grid [1] attributes {tile.configuration =
    #tile.config<"loops" {block = array<i64: 4>, chunk = array<i64: 0>, parts = 1 : i64, programs = array<i64: 0>, split_parts = 0 : i64}>} {}

// -----

// expected-error @+1 {{fields block and programs of a loops configuration have a number for each dimension, but are of 2 and 1}}
tile.kernel @lengths() grid [1] attributes {tile.configuration =
    #tile.config<"loops" {block = array<i64: 4, 2>, chunk = array<i64: 0>, parts = 1 : i64, programs = array<i64: 1>, split_parts = 0 : i64}>} {}

// -----

// expected-error @+1 {{tile.replaces is the name of a kernel, but is ""}}
tile.kernel @replaces() grid [1] attributes {tile.replaces = ""} {}

// -----

// expected-error @+1 {{tile.configuration is a #tile.config of a tile.kernel, or a #tile.dispatch_config of a dispatch}}
tile.kernel @dispatch() grid [1] attributes {tile.configuration = #tile.dispatch_config<cuts[none] kernels[<"cpu" {accumulators_in_memory = false, interleaved = false}>]>} {}

// -----

// expected-error @+1 {{tile.block is an array of i64, one positive number for each of 2 dimensions of the grid, but is array<i64: 4>}}
tile.kernel @block() grid [1, 2] attributes {tile.block = array<i64: 4>} {}

// -----

// expected-error @+1 {{has an attribute tile.block, but that is a kernel's}}
func.func private @hint() attributes {tile.block = array<i64: 4>}

// -----

// expected-error @+1 {{there is no attribute tile.blocks of the tile dialect}}
tile.kernel @misspelled() grid [1] attributes {tile.blocks = array<i64: 4>} {}

// -----

// expected-error @+1 {{tile.begins is pairs of numbers, of an `in` and of an `inout` argument, but is array<i64: 1, 0>}}
tile.kernel @begins(in %x: !tile.buffer<[4], f32>, inout %y: !tile.buffer<[4], f32>) grid [1]
    attributes {tile.begins = array<i64: 1, 0>} {}

// -----

// expected-error @+1 {{tile.begins is pairs of numbers, of an `in` and of an `inout` argument, but is array<i64: 0, 2>}}
tile.kernel @begins_of_none(in %x: !tile.buffer<[4], f32>, inout %y: !tile.buffer<[4], f32>) grid [1]
    attributes {tile.begins = array<i64: 0, 2>} {}

// -----

// expected-error @+1 {{tile.begins: "y" is '!tile.buffer<[N], i64>', but "x", as whose copy it begins, is '!tile.buffer<[N * 4096], i64>'}}
tile.kernel @begins_larger(in %x: !tile.buffer<[N * 4096], i64>, inout %y: !tile.buffer<[N], i64>) symbols [N] grid [1]
    attributes {tile.begins = array<i64: 0, 1>} {}

// -----

// expected-error @+1 {{tile.begins: "y" is '!tile.buffer<[4], i32>', but "x", as whose copy it begins, is '!tile.buffer<[4], f32>'}}
tile.kernel @begins_other(in %x: !tile.buffer<[4], f32>, inout %y: !tile.buffer<[4], i32>) grid [1]
    attributes {tile.begins = array<i64: 0, 1>} {}

// -----

// expected-error @+1 {{tile.begins: "y" begins as a copy of two inputs}}
tile.kernel @begins_twice(in %x: !tile.buffer<[4], f32>, in %z: !tile.buffer<[4], f32>, inout %y: !tile.buffer<[4], f32>) grid [1]
    attributes {tile.begins = array<i64: 0, 2, 1, 2>} {}

// -----

// expected-error @+2 {{a variant is for sizes up to 4, but must be for more than 4}}
tile.kernel @ascending() grid [1] attributes {tile.configuration =
    #tile.config<"cpu" {accumulators_in_memory = false, interleaved = false} variants [<4, <"cpu" {accumulators_in_memory = true, interleaved = false}>>,
                                                                   <4, <"cpu" {accumulators_in_memory = true, interleaved = false}>>]>} {}

// -----

// expected-error @+2 {{a cpu configuration has a variant of kind loops}}
tile.kernel @other_kind() grid [1] attributes {tile.configuration =
    #tile.config<"cpu" {accumulators_in_memory = false, interleaved = false} variants [<4, <"loops" {
      block = array<i64: 4>, chunk = array<i64: 0>, parts = 1 : i64, programs = array<i64: 1>, split_parts = 0 : i64}>>]>} {}

// -----

// expected-error @+3 {{a variant is for sizes up to 0, but must be for 1 or more}}
// expected-error @+2 {{failed to parse Tile_ConfigurationAttr parameter 'variants'}}
tile.kernel @no_size() grid [1] attributes {tile.configuration =
    #tile.config<"cpu" {accumulators_in_memory = false, interleaved = false} variants [<0, <"cpu" {accumulators_in_memory = true, interleaved = false}>>]>} {}

// -----

// expected-error @+4 {{a variant has variants itself}}
// expected-error @+3 {{failed to parse Tile_ConfigurationAttr parameter 'variants'}}
tile.kernel @nested() grid [1] attributes {tile.configuration =
    #tile.config<"cpu" {accumulators_in_memory = false, interleaved = false} variants [
      <4, <"cpu" {accumulators_in_memory = true, interleaved = false} variants [<2, <"cpu" {accumulators_in_memory = false, interleaved = false}>>]>>]>} {}

// -----

// expected-error @+3 {{a variant is for 1 workers or more, but must be for 2 or more}}
// expected-error @+2 {{failed to parse Tile_ConfigurationAttr parameter 'variants'}}
tile.kernel @one_worker() grid [1] attributes {tile.configuration =
    #tile.config<"cpu" {accumulators_in_memory = false, interleaved = false} variants [<workers 1, <"cpu" {accumulators_in_memory = true, interleaved = false}>>]>} {}

// -----

// expected-error @+2 {{a variant is for 4 workers or more, but must be for fewer than 4}}
tile.kernel @workers_descend() grid [1] attributes {tile.configuration =
    #tile.config<"cpu" {accumulators_in_memory = false, interleaved = false} variants [<workers 4, <"cpu" {accumulators_in_memory = true, interleaved = false}>>,
                                                                   <workers 4, <"cpu" {accumulators_in_memory = true, interleaved = false}>>]>} {}

// -----

// expected-error @+2 {{a variant for sizes up to 6 stands behind one for many workers}}
tile.kernel @sizes_first() grid [1] attributes {tile.configuration =
    #tile.config<"cpu" {accumulators_in_memory = false, interleaved = false} variants [<workers 4, <"cpu" {accumulators_in_memory = true, interleaved = false}>>,
                                                                   <6, <"cpu" {accumulators_in_memory = true, interleaved = false}>>]>} {}

// -----

// expected-error @+2 {{the cuts make 2 kernels, but 1 is configured}}
func.func private @few() attributes {tw.kernel, tile.configuration =
    #tile.dispatch_config<cuts[transpose_rhs] kernels[<"cpu" {accumulators_in_memory = false, interleaved = false}>]>}

// -----

// expected-error @+2 {{the cuts make 1 kernel, but 2 are configured}}
func.func private @many() attributes {tw.kernel, tile.configuration =
    #tile.dispatch_config<cuts[none] kernels[<"cpu" {accumulators_in_memory = false, interleaved = false}>, <"cpu" {accumulators_in_memory = false, interleaved = false}>]>}

// -----

// expected-error @+2 {{the cuts make 2 or more kernels, but 1 is configured}}
func.func private @reductions() attributes {tw.kernel, tile.configuration =
    #tile.dispatch_config<cuts[none, split_reductions] kernels[<"cpu" {accumulators_in_memory = false, interleaved = false}>]>}

// -----

// expected-error @+1 {{tile.destinations is a unit, but is 3 : i64}}
tile.kernel @destinations() grid [1] attributes {tile.destinations = 3 : i64} {}

// -----

// expected-error @+1 {{has an attribute "destinations", which belongs to no dialect}}
tile.kernel @no_dialect() grid [1] attributes {destinations} {}
