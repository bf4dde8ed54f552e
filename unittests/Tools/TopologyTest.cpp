// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What doctor says of CPUs, from files as Linux has them.
#include "tools/tilewright/Topology.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tw::cli {
namespace {
namespace fs = std::filesystem;

class Devices {
public:
  ~Devices() { fs::remove_all(root); }
  Devices &file(const std::string &path, const std::string &text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << '\n';
    return *this;
  }
  Devices &cpu(int number, const std::string &siblings) {
    return file("system/cpu/cpu" + std::to_string(number) + "/topology/thread_siblings_list",
                siblings);
  }
  Topology read() const { return topology(root); }

private:
  static inline int count = 0;
  fs::path root = fs::temp_directory_path() /
                  ("topology_test_" + std::to_string(getpid()) + "_" + std::to_string(++count));
};

TEST(Topology, CoresOfTwoThreadsOnTwoNodes) {
  Devices devices;
  devices.cpu(0, "0,2").cpu(1, "1,3").cpu(2, "0,2").cpu(3, "1,3");
  devices.file("system/cpu/cpufreq/policy0", "x"); // is no CPU
  devices.file("system/node/node0/cpulist", "0,2").file("system/node/node1/cpulist", "1,3");
  Topology found = devices.read();
  EXPECT_EQ(found.cores, 2);
  EXPECT_EQ(found.mostThreads, 2);
  EXPECT_EQ(textOf(found), "2 cores of 2 threads, 2 NUMA nodes: 0,2; 1,3");
}

TEST(Topology, SlowerCores) {
  Devices intel;
  intel.cpu(0, "0").cpu(1, "1").cpu(2, "2").file("cpu_atom/cpus", "1-2");
  EXPECT_EQ(textOf(intel.read()), "3 cores, of which 1-2 are slower, 1 NUMA node");
  Devices arm;
  arm.cpu(0, "0").cpu(1, "1").cpu(10, "10");
  for (const auto *each : {"cpu0", "cpu10"})
    arm.file(std::string("system/cpu/") + each + "/cpu_capacity", "512");
  arm.file("system/cpu/cpu1/cpu_capacity", "1024");
  EXPECT_EQ(arm.read().efficiencyCores, "0,10");
}

TEST(Topology, WhereTheSystemSaysNothing) { EXPECT_EQ(textOf(topology("/nowhere")), "unknown"); }

} // namespace
} // namespace tw::cli
