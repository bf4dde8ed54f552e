// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores, gathers and scatters.
#include "Language/Elements.h"
#include "Support/Counted.h"

#include <algorithm>

namespace tw::kernel::detail {
namespace {

/// One access to a buffer, in the making: operands in the order of the text, and what is shown.
class Access {
public:
  Access(Tracer &tracer, const char *name, const Buffer &handle, Here here)
      : tracer(tracer), name(name), here(here), buffer(tracer.checkBuffer(here, handle, name)) {
    attributes.buffer = buffer;
  }

  std::string what() const { return name + std::string(" of ") + buffer->name; }

  void checkWritable() const {
    if (buffer->access == detail::Access::in)
      tracer.fail(here, std::string(name) + " to " + buffer->name + ", which is an input",
                  "declare it with inout or output");
  }

  /// A scalar for each dimension, or a rank-1 tile of integers with the box's extent.
  void addPositions(const Positions &positions, const Extents &extents) {
    checkCount(positions.size(), "position");
    for (size_t d = 0; d < positions.size(); ++d) {
      const Ref &ref = positions[d].ref();
      std::string which = "position " + std::to_string(d) + " of " + what();
      auto *value = std::get_if<ValuePtr>(&ref);
      if (value && (*value)->type.isTile)
        addIndices(*value, extents[d], d, which);
      else
        operands.push_back(indexOf(tracer, ref, which, here));
    }
    attributes.positions = positions.size();
  }

  /// Integer tiles of one shape, which is given back.
  Extents addPointwise(const Positions &positions, const Extents *valueShape) {
    checkCount(positions.size(), "position");
    Extents shape = valueShape ? *valueShape : Extents();
    bool anyTile = valueShape;
    for (const Position &position : positions)
      if (auto *value = std::get_if<ValuePtr>(&position.ref()); value && (*value)->type.isTile) {
        anyTile = true;
        shape = broadcastShapes(tracer, shape, (*value)->type.shape, what(), here);
      }
    if (!anyTile)
      tracer.fail(here, what() + " got no tile of positions",
                  std::string("give tiles of integers; a box is accessed by ") +
                      (valueShape ? "store" : "load"));
    if (valueShape && !(shape == *valueShape))
      tracer.fail(here, what() + ": positions have the shape " + shapeText(shape) +
                            ", but the value " + shapeText(*valueShape));
    for (size_t d = 0; d < positions.size(); ++d)
      operands.push_back(pointPosition(positions[d].ref(), shape, d));
    attributes.positions = positions.size();
    return shape;
  }

  void addMask(const Tile &mask, const Extents &shape) {
    if (mask.ref().index() == 0)
      return;
    ValuePtr value = tileOf(tracer, mask.ref(), "the mask of " + what(), here);
    if (value->type.dtype != DType::i1)
      tracer.fail(here,
                  "the mask of " + what() + " is " + typeText(value->type) + ", but must be i1",
                  "compare it: x != 0");
    Extents fits = broadcastShapes(tracer, value->type.shape, shape, "the mask of " + what(), here);
    if (!(fits == shape))
      tracer.fail(here, "the mask of " + what() + " is " + typeText(value->type) +
                            ", but the access has the shape " + shapeText(shape));
    operands.push_back(broadcastTo(tracer, value, shape, here));
    attributes.hasMask = true;
  }

  void addPad(const Scalar &pad) {
    if (pad.ref().index() == 0)
      return;
    operands.push_back(scalarOf(tracer, pad.ref(), buffer->dtype, "the pad of " + what(), here));
    attributes.hasPad = true;
  }

  void addStrides(const std::vector<int64_t> &strides, const Positions &positions) {
    if (strides.empty())
      return;
    checkCount(strides.size(), "stride");
    for (size_t d = 0; d < strides.size(); ++d) {
      auto *value = std::get_if<ValuePtr>(&positions[d].ref());
      bool isIndexed = value && (*value)->type.isTile;
      if (strides[d] < 1 || (isIndexed && strides[d] != 1))
        tracer.fail(here,
                    "stride " + std::to_string(d) + " of " + what() + " is " +
                        std::to_string(strides[d]),
                    isIndexed ? "its position is a tile, so it is 1" : "strides are 1 or more");
    }
    attributes.strides = strides;
  }

