// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to buffers, and checks of positions.
#include "Language/Source/Printer.h"
#include "mlir/IR/Matchers.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::source {

std::string Printer::position(Value value) {
  return isa<RankedTensorType>(value.getType()) ? asSigned(use(value)).text : use(value).text;
}

std::string Printer::positions(ValueRange values) {
  std::vector<std::string> parts;
  for (Value value : values)
    parts.push_back(position(value));
  return "{" + joined(parts) + "}";
}

std::string Printer::shape(ArrayRef<Size> extents) {
  std::vector<std::string> parts;
  for (const Size &extent : extents)
    parts.push_back(sizeExpression(extent, symbols).text);
  return "{" + joined(parts) + "}";
}

std::string Printer::shape(Type tile) {
  return shape(tile::extentsOf(cast<RankedTensorType>(tile)));
}

static std::string listText(ArrayRef<int64_t> numbers) {
  return fmt::format("{{{}}}", fmt::join(numbers, ", "));
}

/// ", {.strides = {1, 2}, .pad = 0}"
std::string Printer::optionsText(std::vector<std::string> options) {
  llvm::erase_if(options, [](const std::string &option) { return option.empty(); });
  return options.empty() ? "" : ", {" + joined(options) + "}";
}

std::string Printer::maskText(Value mask) { return mask ? ".mask = " + use(mask).text : ""; }

std::string Printer::padText(Value pad, DType dtype) {
  if (!pad)
    return "";
  TypedAttr number;
  if (matchPattern(pad, m_Constant(&number)))
    return ".pad = " + numberText(number, dtype);
  return ".pad = " + as(use(pad), dtype).text;
}

static std::string stridesText(ArrayRef<int64_t> strides) {
  return strides.empty() ? "" : ".strides = " + listText(strides);
}

static DType dtypeOfBuffer(Value buffer) {
  return dtypeOf(cast<tile::BufferType>(buffer.getType()).getElementType());
}

Expression Printer::load(Operation *op, const Row &) {
  auto load = cast<tile::LoadOp>(op);
  DType dtype = dtypeOfBuffer(load.getBuffer());
  return {"load(" + buffers[load.getBuffer()] + ", " + positions(load.getPositions()) + ", " +
              shape(load.getType()) +
              optionsText({stridesText(load.getStrides()), maskText(load.getMask()),
                           padText(load.getPad(), dtype)}) +
              ")",
          Handle::Tile, dtype};
}

Expression Printer::gather(Operation *op, const Row &) {
  auto gather = cast<tile::GatherOp>(op);
  DType dtype = dtypeOfBuffer(gather.getBuffer());
  return {"gather(" + buffers[gather.getBuffer()] + ", " + positions(gather.getPositions()) +
              optionsText({maskText(gather.getMask()), padText(gather.getPad(), dtype)}) + ")",
          Handle::Tile, dtype};
}

static std::string updateText(std::optional<tile::Update> update) {
  return update ? ".atomic = Atomic::" + tile::stringifyUpdate(*update).str() : "";
}

Expression Printer::store(Operation *op, const Row &) {
  auto write = [&](const char *name, auto store, ArrayRef<int64_t> strides) {
    DType dtype = dtypeOfBuffer(store.getBuffer());
    return Expression{
        std::string(name) + "(" + buffers[store.getBuffer()] + ", " +
        positions(store.getPositions()) + ", " + as(use(store.getTile()), dtype).text +
        optionsText({stridesText(strides), maskText(store.getMask()),
                     store.getDrop() ? ".drop = true" : "", updateText(store.getUpdate())}) +
        ")"};
  };
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return write("store", store, store.getStrides());
  return write("scatter", cast<tile::ScatterOp>(op), {});
}

Expression Printer::check(Operation *op, const Row &) {
  auto check = cast<tile::CheckOp>(op);
  bool isTile = isa<RankedTensorType>(check.getType()), isIndex = check.getType().isIndex();
  Expression value = asSigned(handle(check.getValue()));
  std::string mask = check.getMask() ? ", " + use(check.getMask()).text : "";
  return {(isTile || isIndex ? "check(" : "checkScalar(") + value.text + ", " +
              position(check.getBound()) + ", " + quotedText(check.getMessage()) + mask + ")",
          isTile    ? Handle::Tile
          : isIndex ? Handle::Index
                    : Handle::Scalar,
          value.dtype};
}

} // namespace tw::source
