// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handles that authors hold.
#include "Language/Elements.h"

namespace tw::kernel::detail {

static uint64_t currentRegion() {
  Tracer *tracer = Tracer::current();
  return tracer ? tracer->region() : 0;
}

Handle::Handle() : home(currentRegion()) {}
Handle::Handle(Ref ref) : ref_(std::move(ref)), home(currentRegion()) {}
Handle::Handle(const Handle &other) : ref_(other.ref_), home(currentRegion()) {}

Handle &Handle::operator=(const Handle &other) {
  Tracer *tracer = Tracer::current();
  if (tracer && tracer->isAround(home)) {
    auto *value = std::get_if<ValuePtr>(&other.ref_);
    tracer->failAssignment(value ? value->get() : nullptr);
  }
  ref_ = other.ref_;
  return *this;
}

Ref at(const Refs &refs, size_t index) { return index < refs.size() ? refs[index] : Ref(); }

} // namespace tw::kernel::detail

namespace tw::kernel {
using namespace detail;

Size::Size(const Ref &constant)
    : expr_(std::make_shared<const SizeExpr>(
          std::holds_alternative<int64_t>(constant) ? std::get<int64_t>(constant)
          : std::holds_alternative<bool>(constant)  ? int64_t(std::get<bool>(constant))
                                                    : int64_t(0))) {}

bool Size::isConstant() const { return expr_->constant().has_value(); }

int64_t Size::constant(Here here) const {
  Tracer *tracer = Tracer::current();
  auto value = expr_->constant();
  if (tracer && !value)
    tracer->fail(here, "size " + expr_->str() + " is not known while the kernel is traced",
                 tracer->say().unknownSize);
  return value.value_or(0);
}

std::string Size::str() const { return expr_->str(); }

DType Tile::dtype(Here here) const {
  Tracer *tracer = Tracer::current();
  return tracer ? tileOf(*tracer, ref(), "dtype", here)->type.dtype : DType::f32;
}

Shape Tile::shape(Here here) const {
  Tracer *tracer = Tracer::current();
  return tracer ? toShape(tileOf(*tracer, ref(), "shape", here)->type.shape) : Shape();
}

Size Tile::size(Axis axis, Here here) const {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  const Extents &shape = tileOf(*tracer, ref(), "size", here)->type.shape;
  return toShape(shape)[size_t(checkAxis(*tracer, axis, shape, "the tile", here))];
}

} // namespace tw::kernel
