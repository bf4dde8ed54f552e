// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device code of the tests' driver, its launches and tensor maps.
//
// An image is an ELF library that exports, for each kernel, `void NAME(const uint64_t *arguments,
// uint32_t block)`, called for each block of the grid, and `const uint32_t NAME_arguments`. Where
// it also exports `NAME_simulated`, the kernel is `void NAME(const uint64_t *arguments, Thread *)`,
// which the simulator runs (unittests/Simulator/Block.h).
#include "FakeDriver.h"
#include "unittests/Simulator/Block.h"
#include "unittests/Simulator/TensorMap.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace fake;

namespace {

using Kernel = void (*)(const uint64_t *arguments, uint32_t block);

struct Module {
  void *library = nullptr;
  int file = -1; // open as long as the library: dlopen knows it by this number
  ~Module() {
    if (library)
      dlclose(library);
    if (file >= 0)
      close(file);
  }
};

struct Function {
  Kernel kernel = nullptr;
  uint32_t arguments = 0, maps = 0;
  tw::simulator::Kernel simulated = nullptr; // in its place
  int64_t dynamicShared = 48 << 10;          // what a launch may take
};

std::map<void *, std::unique_ptr<Module>> modules;
std::map<void *, Function> functions;

/// How many bytes an ELF library has: its section headers are last.
size_t elfBytes(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return 0;
  return header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
}

} // namespace

TW_FAKE cu_result cuModuleLoadData(cu_module *module, const void *image) {
  TW_LOCKED;
  size_t bytes = elfBytes(image);
  auto loaded = std::make_unique<Module>();
  loaded->file = bytes ? memfd_create("image", 0) : -1;
  if (loaded->file < 0 || write(loaded->file, image, bytes) != ssize_t(bytes))
    return CU_ERROR_INVALID_IMAGE;
  std::string path = "/proc/self/fd/" + std::to_string(loaded->file);
  loaded->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded->library)
    return CU_ERROR_INVALID_IMAGE;
  *module = newHandle<cu_module>();
  modules[*module] = std::move(loaded);
  return CU_SUCCESS;
}

TW_FAKE cu_result cuModuleUnload(cu_module module) {
  TW_LOCKED;
  return modules.erase(module) ? CU_SUCCESS : CU_ERROR_INVALID_HANDLE;
}

TW_FAKE cu_result cuModuleGetFunction(cu_function *function, cu_module module, const char *name) {
  TW_LOCKED;
  auto found = modules.find(module);
  if (found == modules.end())
    return CU_ERROR_INVALID_HANDLE;
  void *library = found->second->library;
  auto kernel = reinterpret_cast<Kernel>(dlsym(library, name));
  auto *count =
      static_cast<const uint32_t *>(dlsym(library, (std::string(name) + "_arguments").c_str()));
  if (!kernel || !count)
    return CU_ERROR_NOT_FOUND;
  *function = newHandle<cu_function>();
  functions[*function] = {kernel, *count};
  if (auto *maps =
          static_cast<const uint32_t *>(dlsym(library, (std::string(name) + "_maps").c_str())))
    functions[*function].maps = *maps;
  if (dlsym(library, (std::string(name) + "_simulated").c_str()))
    functions[*function].simulated = reinterpret_cast<tw::simulator::Kernel>(dlsym(library, name));
  return CU_SUCCESS;
}

TW_FAKE cu_result cuFuncSetAttribute(cu_function function, int32_t attribute, int32_t value) {
  TW_LOCKED;
  constexpr int32_t most = 227 << 10;
  auto found = functions.find(function);
  if (found == functions.end() || attribute != CU_FUNCTION_MOST_DYNAMIC_SHARED || value > most)
    return CU_ERROR_INVALID_VALUE;
  return found->second.dynamicShared = value, CU_SUCCESS;
}

