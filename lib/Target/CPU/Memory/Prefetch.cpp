// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefetches of what the next program reads, beside the loads of this one.
#include "Target/CPU/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::cpu {
void Emitter::prefetchNext(tile::LoadOp op, const Ix &index) {
  auto found = llvm::find_if(prefetches, [&](const Prefetch &one) { return one.load == op; });
  if (found == prefetches.end())
    return;
  const Buffer &buffer = buffers.find(op.getBuffer())->second;
  Ix distance = 0;
  for (auto [stride, growth] : llvm::zip(buffer.strides, found->growth))
    distance = ix().add(distance, ix().mul(stride, growth));
  prefetch(buffer.base, buffer.element, ix().add(index, distance), /*toFirstLevel=*/true);
}

void Emitter::prefetchLookups(tile::LoadOp op, const Point &point) {
  int last = int(op.getType().getRank()) - 1;
  if (point.lane != last || point.step != 1)
    return;
  for (const LookAhead &ahead : lookAheads)
    if (ahead.rows == op && ahead.along)
      prefetchAhead(ahead, point.at, 1);
}

void Emitter::prefetchAhead(const LookAhead &ahead, const Indices &at, int64_t lines) {
  auto indices = cast<tile::LoadOp>(ahead.indices), rows = cast<tile::LoadOp>(ahead.rows);
  const Buffer &from = buffers.find(indices.getBuffer())->second;
  Ix place = 0;
  Value exists;
  for (auto [d, position] : llvm::enumerate(indices.getPositions())) {
    Ix along = ix().add(index(position), ahead.growth[d]);
    if (ahead.along == unsigned(d))
      along = ix().add(along, at[ahead.dim]);
    place = ix().add(place, ix().mul(along, from.strides[d]));
    Value isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, ix().value(along),
                                           ix().value(from.sizes[d]));
    exists = both(exists, isInside);
  }
  auto ifExists = scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifExists.thenBlock());
  // It is not checked yet: a prefetch of what there is not does nothing.
  Value found = loadFrom(from.base, from.element, place, /*isVector=*/false, 1, {}, {});
  if (found.getType() != b.getI64Type())
    found = arith::ExtSIOp::create(b, loc, b.getI64Type(), found);
  const Buffer &table = buffers.find(rows.getBuffer())->second;
  Ix first = 0;
  for (auto [d, position] : llvm::enumerate(rows.getPositions())) {
    Ix along = d == ahead.dim ? Ix::of(found) : ix().add(index(position), at[d]);
    first = ix().add(first, ix().mul(along, table.strides[d]));
  }
  constexpr int64_t lineBytes = 64;
  int64_t elements = lineBytes / bytesOf(table.element);
  for (int64_t line = 0; line < lines; ++line)
    prefetch(table.base, table.element, ix().add(first, line * elements),
             /*toFirstLevel=*/!ahead.along);
}

void Emitter::prefetch(Value base, Type element, const Ix &index, bool toFirstLevel) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value address = LLVM::GEPOp::create(b, loc, pointer, memoryType(element), base,
                                      ArrayRef<LLVM::GEPArg>{ix().value(index)});
  auto number = [&](int32_t n) { return b.getI32IntegerAttr(n); };
  LLVM::Prefetch::create(b, loc, address, /*rw=*/number(0), /*hint=*/number(toFirstLevel ? 3 : 2),
                         /*cache=*/number(1));
}

} // namespace tw::target::cpu
