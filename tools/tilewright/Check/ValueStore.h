// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of a model's graph that one program has computed and another is compared with: on disk,
// for all of them together may be many times what a run needs.
#pragma once
#include "IO/HostTensor.h"
#include <map>
#include <utility>

namespace tw::cli {

class ValueStore {
public:
  /// The value of this number, as often as it had been computed before in the same call.
  using Key = std::pair<int64_t, int64_t>;

  /// In an unnamed file of $TMPDIR, or of /tmp. Errors: IO_2, SYSTEM_3, SYSTEM_4.
  static Result<ValueStore> create();
  ValueStore(ValueStore &&other) noexcept;
  ValueStore &operator=(ValueStore &&) = delete;
  ~ValueStore();

  /// Forgets all values: another call begins.
  void clear();
  /// `dispatch`: which one computed it. Errors: IO_2, SYSTEM_3.
  Status put(Key key, const HostTensor &value, int32_t dispatch);
  bool has(Key key) const { return values.contains(key); }
  int32_t dispatchOf(Key key) const { return values.at(key).dispatch; }
  const std::vector<int64_t> &sizesOf(Key key) const { return values.at(key).sizes; }
  /// Errors: IO_1, IO_3.
  Result<HostTensor> get(Key key) const;

private:
  struct StoredValue {
    DType dtype;
    std::vector<int64_t> sizes;
    int64_t offset;
    int32_t dispatch;
  };
  ValueStore(int descriptor, std::string path) : descriptor(descriptor), path(std::move(path)) {}

  int descriptor;   // -1: moved from
  std::string path; // that it had, for messages
  int64_t end = 0;
  std::map<Key, StoredValue> values;
};

} // namespace tw::cli