  /// The tile to be stored, whose dtype must be the buffer's.
  ValuePtr addValue(const Tile &value) {
    ValuePtr tile = tileOf(tracer, value.ref(), what(), here);
    if (tile->type.dtype != buffer->dtype)
      tracer.fail(here,
                  what() + ": the value is " + typeText(tile->type) +
                      ", but the buffer's dtype is " + dtypeName(buffer->dtype),
                  "cast it: cast(x, " + dtypeName(buffer->dtype) + ")");
    operands.push_back(tile);
    return tile;
  }

  void addAtomic(Atomic atomic, bool isScatter) {
    static constexpr const char *words[] = {"", "add", "min", "max", "any"};
    if (size_t(atomic) >= std::size(words))
      tracer.fail(here, what() + ": there is no such kind of Atomic");
    if (atomic == Atomic::any && !isScatter)
      tracer.fail(here, what() + ": " + tracer.say().atomicAny + " is for scatter",
                  "an element of a box is written once");
    bool combines = atomic != Atomic::none && atomic != Atomic::any;
    bool isOrder = atomic == Atomic::min || atomic == Atomic::max;
    if ((combines && buffer->dtype == DType::i1) || (isOrder && buffer->dtype == DType::u8))
      tracer.fail(here, what() + ": " + dtypeName(buffer->dtype) + " has no atomic " +
                            words[size_t(atomic)]);
    attributes.word = words[size_t(atomic)];
  }

  void checkRank(const Extents &shape, const char *of) {
    if (shape.size() != buffer->shape.size())
      tracer.fail(here,
                  what() + ": " + of + " " + shapeText(shape) + " has " +
                      tw::counted(shape.size(), "dimension") + ", but the buffer " +
                      std::to_string(buffer->shape.size()) + ": " + shapeText(buffer->shape),
                  "give 1 for dimensions of one element; reshape changes a tile's shape");
  }

  Attributes attributes;
  Values operands;

private:
  void checkCount(size_t count, const char *of) const {
    if (count != buffer->shape.size())
      tracer.fail(here,
                  what() + " got " + tw::counted(count, of) + ", but the buffer has " +
                      tw::counted(buffer->shape.size(), "dimension") + ": " +
                      shapeText(buffer->shape),
                  "give one for each dimension");
  }

  void checkIntegers(const ValuePtr &value, const std::string &which) const {
    tracer.checkUsable(here, value);
    if (!isInteger(value->type.dtype) && value->type.dtype != DType::index)
      tracer.fail(here, which + " is " + typeText(value->type) + ", but positions are integers",
                  "cast it: cast(x, i64)");
  }

  /// u8 has no signed meaning that positions could use.
  ValuePtr widened(const ValuePtr &value) const {
    return value->type.dtype == DType::u8 ? castTo(tracer, value, DType::i32, here) : value;
  }

  void addIndices(const ValuePtr &value, const tw::Size &extent, size_t d,
                  const std::string &which) {
    checkIntegers(value, which);
    const Extents &shape = value->type.shape;
    if (shape.size() != 1 || !(shape[0] == extent))
      tracer.fail(here,
                  which + " is " + typeText(value->type) + ", but extent " + std::to_string(d) +
                      " of the box is " + extent.str(),
                  "a tile of positions has rank 1 and that extent; gather and scatter take others");
    operands.push_back(widened(value));
  }

  ValuePtr pointPosition(const Ref &ref, const Extents &shape, size_t d) const {
    std::string which = "position " + std::to_string(d) + " of " + what();
    auto *value = std::get_if<ValuePtr>(&ref);
    if (value && (*value)->type.isTile) {
      checkIntegers(*value, which);
      return broadcastTo(tracer, widened(*value), shape, here);
    }
    ValuePtr index = indexOf(tracer, ref, which, here);
    return fullOf(tracer, castTo(tracer, index, DType::i64, here), shape, here);
  }