/// A tensor map is the simulator's, in the same 128 bytes.
TW_FAKE cu_result cuTensorMapEncodeTiled(void *map, int32_t type, uint32_t rank, void *address,
                                         const uint64_t *sizes, const uint64_t *strides,
                                         const uint32_t *box, const uint32_t *steps, int32_t,
                                         int32_t swizzle, int32_t, int32_t) {
  // By TW_MAP_*: the driver's number, and an element's bytes.
  constexpr std::pair<int32_t, uint64_t> types[] = {
      {CU_MAP_F16, 2}, {CU_MAP_BF16, 2}, {CU_MAP_TF32, 4}, {CU_MAP_F32, 4}, {CU_MAP_UINT8, 1}};
  const auto *known = std::ranges::find(types, type, &std::pair<int32_t, uint64_t>::first);
  if (reinterpret_cast<uintptr_t>(map) % 64 != 0 || rank < 1 || rank > 5 ||
      known == std::end(types) || swizzle < 0 || swizzle > 3)
    return CU_ERROR_INVALID_VALUE;
  tw_tensor_map given = {};
  given.address = reinterpret_cast<uint64_t>(address);
  given.rank = rank;
  given.element = uint64_t(known - types);
  given.swizzle = swizzle == CU_MAP_SWIZZLE_NONE ? 0 : 16u << swizzle;
  for (uint32_t d = 0; d < rank; ++d) {
    given.sizes[d] = sizes[d];
    given.strides[d] = d == 0 ? known->second : strides[d - 1];
    given.box[d] = box[d];
    if (steps[d] != 1)
      return CU_ERROR_INVALID_VALUE;
  }
  tw::simulator::TensorMap encoded;
  if (tw::simulator::encode(given, encoded))
    return CU_ERROR_INVALID_VALUE;
  std::memcpy(map, &encoded, sizeof(encoded));
  return CU_SUCCESS;
}

cu_result fake::launchStep(cu_function function, const uint32_t *grid, const uint32_t *block,
                           uint32_t sharedBytes, void **arguments, Step &step) {
  auto found = functions.find(function);
  if (found == functions.end())
    return CU_ERROR_INVALID_HANDLE;
  uint64_t blocks = uint64_t(grid[0]) * grid[1] * grid[2];
  uint64_t threads = uint64_t(block[0]) * block[1] * block[2];
  if (blocks == 0 || threads == 0 || threads > 1024 || sharedBytes > found->second.dynamicShared)
    return CU_ERROR_INVALID_VALUE;
  std::vector<uint64_t> values;
  for (uint32_t i = 0; i < found->second.arguments; ++i)
    values.push_back(*static_cast<const uint64_t *>(arguments[i]));
  std::vector<tw::simulator::TensorMap> maps;
  for (uint32_t i = 0; i < found->second.maps; ++i)
    std::memcpy(&maps.emplace_back(), arguments[found->second.arguments + i], sizeof(maps[0]));
  tw::simulator::Launch launch{uint32_t(blocks), uint32_t(threads), sharedBytes};
  step = [found = found->second, launch, blocks, values, maps]() mutable -> cu_result {
    size_t own = values.size();
    for (const tw::simulator::TensorMap &map : maps)
      values.push_back(reinterpret_cast<uint64_t>(&map));
    cu_result result = setting("FAKE_CUDA_FAULT", 0) ? CU_ERROR_ILLEGAL_ADDRESS : CU_SUCCESS;
    const char *fault = nullptr;
    if (!result && found.simulated)
      fault = tw::simulator::runBlocks(found.simulated, values.data(), launch, 0, uint32_t(blocks));
    if (fault) {
      std::fprintf(stderr, "simulator: %s\n", fault);
      result = CU_ERROR_ILLEGAL_ADDRESS;
    }
    for (uint64_t number = 0; !result && !found.simulated && number < blocks; ++number)
      found.kernel(values.data(), uint32_t(number));
    values.resize(own); // in a graph it runs again
    return result;
  };
  return CU_SUCCESS;
}

TW_FAKE cu_result cuLaunchKernelEx(const cu_launch_config *config, cu_function function,
                                   void **arguments, void **) {
  TW_LOCKED;
  Step step;
  if (cu_result error =
          launchStep(function, config->grid, config->block, config->shared_bytes, arguments, step))
    return error;
  ++counts["launches"];
  return addWork(config->stream, std::move(step));
}
