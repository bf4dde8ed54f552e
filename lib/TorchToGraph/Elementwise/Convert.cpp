// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of dtype, and the many names of "the same tensor".
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Families.h"

using namespace mlir;

namespace tw::lower {

/// The first argument in the dtype the program says; moves between devices mean nothing here.
static LogicalResult lowerConvert(Lowering &ctx) {
  auto self = ctx.arg(0u).tensor();
  if (!self)
    return ctx.refuse("its argument must be a tensor");
  return ctx.done(castTo(ctx, *self, ctx.resultDType()));
}

static LogicalResult lowerSame(Lowering &ctx) { return ctx.done(ctx.arg(0u)); }

Family convertFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.to.device", lowerConvert},
      {"torch.aten.to.dtype", lowerConvert},
      {"torch.aten.to.dtype_layout", lowerConvert},
      {"torch.aten.to.other", lowerConvert},
      {"torch.aten.to.prim_Device", lowerConvert},
      {"torch.aten.to.prim_dtype", lowerConvert},
      {"torch.aten.to.prim_other", lowerConvert},
      {"torch.aten._to_copy", lowerConvert},
      {"torch.aten._autocast_to_reduced_precision", lowerConvert},
      {"torch.aten._autocast_to_full_precision", lowerConvert},
      {"torch.aten.type_as", lowerConvert},
      {"torch.aten._cast_Float", lowerConvert},
      {"torch.prims.convert_element_type", lowerConvert},
      {"torch.prims.device_put", lowerSame},
      {"torch.prims.clone", lowerSame},
      {"torch.prims.copy_strided", lowerSame},
      {"torch.prims.view_of", lowerSame},
      {"torch.aten.clone", lowerSame},
      {"torch.aten.contiguous", lowerSame},
      {"torch.aten.detach", lowerSame},
      {"torch.aten.detach_copy", lowerSame},
      {"torch.aten.alias", lowerSame},
      {"torch.aten.alias_copy", lowerSame},
      {"torch.aten.lift", lowerSame},
      {"torch.aten.lift_fresh", lowerSame},
      {"torch.aten.lift_fresh_copy", lowerSame},
      {"torch.aten.resolve_conj", lowerSame},
      {"torch.aten.resolve_neg", lowerSame},
      {"torch.aten.real", lowerSame},
      {"torch.aten.conj", lowerSame},
      {"torch.aten._conj", lowerSame},
      {"torch.aten.conj_physical", lowerSame},
      {"torch.aten._conj_physical", lowerSame},
  };
  return {"Conversions", rows};
}

} // namespace tw::lower
