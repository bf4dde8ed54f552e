// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Device/CudaDevice.h"
#include "Support/GpuCode.h"
#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <mutex>

namespace tw::rt {

static cu_address address(const void *memory) { return reinterpret_cast<cu_address>(memory); }
static cu_stream streamOf(Stream stream) { return static_cast<cu_stream>(stream); }
static cu_event eventOf(Event event) { return static_cast<cu_event>(event); }

//===----------------------------------------------------------------------===//
// Opening, and faults
//===----------------------------------------------------------------------===//

Result<std::shared_ptr<Device>> CudaDevice::open(std::string_view name, int ordinal) {
  TW_ASSIGN(const CudaDriver *driver, CudaDriver::get(name));
  if (ordinal >= driver->deviceCount)
    return Diagnostic{
        Code::RUNTIME_8,
        driver->deviceCount == 1
            ? fmt::format("there is no device \"{}\": this machine has one, cuda:0", name)
            : fmt::format("there is no device \"{}\": this machine has {}, cuda:0 to "
                          "cuda:{}",
                          name, driver->deviceCount, driver->deviceCount - 1)};
  static std::mutex mutex;
  static std::vector<std::weak_ptr<CudaDevice>> opened;
  std::lock_guard lock(mutex);
  opened.resize(size_t(driver->deviceCount));
  if (std::shared_ptr<CudaDevice> known = opened[size_t(ordinal)].lock())
    return std::shared_ptr<Device>(std::move(known));
  TW_ASSIGN(DeviceFacts facts, driver->describe(ordinal));
  cu_device device = 0;
  cu_context context = nullptr;
  cu_result result = driver->deviceGet(&device, ordinal);
  if (result == CU_SUCCESS)
    result = driver->retainContext(&context, device);
  if (result != CU_SUCCESS)
    return Diagnostic{Code::RUNTIME_8, fmt::format("device \"{}\" is not available: {}", name,
                                                   driver->text(result))};
  std::shared_ptr<CudaDevice> fresh(
      new CudaDevice(*driver, std::move(facts), device, context, ordinal));
  opened[size_t(ordinal)] = fresh;
  return std::shared_ptr<Device>(std::move(fresh));
}

CudaDevice::~CudaDevice() { driver.releaseContext(device); }

/// Errors after which a context is lost.
static bool isFault(cu_result error) {
  return error == CU_ERROR_DEINITIALIZED || error == CU_ERROR_ECC_UNCORRECTABLE ||
         error == CU_ERROR_NVLINK_UNCORRECTABLE || error == CU_ERROR_ILLEGAL_ADDRESS ||
         error == CU_ERROR_LAUNCH_TIMEOUT ||
         (error >= CU_ERROR_CONTEXT_IS_DESTROYED && error <= CU_ERROR_LAUNCH_FAILED);
}

Diagnostic CudaDevice::faultText(cu_result error) const {
  return {Code::RUNTIME_22,
          fmt::format("device {} has failed: {}", facts.name, driver.text(error)),
          {},
          {"it met this while it worked on an earlier call or on this one; nothing can be computed "
           "on it any more"},
          "start the process again"};
}

Status CudaDevice::check(cu_result result, const char *doing) {
  if (result == CU_SUCCESS)
    return {};
  if (isFault(result)) {
    fault.store(result, std::memory_order_relaxed);
    return faultText(result);
  }
  return Diagnostic{Code::RUNTIME_22, fmt::format("device {} has failed in {}: {}", facts.name,
                                                  doing, driver.text(result))};
}

Status CudaDevice::enter() {
  if (cu_result known = fault.load(std::memory_order_relaxed))
    return faultText(known);
  return check(driver.pushContext(context), "entering its context");
}

void CudaDevice::leave() {
  cu_context ours = nullptr;
  driver.popContext(&ours);
}

//===----------------------------------------------------------------------===//
// Architecture
//===----------------------------------------------------------------------===//

Status CudaDevice::checkArchitecture(std::string_view wanted) const {
  if (runsOnGpu(wanted, facts.architecture))
    return {};
  auto target = targetForGpu(facts.architecture);
  return Diagnostic{Code::RUNTIME_20,
                    fmt::format("the artifact was compiled for {}, but device {} ({}) is {}",
                                wanted, facts.name, facts.model, facts.architecture),
                    {},
                    {},
                    target ? fmt::format("compile the model again for {}, or for cpu", *target)
                           : fmt::format("there is no target for {}: compile the model for cpu, or "
                                         "run it on another GPU",
                                         facts.architecture)};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Result<void *> CudaDevice::allocate(const char *what, int64_t bytes) {
  EnteredDevice entered(*this);
  TW_TRY(entered.status);
  cu_address memory = 0;
  cu_result result = driver.allocate(&memory, std::max<size_t>(size_t(bytes), TW_ALIGNMENT));
  if (result == CU_SUCCESS)
    return reinterpret_cast<void *>(memory);
  size_t available = 0, total = 0;
  if (result != CU_ERROR_OUT_OF_MEMORY || driver.memoryInfo(&available, &total) != CU_SUCCESS) {
    TW_TRY(check(result, "allocating memory"));
  }
  return Diagnostic{Code::RUNTIME_17,
                    fmt::format("device {} has not enough memory for {}: {} bytes, and {} of "
                                "{} bytes are free",
                                facts.name, what, bytes, available, total)};
}

void CudaDevice::free(void *memory) {
  EnteredDevice entered(*this);
  if (entered.status) // after a fault everything has gone
      [[maybe_unused]]
    Status ignored = check(driver.free(address(memory)), "freeing memory");
}

Status CudaDevice::checkMemory(std::string_view what, std::string_view name, const void *memory) {
  uint32_t type = 0;
  int32_t owner = -1;
  cu_result result = driver.pointerAttribute(&type, CU_POINTER_MEMORY_TYPE, address(memory));
  auto refuse = [&](const std::string &where) {
    return Diagnostic{Code::RUNTIME_21,
                      fmt::format("{} \"{}\" is in memory of {}, but the instance runs on {}", what,
                                  name, where, facts.name),
                      {},
                      {},
                      where == "the host" ? "copy it to the device first, or call tw_instance_run, "
                                            "which takes host memory"
                                          : "copy it to the instance's device first"};
  };
  // Of memory that it does not know, the driver says that the address is no valid value.
  if (result == CU_ERROR_INVALID_VALUE || (result == CU_SUCCESS && type != CU_MEMORY_DEVICE))
    return refuse("the host");
  TW_TRY(check(result, "looking at an address"));
  TW_TRY(check(driver.pointerAttribute(&owner, CU_POINTER_DEVICE_ORDINAL, address(memory)),
               "looking at an address"));
  if (owner != ordinal)
    return refuse(fmt::format("cuda:{}", owner));
  return {};
}

Status CudaDevice::copy(Copy kind, void *to, const void *from, int64_t bytes, Stream stream) {
  if (bytes <= 0)
    return {};
  auto count = static_cast<size_t>(bytes);
  switch (kind) {
  case Copy::ToDevice:
    return check(driver.upload(address(to), from, count, streamOf(stream)), "a copy to it");
  case Copy::ToHost:
    return check(driver.download(to, address(from), count, streamOf(stream)), "a copy from it");
  case Copy::Within:
    break;
  }
  return check(driver.copy(address(to), address(from), count, streamOf(stream)), "a copy");
}

Status CudaDevice::fill(void *to, uint32_t pattern, int bytes, int64_t count, Stream stream) {
  if (count <= 0)
    return {};
  cu_stream s = streamOf(stream);
  auto elements = static_cast<size_t>(count);
  cu_result result =
      bytes == 1   ? driver.fill8(address(to), static_cast<uint8_t>(pattern), elements, s)
      : bytes == 2 ? driver.fill16(address(to), static_cast<uint16_t>(pattern), elements, s)
                   : driver.fill32(address(to), pattern, elements, s);
  return check(result, "filling memory");
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

Result<Stream> CudaDevice::createStream() {
  cu_stream stream = nullptr;
  TW_TRY(check(driver.createStream(&stream, CU_STREAM_NON_BLOCKING), "creating a stream"));
  return Stream(stream);
}

void CudaDevice::destroyStream(Stream stream) { driver.destroyStream(streamOf(stream)); }

Status CudaDevice::checkStream(Stream stream) {
  if (!stream)
    return {}; // the default stream of the current context, which is this device's
  cu_context owner = nullptr;
  cu_result result = driver.streamContext(streamOf(stream), &owner);
  if (result == CU_SUCCESS && owner == context)
    return {};
  if (result == CU_SUCCESS || result == CU_ERROR_INVALID_HANDLE)
    return Diagnostic{Code::RUNTIME_21,
                      fmt::format("the stream is {}, but the instance runs on {}",
                                  result == CU_SUCCESS ? "another device's" : "no stream",
                                  facts.name),
                      {},
                      {},
                      "give a stream of that device's primary context, or NULL"};
  return check(result, "looking at a stream");
}

Status CudaDevice::wait(Stream stream) {
  return check(driver.waitForStream(streamOf(stream)), "waiting for a stream");
}

Result<bool> CudaDevice::isCaptured(Stream stream) {
  int32_t status = CU_CAPTURE_NONE;
  TW_TRY(check(driver.streamIsCaptured(streamOf(stream), &status), "looking at a stream"));
  return status != CU_CAPTURE_NONE;
}

Result<Event> CudaDevice::createEvent(bool timed) {
  cu_event event = nullptr;
  uint32_t flags = timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING;
  TW_TRY(check(driver.createEvent(&event, flags), "creating an event"));
  return Event(event);
}

void CudaDevice::destroyEvent(Event event) { driver.destroyEvent(eventOf(event)); }

Status CudaDevice::record(Event event, Stream stream) {
  return check(driver.recordEvent(eventOf(event), streamOf(stream)), "recording an event");
}

Status CudaDevice::waitFor(Stream stream, Event event) {
  return check(driver.streamWaits(streamOf(stream), eventOf(event), 0), "waiting for an event");
}

Result<bool> CudaDevice::hasHappened(Event event) {
  cu_result result = driver.queryEvent(eventOf(event));
  if (result == CU_ERROR_NOT_READY)
    return false;
  TW_TRY(check(result, "looking at an event"));
  return true;
}

Result<int64_t> CudaDevice::elapsed(Event from, Event to) {
  float milliseconds = 0;
  TW_TRY(check(driver.elapsedTime(&milliseconds, eventOf(from), eventOf(to)), "timing"));
  return static_cast<int64_t>(double(milliseconds) * 1e6);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {

/// The CUDA release whose ptxas made a cubin, as a driver's version (13000), by the note that ptxas
/// leaves in it; 0 where there is none, as in PTX.
int releaseOf(std::span<const uint8_t> image) {
  constexpr std::string_view note = "Cuda compilation tools, release ";
  std::string_view text(reinterpret_cast<const char *>(image.data()), image.size());
  size_t found = text.find(note);
  if (found == text.npos)
    return 0;
  int major = 0, minor = 0;
  const char *begin = text.data() + found + note.size(), *end = text.data() + text.size();
  auto [dot, error] = std::from_chars(begin, end, major);
  if (error != std::errc() || dot == end || *dot != '.' || major < 0 || major > 1000 ||
      std::from_chars(dot + 1, end, minor).ec != std::errc() || minor < 0 || minor > 99)
    return 0;
  return major * 1000 + minor * 10;
}

/// Modules of a program, unloaded with it.
class CudaCode final : public DeviceCode {
public:
  CudaCode(const CudaDriver &driver, Device &device) : driver(driver), device(device) {}
  ~CudaCode() override {
    EnteredDevice entered(device);
    if (entered.status)
      for (cu_module module : modules)
        driver.unloadModule(module);
  }
  const CudaDriver &driver;
  Device &device;
  std::vector<cu_module> modules;
};

} // namespace

Result<std::unique_ptr<DeviceCode>>
CudaDevice::load(std::span<const std::span<const uint8_t>> images,
                 std::span<const KernelPlace> kernels) {
  auto refuse = [&](const std::string &what,
                    cu_result result) -> Result<std::unique_ptr<DeviceCode>> {
    if (isFault(result))
      TW_TRY(check(result, "loading code"));
    return Diagnostic{Code::RUNTIME_7, fmt::format("device {} does not take {}: {}", facts.name,
                                                   what, driver.text(result))};
  };
  auto refuseNewer = [&](int release, cu_result result) -> Result<std::unique_ptr<DeviceCode>> {
    std::string own = cudaVersionText(driver.version);
    TW_TRY(isFault(result) ? check(result, "loading code") : Status());
    return Diagnostic{
        Code::RUNTIME_8,
        fmt::format("the artifact's device code was made by ptxas of CUDA {}, and "
                    "NVIDIA's driver, for CUDA {}, does not take it: {}",
                    cudaVersionText(release), own, driver.text(result)),
        {},
        {},
        fmt::format("update the driver of the GPU; or compile the model with ptxas of "
                    "CUDA {} or older, or with TILEWRIGHT_PTXAS empty to have PTX, "
                    "which the driver compiles",
                    own)};
  };
  auto code = std::make_unique<CudaCode>(driver, *this);
  for (std::span<const uint8_t> image : images) {
    cu_module module = nullptr;
    cu_result result = driver.loadModule(&module, image.data());
    if (int release = releaseOf(image); result != CU_SUCCESS && release > driver.version)
      return refuseNewer(release, result);
    if (result != CU_SUCCESS)
      return refuse("the artifact's device code", result);
    code->modules.push_back(module);
  }
  for (const KernelPlace &place : kernels) {
    cu_function function = nullptr;
    cu_result result =
        driver.getFunction(&function, code->modules[place.image], place.name.c_str());
    if (result == CU_SUCCESS && place.sharedBytes > 0)
      result = driver.setFunction(function, CU_FUNCTION_MOST_DYNAMIC_SHARED,
                                  static_cast<int32_t>(place.sharedBytes));
    if (result != CU_SUCCESS)
      return refuse(
          fmt::format("kernel {} with {} bytes of shared memory", place.name, place.sharedBytes),
          result);
    code->kernels.push_back(function);
  }
  return std::unique_ptr<DeviceCode>(std::move(code));
}

Status CudaDevice::prepare(const tw_launch &launch, LaunchArguments &arguments) {
  auto refuse = [](uint32_t count, const char *what, uint32_t most) {
    return Diagnostic{Code::RUNTIME_19, fmt::format("a kernel is launched with {} {}, more than {}",
                                                    count, what, most)};
  };
  if (launch.argument_count > LaunchArguments::most)
    return refuse(launch.argument_count, "arguments", LaunchArguments::most);
  uint32_t maps = launch.flags & TW_LAUNCH_HAS_MAPS ? launch.map_count : 0;
  if (maps > LaunchArguments::mostMaps)
    return refuse(maps, "tensor maps", LaunchArguments::mostMaps);
  for (uint32_t i = 0; i < launch.argument_count; ++i)
    arguments.pointers[i] = const_cast<uint64_t *>(launch.arguments + i);
  for (uint32_t i = 0; i < maps; ++i) {
    TensorMap &encoded = arguments.encoded[i];
    TW_TRY(check(tensorMaps.encode(driver, launch.maps[i], encoded), "encoding a tensor map"));
    arguments.pointers[launch.argument_count + i] = encoded.bytes.data();
  }
  return {};
}

Status CudaDevice::launch(Kernel kernel, const tw_launch &launch, Stream stream) {
  LaunchArguments arguments;
  TW_TRY(prepare(launch, arguments));
  std::array<cu_launch_attribute, 2> attributes = {};
  cu_launch_config config = {};
  std::copy_n(launch.grid, 3, config.grid);
  std::copy_n(launch.block, 3, config.block);
  config.shared_bytes = launch.shared_bytes;
  config.stream = streamOf(stream);
  config.attributes = attributes.data();
  if (launch.cluster[0]) {
    cu_launch_attribute &cluster = attributes[config.attribute_count++];
    cluster.id = CU_LAUNCH_CLUSTER;
    cluster.value.cluster = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
  }
  if (launch.flags & TW_LAUNCH_OVERLAPS) {
    cu_launch_attribute &overlap = attributes[config.attribute_count++];
    overlap.id = CU_LAUNCH_PROGRAMMATIC_SERIALIZATION;
    overlap.value.programmatic = 1;
  }
  return check(
      driver.launch(&config, static_cast<cu_function>(kernel), arguments.pointers.data(), nullptr),
      "launching a kernel");
}

} // namespace tw::rt
