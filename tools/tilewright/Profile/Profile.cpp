// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Profile.h"
#include "../Failure.h"
#include "../Machine.h"
#include "runtime/Instance/CalledCode.h"
#include <algorithm>

namespace tw::cli {

std::optional<double> ProfileRow::bytes() const {
  return weightBytes && otherBytes ? std::optional(*weightBytes + *otherBytes) : std::nullopt;
}

std::optional<double> ProfileRow::rooflineShare() const {
  return boundUs && totalUs > 0 ? std::optional(*boundUs / totalUs) : std::nullopt;
}

std::string_view ProfileRow::bound() const {
  if (!boundUs)
    return "";
  return 2 * arithmeticUs > *boundUs ? "flops" : "bytes";
}

double Profile::totalUs() const {
  double total = 0;
  for (const ProfileRow &row : dispatches)
    total += row.totalUs;
  return total;
}

/// The module in "net.py:12 in Net.forward, module encoder.layer.0".
static std::string moduleOf(const std::string &source) {
  constexpr std::string_view mark = ", module ";
  size_t at = source.rfind(mark);
  return at == source.npos ? "" : source.substr(at + mark.size());
}

static void addWork(ProfileRow &row, const tw_dispatch_work &work) {
  auto known = [&](int64_t number) {
    return number >= 0 ? std::optional(double(number) * double(row.calls)) : std::nullopt;
  };
  row.flops = known(work.flops);
  row.weightBytes = known(work.weight_bytes);
  if (work.read_bytes >= 0 && work.written_bytes >= 0)
    row.otherBytes = known(work.read_bytes + work.written_bytes);
}

/// The slower of arithmetic and memory, each as fast as it can be.
static void addBound(ProfileRow &row, const Roofline &limits) {
  double peak = limits.arithmetic.flopsOf(row.arithmetic);
  if (!row.bytes() || limits.weightBandwidth <= 0 || limits.temporaryBandwidth <= 0)
    return;
  double memory = 1e6 * (*row.weightBytes / limits.weightBandwidth +
                         *row.otherBytes / limits.temporaryBandwidth);
  double arithmetic = row.flops && peak > 0 ? 1e6 * *row.flops / peak : 0;
  if (!row.flops || (*row.flops > 0 && peak <= 0))
    return;
  row.arithmeticUs = arithmetic > memory ? arithmetic : 0;
  row.boundUs = std::max(arithmetic, memory);
}

static ProfileRow rowOf(const tw_dispatch_info &info, const tw_dispatch_times &times) {
  ProfileRow row;
  row.name = info.name, row.kernel = info.kernel, row.ops = info.ops;
  row.source = info.source, row.module = moduleOf(info.source);
  row.configuration = info.configuration, row.arithmetic = info.arithmetic;
  row.calls = times.calls;
  row.totalUs = double(times.total_ns) / 1e3;
  row.minUs = double(times.min_ns) / 1e3;
  row.maxUs = double(times.max_ns) / 1e3;
  return row;
}

/// Bytes of the temporaries that hold something while each dispatch runs.
static std::vector<int64_t> liveBytesOf(const rt::Metadata &metadata,
                                        const std::vector<int64_t> &bytes) {
  std::vector<int64_t> live;
  for (const rt::DispatchInfo &dispatch : metadata.dispatches) {
    if (dispatch.step < 0)
      return {};
    int64_t sum = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      if (metadata.buffers[i].begin <= dispatch.step && dispatch.step <= metadata.buffers[i].end)
        sum += bytes[i];
    live.push_back(sum);
  }
  return live;
}

Result<Profile> makeProfile(const tw_program *program, tw_instance *instance,
                            std::span<const tw_tensor> inputs, const Recording &recording,
                            const Statistics &call, const Roofline &limits) {
  const tw_program_info *info = tw_program_describe(program);
  std::vector<tw_dispatch_work> work(static_cast<size_t>(info->dispatch_count));
  TW_TRY(fromRuntime(tw_program_work(program, inputs.data(), static_cast<int32_t>(inputs.size()),
                                     work.data(), info->dispatch_count)));
  TW_ASSIGN(std::vector<rt::CalledCode> code,
            rt::codeOfCall(rt::metadataOf(program), inputs, tw_instance_threads(instance)));
  Profile profile;
  profile.model = info->model;
  profile.target = info->target;
  profile.device = tw_program_device(program);
  profile.cpu = cpuModel();
  profile.call = call;
  profile.limits = limits;
  profile.threads = tw_instance_threads(instance);
  profile.weightBytes = info->weight_bytes;
  profile.temporaryBytes = tw_instance_memory(instance).arena_bytes;
  for (int32_t i = 0; i < info->dispatch_count; ++i) {
    ProfileRow row = rowOf(*tw_program_dispatch(program, i), recording.times[size_t(i)]);
    row.configuredAs = rt::metadataOf(program).dispatches[size_t(i)].configuredAs();
    row.medianUs = recording.medianUs(size_t(i));
    if (const rt::VariantInfo *variant = code[size_t(i)].variant)
      row.configuration = variant->configuration;
    addWork(row, work[size_t(i)]);
    addBound(row, limits);
    profile.dispatches.push_back(std::move(row));
  }
  profile.liveBytes = liveBytesOf(rt::metadataOf(program), rt::temporaryBytes(instance));
  return profile;
}

//===--- Groups --------------------------------------------------------------===//

/// Adds what another row took; what only one of them knows is not known of both.
static void merge(ProfileRow &row, const ProfileRow &other) {
  row.totalUs += other.totalUs;
  row.calls += other.calls;
  row.minUs = std::min(row.minUs, other.minUs);
  row.maxUs = std::max(row.maxUs, other.maxUs);
  auto add = [](std::optional<double> &sum, const std::optional<double> &number) {
    sum = sum && number ? std::optional(*sum + *number) : std::nullopt;
  };
  add(row.flops, other.flops);
  add(row.weightBytes, other.weightBytes);
  add(row.otherBytes, other.otherBytes);
  add(row.boundUs, other.boundUs);
  row.arithmeticUs += other.arithmeticUs;
  for (auto field : {&ProfileRow::source, &ProfileRow::configuration, &ProfileRow::arithmetic})
    if (row.*field != other.*field)
      (row.*field).clear();
}

/// "", "encoder", "encoder.layer" of "encoder.layer".
static std::vector<std::string> enclosing(const std::string &module) {
  std::vector<std::string> all{""};
  for (size_t at = 0; at < module.size();) {
    at = std::min(module.find('.', at + 1), module.size());
    all.push_back(module.substr(0, at));
  }
  return all;
}

std::vector<ProfileRow> groupRows(const Profile &profile, Grouping grouping) {
  std::vector<ProfileRow> rows;
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < profile.dispatches.size(); ++i) {
    const ProfileRow &dispatch = profile.dispatches[i];
    if (dispatch.calls == 0)
      continue;
    std::vector<std::string> groups{grouping == Grouping::Kernel ? dispatch.configuredAs
                                                                 : std::to_string(i)};
    if (grouping == Grouping::Module)
      groups = enclosing(dispatch.module);
    for (const std::string &group : groups) {
      auto [found, isNew] = known.try_emplace(group, rows.size());
      if (!isNew) {
        merge(rows[found->second], dispatch);
        continue;
      }
      rows.push_back(dispatch);
      if (grouping == Grouping::Kernel)
        rows.back().name = group;
      if (grouping == Grouping::Module) {
        rows.back().name = rows.back().module = group.empty() ? "(all)" : group;
        rows.back().configuration.clear(), rows.back().ops.clear(), rows.back().source.clear();
      }
    }
  }
  if (grouping == Grouping::Module)
    std::ranges::sort(
        rows, {}, [](const ProfileRow &row) { return row.name == "(all)" ? "" : row.name + "."; });
  else
    std::ranges::sort(rows, std::greater(), &ProfileRow::totalUs);
  return rows;
}

} // namespace tw::cli
