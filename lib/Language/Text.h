// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, strings and lists in MLIR's text.
#ifndef TILEWRIGHT_LANGUAGE_TEXT_H
#define TILEWRIGHT_LANGUAGE_TEXT_H

#include "Language/Program.h"

namespace tw::kernel::detail {

/// "i8" for u8 too: the text has signless integers.
std::string elementText(DType dtype);
/// tensor<1x?xf32, #tile.dims<[N]>>
std::string mlirType(const Type &type);
/// !tile.buffer<[M, N], f32>
std::string bufferType(const BufferInfo &buffer);
std::string quoted(const std::string &text);
/// [1, 2]
std::string numbers(const std::vector<int64_t> &list);

} // namespace tw::kernel::detail

#endif // TILEWRIGHT_LANGUAGE_TEXT_H
