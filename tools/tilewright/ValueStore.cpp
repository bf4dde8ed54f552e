// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ValueStore.h"
#include "IO/OutputFile.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace tw::cli {

static std::string folder() {
  const char *given = std::getenv("TMPDIR");
  return given && *given ? given : "/tmp";
}

Result<ValueStore> ValueStore::create() {
  std::string path = folder() + "/tilewright-values-XXXXXX";
  int descriptor = ::mkstemp(path.data());
  if (descriptor < 0)
    return cannotWrite(path, errno);
  ::unlink(path.c_str()); // it goes with its last descriptor
  return ValueStore(descriptor);
}

ValueStore::ValueStore(ValueStore &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)), end(other.end),
      places(std::move(other.places)) {}

ValueStore::~ValueStore() {
  if (descriptor >= 0)
    ::close(descriptor);
}

void ValueStore::clear() {
  places.clear();
  end = 0;
}

Status ValueStore::put(Key key, const HostTensor &value, int32_t dispatch) {
  places.insert_or_assign(key, Place{value.dtype(), value.sizes(), end, dispatch});
  for (std::span<const std::byte> left = value.bytes(); !left.empty();) {
    ssize_t count = ::pwrite(descriptor, left.data(), left.size(), end);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return cannotWrite(folder(), errno);
    left = left.subspan(static_cast<size_t>(count));
    end += count;
  }
  return {};
}

Result<HostTensor> ValueStore::get(Key key) const {
  const Place &place = places.at(key);
  TW_ASSIGN(HostTensor value, HostTensor::create(place.dtype, place.sizes));
  int64_t at = place.offset;
  for (std::span<std::byte> left = value.bytes(); !left.empty();) {
    ssize_t count = ::pread(descriptor, left.data(), left.size(), at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return Diagnostic{Code::IO_1,
                        fmt::format("a value of the reference target in {} cannot be read: {}",
                                    folder(), count < 0 ? std::strerror(errno) : "it is cut off")};
    left = left.subspan(static_cast<size_t>(count));
    at += count;
  }
  return value;
}

} // namespace tw::cli
