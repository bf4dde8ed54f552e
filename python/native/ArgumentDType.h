// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of which dtype an argument is, before it is known what program takes it.
#pragma once
#include "Arguments.h"

namespace tw::python {

/// The dtype of the elements of a plain tensor or array, which is what most calls are given; none
/// of others, which the reader of arguments has to look at.
std::optional<tw_dtype> plainDTypeOf(nanobind::handle object);
/// The dtype of the elements of what is given for `slot`. Throws as Arguments::add does.
tw_dtype dtypeOf(const Slot &slot, nanobind::handle object);

} // namespace tw::python
