// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the CPUs of this machine belong together, as Linux tells of them.
#pragma once
#include <string>
#include <vector>

namespace tw::cli {

/// CPUs are lists as Linux writes them: "0-3,8".
struct Topology {
  int cores = 0;                      // physical ones; 0: the system does not say
  int mostThreads = 1;                // of a core
  std::vector<std::string> numaNodes; // the CPUs of each
  std::string efficiencyCores;        // CPUs that are slower than the others; empty: there are none
};

/// `devices`: where the system says it.
Topology topology(const std::string &devices = "/sys/devices");

/// "2 cores of 2 threads, 1 NUMA node".
std::string textOf(const Topology &topology);

} // namespace tw::cli
