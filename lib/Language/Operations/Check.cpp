// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions from data made safe.
#include "Language/Elements.h"

namespace tw::kernel::detail {
namespace {

/// The message may show the value and the bound, as %lld; other % are escaped.
std::string checkMessage(Tracer &tracer, const std::string &message, Here here) {
  size_t shown = 0;
  for (size_t i = message.find('%'); i != std::string::npos; i = message.find('%', i)) {
    bool isNumber = message.compare(i, 4, "%lld") == 0,
         isPercent = message.compare(i, 2, "%%") == 0;
    if ((!isNumber && !isPercent) || shown + isNumber > 2)
      tracer.fail(here, "check: the message has a % that is neither %% nor one of at most two %lld",
                  "the first %lld shows the value, the second the size");
    shown += isNumber;
    i += isNumber ? 4 : 2;
  }
  return message;
}

ValuePtr checkOf(Tracer &tracer, ValuePtr value, const Index &size, const std::string &message,
                 const Tile &mask, Here here) {
  if (!isInteger(value->type.dtype) && value->type.dtype != DType::index)
    tracer.fail(here, "check is not for " + typeText(value->type), "positions are integers");
  if (value->type.dtype == DType::u8)
    value = castTo(tracer, value, DType::i32, here);
  Attributes attributes;
  attributes.word = checkMessage(tracer, message, here);
  Values operands = {value, indexOf(tracer, size.ref(), "the size of check", here)};
  if (mask.ref().index() != 0) {
    ValuePtr test = tileOf(tracer, mask.ref(), "the mask of check", here);
    if (test->type.dtype != DType::i1)
      tracer.fail(here, "the mask of check is " + typeText(test->type) + ", but must be i1",
                  "compare it: x != 0");
    const Extents &shape = value->type.shape;
    if (!(broadcastShapes(tracer, test->type.shape, shape, "the mask of check", here) == shape))
      tracer.fail(here, "the mask of check is " + typeText(test->type) + ", but the positions " +
                            typeText(value->type));
    operands.push_back(broadcastTo(tracer, test, shape, here));
    attributes.hasMask = true;
  }
  tracer.noteEffect(here, "a check");
  return tracer.emit1(here, "tile.check", operands, value->type, attributes);
}

} // namespace
} // namespace tw::kernel::detail

namespace tw::kernel {
using namespace detail;

Tile check(const Tile &positions, const Index &size, const std::string &message, const Tile &mask,
           Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  ValuePtr value = tileOf(*tracer, positions.ref(), "check", here);
  return Tile(Ref(checkOf(*tracer, value, size, message, mask, here)));
}

Scalar checkScalar(const Scalar &position, const Index &size, const std::string &message,
                   Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  ValuePtr value = valueOf(*tracer, position.ref(), here);
  return Scalar(Ref(checkOf(*tracer, value, size, message, {}, here)));
}

Index check(const Scalar &position, const Index &size, const std::string &message, Here here) {
  Tracer *tracer = Tracer::current();
  if (!tracer)
    return {};
  ValuePtr value = indexOf(*tracer, position.ref(), "the position of check", here);
  return Index(Ref(checkOf(*tracer, value, size, message, {}, here)));
}

} // namespace tw::kernel
