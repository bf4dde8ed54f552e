// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Device/CudaDriver.h"
#include <dlfcn.h>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <utility>

namespace tw::rt {

std::string cudaVersionText(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

static Diagnostic unavailable(std::string_view device, std::string why, std::string help) {
  return {Code::RUNTIME_8,
          fmt::format("device \"{}\" is not available: {}", device, why),
          {},
          {},
          std::move(help)};
}

std::string CudaDriver::text(cu_result error) const {
  const char *name = nullptr, *meaning = nullptr;
  if (errorName(error, &name) != CU_SUCCESS || !name)
    return fmt::format("error {} of the driver", error);
  errorText(error, &meaning);
  return fmt::format("{} ({}): {}", name, error, meaning ? meaning : "no explanation");
}

std::string CudaDriver::whyNoGraphs() const {
  return missingForGraphs ? fmt::format("NVIDIA's driver, for CUDA {}, has no {}",
                                        cudaVersionText(version), missingForGraphs)
                          : "";
}

/// Loads the library and finds its functions, the version's first: an older one may lack others.
Status CudaDriver::start(std::string_view device) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return unavailable(device, fmt::format("NVIDIA's driver cannot be loaded: {}", dlerror()),
                       "install the driver of the GPU, or use an artifact for cpu");
  const char *missing = nullptr;
#define CU_FUNCTION(member, symbol, arguments)                                                     \
  member = reinterpret_cast<cu_result(*) arguments>(dlsym(handle, #symbol));                       \
  if (!member)                                                                                     \
    missing = #symbol;
  CU_FUNCTIONS(CU_FUNCTION)
  const char *missingFunction = std::exchange(missing, nullptr);
  CU_GRAPH_FUNCTIONS(CU_FUNCTION)
#undef CU_FUNCTION
  missingForGraphs = missing;
  const char *update = "update the driver of the GPU, or use an artifact for cpu";
  if (!driverVersion || driverVersion(&version) != CU_SUCCESS || version < leastVersion)
    return unavailable(device,
                       fmt::format("NVIDIA's driver is for CUDA {}, but {} or newer is needed",
                                   cudaVersionText(version), cudaVersionText(leastVersion)),
                       update);
  if (missingFunction)
    return unavailable(device,
                       fmt::format("NVIDIA's driver, for CUDA {}, has no {}",
                                   cudaVersionText(version), missingFunction),
                       update);
  cu_result started = init(0);
  if (started == CU_SUCCESS)
    started = countDevices(&deviceCount);
  if (started == CU_ERROR_NO_DEVICE || (started == CU_SUCCESS && deviceCount == 0))
    return unavailable(device, "NVIDIA's driver finds no GPU",
                       "CUDA_VISIBLE_DEVICES may hide it; `tilewright doctor` and `nvidia-smi` say "
                       "what there is");
  if (started != CU_SUCCESS)
    return unavailable(device, fmt::format("NVIDIA's driver does not start: {}", text(started)),
                       "`nvidia-smi` may say more");
  return {};
}

Result<const CudaDriver *> CudaDriver::get(std::string_view device) {
  static std::mutex mutex;
  static std::unique_ptr<CudaDriver> driver; // once started, forever
  std::lock_guard lock(mutex);
  if (!driver) {
    auto fresh = std::make_unique<CudaDriver>();
    TW_TRY(fresh->start(device));
    driver = std::move(fresh);
  }
  return driver.get();
}

Result<DeviceFacts> CudaDriver::describe(int ordinal) const {
  DeviceFacts facts;
  facts.name = fmt::format("cuda:{}", ordinal);
  char model[256] = {};
  cu_device device = 0;
  int major = 0, minor = 0;
  size_t bytes = 0;
  cu_result result = deviceGet(&device, ordinal);
  if (result == CU_SUCCESS)
    result = deviceName(model, sizeof model - 1, device);
  if (result == CU_SUCCESS)
    result = deviceAttribute(&major, CU_DEVICE_ATTRIBUTE_MAJOR, device);
  if (result == CU_SUCCESS)
    result = deviceAttribute(&minor, CU_DEVICE_ATTRIBUTE_MINOR, device);
  if (result == CU_SUCCESS)
    result = deviceMemory(&bytes, device);
  if (result != CU_SUCCESS)
    return unavailable(facts.name, text(result), "`nvidia-smi` may say more");
  facts.model = model;
  facts.architecture = fmt::format("sm_{}{}", major, minor);
  facts.bytes = static_cast<int64_t>(bytes);
  return facts;
}

} // namespace tw::rt
