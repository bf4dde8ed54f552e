// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work of one call in order, kept to be compared with another call's, enqueued, or made a
// graph.
#pragma once
#include "runtime/Device/Device.h"
#include <cstdint>
#include <vector>

namespace tw::rt {

class WorkList {
public:
  enum class Kind : uint8_t { Launch, Copy, Fill };

  struct CopyWithin {
    void *to;
    const void *from;
    int64_t bytes;
  };
  struct Fill {
    void *to;
    uint32_t pattern;
    int32_t bytes; // of the pattern
    int64_t count;
  };

  void clear();
  /// Copies what `launch` points to.
  void addLaunch(Kernel kernel, const tw_launch &launch);
  /// Of no bytes: nothing is added.
  void addCopy(void *to, const void *from, int64_t bytes);
  void addFill(void *to, uint32_t pattern, int32_t bytes, int64_t count);

  size_t size() const { return pieces.size(); }
  Kind kind(size_t index) const { return pieces[index].kind; }
  Kernel kernel(size_t index) const { return launches[pieces[index].number].kernel; }
  /// Valid as long as the list does not change.
  tw_launch launch(size_t index) const;
  const CopyWithin &copy(size_t index) const { return copies[pieces[index].number]; }
  const Fill &fill(size_t index) const { return fills[pieces[index].number]; }

  /// Whether a graph of `other` can be changed into one of this list: the same kinds of work in the
  /// same order, by the same kernels.
  bool hasFormOf(const WorkList &other) const;
  /// Whether piece `index` is the same in two lists of one form.
  bool isSame(size_t index, const WorkList &other) const;

  /// All of it, piece by piece.
  Status enqueue(Device &device, Stream stream) const;

private:
  struct Piece {
    Kind kind;
    uint32_t number; // among its kind
  };
  struct Launch {
    Kernel kernel;
    tw_launch launch;       // without pointers
    size_t arguments, maps; // where its own begin
  };
  std::vector<Piece> pieces;
  std::vector<Launch> launches;
  std::vector<CopyWithin> copies;
  std::vector<Fill> fills;
  std::vector<uint64_t> arguments;
  std::vector<tw_tensor_map> maps;
};

} // namespace tw::rt