  Tracer &tracer;
  const char *name;
  Here here;
  BufferPtr buffer;
};

ValuePtr loadOf(Tracer &tracer, const Buffer &buffer, const Positions &positions,
                const Shape &extents, const LoadOptions &options, Here here) {
  Access access(tracer, "load", buffer, here);
  Extents shape = tracer.checkShape(here, extents, "the " + access.what());
  access.checkRank(shape, "the box");
  access.addPositions(positions, shape);
  access.addStrides(options.strides, positions);
  access.addMask(options.mask, shape);
  access.addPad(options.pad);
  return tracer.emit1(here, "tile.load", access.operands,
                      Type{access.attributes.buffer->dtype, true, shape}, access.attributes);
}

void storeOf(Tracer &tracer, const Buffer &buffer, const Positions &positions, const Tile &value,
             const StoreOptions &options, Here here) {
  Access access(tracer, "store", buffer, here);
  access.checkWritable();
  ValuePtr tile = access.addValue(value);
  access.checkRank(tile->type.shape, "the value");
  access.addPositions(positions, tile->type.shape);
  access.addStrides(options.strides, positions);
  access.addMask(options.mask, tile->type.shape);
  access.addAtomic(options.atomic, false);
  access.attributes.flag = options.drop;
  tracer.noteEffect(here, "a store");
  tracer.noteStore(access.attributes.buffer);
  tracer.emit(here, "tile.store", access.operands, {}, access.attributes);
}

ValuePtr gatherOf(Tracer &tracer, const Buffer &buffer, const Positions &positions,
                  const GatherOptions &options, Here here) {
  Access access(tracer, "gather", buffer, here);
  Extents shape = access.addPointwise(positions, nullptr);
  access.addMask(options.mask, shape);
  access.addPad(options.pad);
  return tracer.emit1(here, "tile.gather", access.operands,
                      Type{access.attributes.buffer->dtype, true, shape}, access.attributes);
}

void scatterOf(Tracer &tracer, const Buffer &buffer, const Positions &positions, const Tile &value,
               const ScatterOptions &options, Here here) {
  Access access(tracer, "scatter", buffer, here);
  access.checkWritable();
  ValuePtr tile = access.addValue(value);
  access.addPointwise(positions, &tile->type.shape);
  access.addMask(options.mask, tile->type.shape);
  access.addAtomic(options.atomic, true);
  access.attributes.flag = options.drop;
  tracer.noteEffect(here, "a scatter");
  tracer.noteStore(access.attributes.buffer);
  tracer.emit(here, "tile.scatter", access.operands, {}, access.attributes);
}

} // namespace
} // namespace tw::kernel::detail

namespace tw::kernel {
using namespace detail;

Tile load(const Buffer &buffer, const Positions &positions, const Shape &extents,
          const LoadOptions &options, Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? Tile(Ref(loadOf(*tracer, buffer, positions, extents, options, here))) : Tile();
}

void store(const Buffer &buffer, const Positions &positions, const Tile &value,
           const StoreOptions &options, Here here) {
  if (Tracer *tracer = Tracer::current())
    storeOf(*tracer, buffer, positions, value, options, here);
}

Tile gather(const Buffer &buffer, const Positions &positions, const GatherOptions &options,
            Here here) {
  Tracer *tracer = Tracer::current();
  return tracer ? Tile(Ref(gatherOf(*tracer, buffer, positions, options, here))) : Tile();
}

void scatter(const Buffer &buffer, const Positions &positions, const Tile &value,
             const ScatterOptions &options, Here here) {
  if (Tracer *tracer = Tracer::current())
    scatterOf(*tracer, buffer, positions, value, options, here);
}

} // namespace tw::kernel
