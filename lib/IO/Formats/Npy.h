// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's .npy files, versions 1 to 3. Plain dtypes only: a file of Python objects is a pickle and
// is never opened. The file's size is checked against its shape before memory is taken.
#pragma once
#include "IO/HostTensor.h"
#include <optional>
#include <string>

namespace tw {

/// Parses the bytes of a .npy file; `name` is for messages. Fortran order and big-endian numbers
/// are turned into ours. bf16, which NumPy has not, is `wanted` explicitly: then f32 is rounded and
/// u16 is taken as the bits. Any other `wanted` changes nothing: the result has the file's dtype.
/// Errors: IO_4 (malformed), IO_5 (dtype), IO_3 (memory).
Result<HostTensor> parseNpy(std::span<const std::byte> bytes, const std::string &name,
                            std::optional<DType> wanted = std::nullopt);
/// The same from a file (IO_1 when it cannot be read).
Result<HostTensor> readNpy(const std::string &path, std::optional<DType> wanted = std::nullopt);

/// How bf16 is written: as its bits in u16, or widened to f32.
enum class NpyBFloat16 { AsU16, AsF32 };

/// Writes version 1 (2 when the header is long). Errors: IO_2.
Status writeNpy(const std::string &path, const HostTensor &tensor,
                NpyBFloat16 bfloat16 = NpyBFloat16::AsU16);

} // namespace tw
