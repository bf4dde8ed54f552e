// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on Python scalars: folded when known at compile time.
#pragma once
#include "TorchToGraph/Builders/Elementwise/Element.h"
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

enum class ScalarOp { Add, Sub, Mul, Div, FloorDiv, Remainder, Pow, Max, Min };
enum class ScalarComparison { Eq, Ne, Lt, Le, Gt, Ge };

/// Ints stay ints (Div always gives a float, as Python's /); otherwise floats.
Scalar combine(Lowering &ctx, ScalarOp op, const Scalar &a, const Scalar &b);
Scalar compare(Lowering &ctx, ScalarComparison op, const Scalar &a, const Scalar &b);

Scalar toFloat(Lowering &ctx, const Scalar &x);
Scalar toInt(Lowering &ctx, const Scalar &x); // toward zero
Scalar toBool(Lowering &ctx, const Scalar &x);

} // namespace tw::lower
