// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Device/WorkList.h"
#include <algorithm>
#include <cstring>

namespace tw::rt {

void WorkList::clear() {
  pieces.clear();
  launches.clear();
  copies.clear();
  fills.clear();
  arguments.clear();
  maps.clear();
}

void WorkList::addLaunch(Kernel kernel, const tw_launch &launch) {
  pieces.push_back({Kind::Launch, static_cast<uint32_t>(launches.size())});
  Launch &kept = launches.emplace_back(Launch{kernel, launch, arguments.size(), maps.size()});
  arguments.insert(arguments.end(), launch.arguments, launch.arguments + launch.argument_count);
  if (launch.flags & TW_LAUNCH_HAS_MAPS)
    maps.insert(maps.end(), launch.maps, launch.maps + launch.map_count);
  else
    kept.launch.map_count = 0; // older code does not write it
  kept.launch.arguments = nullptr;
  kept.launch.maps = nullptr;
}

void WorkList::addCopy(void *to, const void *from, int64_t bytes) {
  if (bytes <= 0)
    return;
  pieces.push_back({Kind::Copy, static_cast<uint32_t>(copies.size())});
  copies.push_back({to, from, bytes});
}

void WorkList::addFill(void *to, uint32_t pattern, int32_t bytes, int64_t count) {
  if (count <= 0)
    return;
  pieces.push_back({Kind::Fill, static_cast<uint32_t>(fills.size())});
  fills.push_back({to, pattern, bytes, count});
}

tw_launch WorkList::launch(size_t index) const {
  const Launch &kept = launches[pieces[index].number];
  tw_launch launch = kept.launch;
  launch.arguments = arguments.data() + kept.arguments;
  launch.maps = maps.data() + kept.maps;
  return launch;
}

bool WorkList::hasFormOf(const WorkList &other) const {
  if (size() != other.size())
    return false;
  for (size_t i = 0; i < size(); ++i) {
    if (kind(i) != other.kind(i))
      return false;
    if (kind(i) != Kind::Launch)
      continue;
    const Launch &one = launches[pieces[i].number], &two = other.launches[pieces[i].number];
    const tw_launch &a = one.launch, &b = two.launch;
    // Clusters are attributes of nodes, and overlaps are edges.
    if (one.kernel != two.kernel || a.flags != b.flags ||
        !std::ranges::equal(a.cluster, b.cluster) || a.argument_count != b.argument_count ||
        a.map_count != b.map_count)
      return false;
  }
  return true;
}

bool WorkList::isSame(size_t index, const WorkList &other) const {
  uint32_t number = pieces[index].number;
  if (kind(index) == Kind::Copy) {
    const CopyWithin &a = copies[number], &b = other.copies[number];
    return a.to == b.to && a.from == b.from && a.bytes == b.bytes;
  }
  if (kind(index) == Kind::Fill) {
    const Fill &a = fills[number], &b = other.fills[number];
    return a.to == b.to && a.pattern == b.pattern && a.bytes == b.bytes && a.count == b.count;
  }
  const Launch &one = launches[number], &two = other.launches[number];
  const tw_launch &a = one.launch, &b = two.launch;
  return std::ranges::equal(a.grid, b.grid) && std::ranges::equal(a.block, b.block) &&
         a.shared_bytes == b.shared_bytes &&
         std::equal(arguments.begin() + one.arguments,
                    arguments.begin() + one.arguments + a.argument_count,
                    other.arguments.begin() + two.arguments) &&
         (a.map_count == 0 || std::memcmp(&maps[one.maps], &other.maps[two.maps],
                                          a.map_count * sizeof(tw_tensor_map)) == 0);
}

Status WorkList::enqueue(Device &device, Stream stream) const {
  for (size_t i = 0; i < size(); ++i)
    switch (kind(i)) {
    case Kind::Launch:
      TW_TRY(device.launch(kernel(i), launch(i), stream));
      break;
    case Kind::Copy:
      TW_TRY(device.copy(Copy::Within, copy(i).to, copy(i).from, copy(i).bytes, stream));
      break;
    case Kind::Fill:
      TW_TRY(device.fill(fill(i).to, fill(i).pattern, fill(i).bytes, fill(i).count, stream));
      break;
    }
  return {};
}

} // namespace tw::rt
