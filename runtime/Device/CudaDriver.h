// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's driver library, found by the dynamic linker when a GPU is first asked for and then kept.
#pragma once
#include "Support/Diagnostic.h"
#include "runtime/Device/CudaApi.h"
#include "runtime/Device/Device.h"
#include <string>
#include <string_view>
#include <vector>

namespace tw::rt {

class CudaDriver {
public:
  static constexpr const char *library = "libcuda.so.1";
  static constexpr int leastVersion = 12000; // 12.0: the first for sm_90a and tensor maps

  /// The driver, started. RUNTIME_8: it is not there, too old, or finds no GPU; `device` is what
  /// was asked for.
  static Result<const CudaDriver *> get(std::string_view device);

  /// "CUDA_ERROR_INVALID_VALUE (1): invalid argument".
  std::string text(cu_result error) const;
  int version = 0; // 12040: 12.4
  /// The first function of CU_GRAPH_FUNCTIONS that it lacks, or none.
  const char *missingForGraphs = nullptr;
  /// Why there are no CUDA graphs; empty: there are.
  std::string whyNoGraphs() const;
  int deviceCount = 0; // of GPUs that this process may see
  /// What is known of GPU number `ordinal` without using it.
  Result<DeviceFacts> describe(int ordinal) const;

#define CU_FUNCTION(member, symbol, arguments) cu_result(*member) arguments = nullptr;
  CU_FUNCTIONS(CU_FUNCTION)
  CU_GRAPH_FUNCTIONS(CU_FUNCTION)
#undef CU_FUNCTION

private:
  Status start(std::string_view device);
};

/// "12.4".
std::string cudaVersionText(int version);

} // namespace tw::rt
