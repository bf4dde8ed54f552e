// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ValueStore.h"
#include "IO/OutputFile.h"
#include "IO/TemporaryFolder.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace tw::cli {

Result<ValueStore> ValueStore::create() {
  // What is left of it by a process that is killed goes with the folder.
  TW_ASSIGN(TemporaryFolder folder, TemporaryFolder::create());
  std::string path = folder.path() + "/values";
  int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return cannotWrite(path, errno);
  return ValueStore(descriptor, path); // the file has no name any more, as the folder ends here
}

ValueStore::ValueStore(ValueStore &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)), path(std::move(other.path)), end(other.end),
      values(std::move(other.values)) {}

ValueStore::~ValueStore() {
  if (descriptor >= 0)
    ::close(descriptor);
}

void ValueStore::clear() {
  values.clear();
  end = 0;
}

Status ValueStore::put(Key key, const HostTensor &value, int32_t dispatch) {
  values.insert_or_assign(key, StoredValue{value.dtype(), value.sizes(), end, dispatch});
  for (std::span<const std::byte> left = value.bytes(); !left.empty();) {
    ssize_t count = ::pwrite(descriptor, left.data(), left.size(), end);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return cannotWrite(path, errno);
    left = left.subspan(static_cast<size_t>(count));
    end += count;
  }
  return {};
}

Result<HostTensor> ValueStore::get(Key key) const {
  const StoredValue &found = values.at(key);
  TW_ASSIGN(HostTensor value, HostTensor::create(found.dtype, found.sizes));
  int64_t at = found.offset;
  for (std::span<std::byte> left = value.bytes(); !left.empty();) {
    ssize_t count = ::pread(descriptor, left.data(), left.size(), at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return Diagnostic{Code::IO_1,
                        fmt::format("a value of the reference target in {} cannot be read: {}",
                                    path, count < 0 ? std::strerror(errno) : "it is cut off")};
    left = left.subspan(static_cast<size_t>(count));
    at += count;
  }
  return value;
}

} // namespace tw::cli
