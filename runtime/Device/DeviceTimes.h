// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long the dispatches of one call take on a device: an event before and after each, read when
// the call is done.
#pragma once
#include "runtime/Device/Device.h"
#include <chrono>
#include <functional>

namespace tw::rt {

class DeviceTimes {
public:
  explicit DeviceTimes(Device &device) : device(device) {}
  ~DeviceTimes() {
    if (events.empty())
      return;
    EnteredDevice entered(device);
    for (Event event : events)
      if (entered.status)
        device.destroyEvent(event);
  }
  DeviceTimes(const DeviceTimes &) = delete;
  DeviceTimes &operator=(const DeviceTimes &) = delete;

  bool empty() const { return noted.empty(); }
  void clear() { noted.clear(); }

  /// At the beginning and at the end of a dispatch.
  Status note(int32_t dispatch, bool begins, Stream stream) {
    if (noted.empty())
      start = std::chrono::steady_clock::now();
    if (noted.size() == events.size()) {
      TW_ASSIGN(Event fresh, device.createEvent(/*timed=*/true));
      events.push_back(fresh);
    }
    noted.push_back({dispatch, begins});
    return device.record(events[noted.size() - 1], stream);
  }

  /// The last dispatch begins now, and is done `count` times.
  Status noteAgain(int64_t count, Stream stream) {
    noted.back().count = count;
    return device.record(events[noted.size() - 1], stream);
  }

  /// When all is done: gives each dispatch with its begin and end, of what was done several times
  /// in the mean, in ns of the steady clock. The first begins when it was noted.
  Status give(const std::function<void(int32_t dispatch, int64_t begin, int64_t end)> &take) {
    int64_t first =
        std::chrono::duration_cast<std::chrono::nanoseconds>(start.time_since_epoch()).count();
    for (size_t i = 0; i + 1 < noted.size(); ++i) {
      if (!noted[i].begins || noted[i + 1].begins)
        continue;
      TW_ASSIGN(int64_t begin, device.elapsed(events[0], events[i]));
      TW_ASSIGN(int64_t end, device.elapsed(events[0], events[i + 1]));
      end = begin + (end - begin) / noted[i].count;
      take(noted[i].dispatch, first + begin, first + end);
    }
    noted.clear();
    return {};
  }

private:
  struct Note {
    int32_t dispatch;
    bool begins;
    int64_t count = 1;
  };
  Device &device;
  std::vector<Note> noted;
  std::vector<Event> events;
  std::chrono::steady_clock::time_point start;
};

} // namespace tw::rt
