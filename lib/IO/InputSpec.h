// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The SPEC of the command line (--input=SPEC): what a user writes for one input.
//
//   SPEC := [NAME=] ( @FILE.npy | TYPE=@FILE.raw | TYPE=random:SEED | TYPE=[VALUE,...] )
//   TYPE := [SIZE x ...] DTYPE            "2x3xf32"; a scalar is "f32"
//
// One VALUE is used for every element; otherwise there are as many as elements, the last dimension
// fastest. A float VALUE may be nan, inf or -inf; a bool VALUE is 0, 1, false or true. Text before
// the first '=' that is not a TYPE is the NAME, so an input that is called like a type ("f32") can
// only be given by position.
//
// random:SEED is element i of splitmix64, z = mix(SEED + (i + 1) * 0x9e3779b97f4a7c15) with
//   mix(z): z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9; z = (z ^ z >> 27) * 0x94d049bb133111eb;
//           z = z ^ z >> 31
// turned into: floats (z >> 11) * 2^-52 - 1, uniform in [-1, 1), rounded to the dtype (a value that
// rounds to 1 stays 1); integers (z >> 33) % 10, that is 0 to 9; bools z >> 63.
#pragma once
#include "IO/HostTensor.h"
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tw {

/// A SPEC as written: nothing has been read or allocated.
struct InputSpec {
  struct NpyFile {
    std::string path;
  };
  struct RawFile {
    std::string path;
  };
  struct Random {
    uint64_t seed;
  };
  struct Values {
    std::vector<std::string> texts; // empty only for a tensor without elements
  };

  std::string text;           // the whole SPEC, for messages
  std::string name;           // empty: by position
  DType dtype = DType::F32;   // not for NpyFile
  std::vector<int64_t> sizes; // not for NpyFile
  std::variant<NpyFile, RawFile, Random, Values> source;
};

/// Parses "2x3xf32" or "i64"; empty when it is not a type or a size does not fit.
struct TensorType {
  DType dtype;
  std::vector<int64_t> sizes;
};
std::optional<TensorType> parseType(std::string_view text);

/// Errors: IO_8, which name the SPEC and what about it is wrong.
Result<InputSpec> parseInputSpec(std::string_view text);

/// Reads or makes the tensor. `wanted` is the dtype of the program's input, if known: it decides
/// how a .npy file is taken for bf16 (see Npy.h); any other difference is left to the caller.
/// Errors: IO_1, IO_3, IO_4, IO_5 of files; IO_8 to IO_10 of the SPEC.
Result<HostTensor> readInput(const InputSpec &spec, std::optional<DType> wanted = std::nullopt);

} // namespace tw
