// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Literals whose bytes stand at the end of the text, dense_resource<name>, become dense<...>: later
// levels know one kind of constant.
#include "Import/Text/Stages.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <fmt/format.h>

using namespace mlir;
namespace tw::text {

/// Bytes of one element as resources hold them; 0 for types that they cannot.
static int64_t bytesOf(Type element) {
  if (!element.isIntOrFloat())
    return 0;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits == 1 ? 1 : bits % 8 ? 0 : bits / 8;
}

/// Whether tensors of this type take `size` bytes; no product may overflow.
static bool takes(ShapedType type, int64_t size) {
  if (llvm::is_contained(type.getShape(), 0))
    return size == 0;
  int64_t bytes = bytesOf(type.getElementType());
  for (int64_t extent : type.getShape()) {
    if (bytes > size / extent)
      return false;
    bytes *= extent;
  }
  return bytes == size;
}

static DenseElementsAttr toDense(ShapedType type, ArrayRef<char> data) {
  if (data.empty())
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> bits(llvm::map_range(data, [](char byte) { return byte != 0; }));
    return DenseElementsAttr::get(type, bits);
  }
  return DenseElementsAttr::getFromRawBuffer(type, data);
}

static Status replaceResource(Operation *op, NamedAttribute attribute,
                              DenseResourceElementsAttr resource) {
  DenseResourceElementsHandle handle = resource.getRawHandle();
  std::string name = handle.getKey().str();
  AsmResourceBlob *blob = handle.getBlob();
  if (!blob)
    return errorAt(op, Code::IMPORT_101,
                   fmt::format("the literal's bytes, resource {}, are not in the text", name),
                   "print the program without leaving out large constants");
  ArrayRef<char> data = blob->getData();
  ShapedType type = resource.getType();
  if (!takes(type, static_cast<int64_t>(data.size())))
    return errorAt(op, Code::IMPORT_101,
                   fmt::format("resource {} has {} bytes, which do not make a {}", name,
                               data.size(), describeType(type)));
  op->setAttr(attribute.getName(), toDense(type, data));
  return {};
}

Status resolveResources(func::FuncOp entry) {
  Status status;
  entry.walk([&](Operation *op) {
    SmallVector<NamedAttribute> attributes(op->getAttrs());
    for (NamedAttribute attribute : attributes)
      if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute.getValue()))
        if (status = replaceResource(op, attribute, resource); !status)
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return status;
}

} // namespace tw::text
