// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect itself, its attributes and types.
#include "IR/Tile/SizeText.h"
#include "IR/Tile/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tw;
using namespace tw::tile;

#include "IR/Tile/Tile.dialect.cpp.inc"
#include "IR/Tile/Tile.enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "IR/Tile/Tile.attrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "IR/Tile/Tile.types.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "IR/Tile/Tile.attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "IR/Tile/Tile.types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "IR/Tile/Tile.ops.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// NOLINTNEXTLINE(performance-unnecessary-value-param): TableGen declares it so.
LogicalResult SizeAttr::verify(function_ref<InFlightDiagnostic()> emitError, Size size) {
  if (!size.valid())
    return emitError() << "the size overflows or divides by 0";
  return success();
}

LogicalResult DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                       function_ref<InFlightDiagnostic()> emitError) const {
  auto count = size_t(llvm::count_if(shape, ShapedType::isDynamic));
  if (count == 0)
    return emitError() << "a tile whose extents are all static has no #tile.dims";
  if (count != getSizes().size())
    return emitError() << "#tile.dims names " << getSizes().size() << " extents, but the tile has "
                       << count << " that are not static";
  for (SizeAttr size : getSizes())
    if (size.getSize().constant())
      return emitError() << "the extent " << size.getText() << " is static: write it as one";
  return success();
}

LogicalResult SymbolAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                                 int64_t min, int64_t max, int64_t multiple) {
  if (!Size::isSymbolName(name))
    return emitError() << "\"" << name << "\" cannot be the name of a symbol";
  if (min < 0 || max < min)
    return emitError() << "symbol " << name << ": no value is between min = " << min
                       << " and max = " << max << " and not negative";
  if (multiple < 1)
    return emitError() << "symbol " << name << ": multiple is " << multiple
                       << ", but must be positive";
  return success();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isElement(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
         (type.isSignlessInteger() &&
          llvm::is_contained({1u, 8u, 16u, 32u, 64u}, type.getIntOrFloatBitWidth()));
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<SizeAttr> shape, Type element) {
  if (!isElement(element) && !element.isUnsignedInteger(8))
    return emitError() << "elements of a buffer are f16, bf16, f32, f64, i8, i16, i32, i64, ui8 or "
                          "i1, but this one's are "
                       << element;
  for (SizeAttr size : shape)
    if (auto value = size.getSize().constant(); value && *value < 0)
      return emitError() << "the size " << *value << " is negative";
  return success();
}

Type BufferType::getTileElementType() const {
  return getElementType().isUnsignedInteger(8) ? IntegerType::get(getContext(), 8)
                                               : getElementType();
}

namespace tw::tile {

std::vector<Size> extentsOf(RankedTensorType tile) {
  std::vector<Size> extents;
  auto dims = dyn_cast_or_null<DimsAttr>(tile.getEncoding());
  size_t next = 0;
  for (int64_t extent : tile.getShape())
    extents.push_back(ShapedType::isDynamic(extent) ? dims.getSizes()[next++].getSize()
                                                    : Size(extent));
  return extents;
}

RankedTensorType tileType(ArrayRef<Size> extents, Type element) {
  SmallVector<int64_t> shape;
  SmallVector<SizeAttr> sizes;
  for (const Size &extent : extents) {
    shape.push_back(extent.constant().value_or(ShapedType::kDynamic));
    if (!extent.constant())
      sizes.push_back(SizeAttr::get(element.getContext(), extent));
  }
  Attribute encoding;
  if (!sizes.empty())
    encoding = DimsAttr::get(element.getContext(), sizes);
  return RankedTensorType::get(shape, element, encoding);
}

std::vector<Size> sizesOf(BufferType buffer) {
  std::vector<Size> sizes;
  for (SizeAttr size : buffer.getShape())
    sizes.push_back(size.getSize());
  return sizes;
}

std::optional<std::string> whyNotTile(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  auto tile = dyn_cast<RankedTensorType>(type);
  Type element = tile ? tile.getElementType() : type;
  if (!isElement(element) && !element.isIndex())
    return text + " is neither a tile nor a scalar of a kernel";
  if (tile && !tile.hasStaticShape() && !isa_and_nonnull<DimsAttr>(tile.getEncoding()))
    return text + " does not say its extents: #tile.dims is missing";
  if (tile && tile.hasStaticShape() && tile.getEncoding())
    return text + " has an encoding, but all its extents are static";
  return std::nullopt;
}

} // namespace tw::tile
