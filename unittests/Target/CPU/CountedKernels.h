// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small kernels `@k` whose instructions are counted; Products.h has those of matrices.
#pragma once
#include <cstdint>
#include <string>

namespace tw::target {

/// A convolution of 3 x 3 taps and 64 channels, without padding: a program makes `pixels` of a row
/// for `outputs` channels, tap by tap.
std::string convolution(int64_t pixels, int64_t outputs);

/// The same of each channel for itself, all taps of `channels` in one expression.
std::string depthwise(int64_t pixels, int64_t channels);

/// Queries in blocks of 48 and keys in blocks of 64, of 64 numbers each, with a running maximum.
std::string attention();

/// softmax of rows of 1000, with `more` exponentials of multiples added to each.
std::string softmax(int64_t more = 0);

} // namespace tw::target
