// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "InstructionCounts.h"
#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <sstream>
#include <string_view>

namespace tw::target {
namespace {

/// "\tname\toperands # a comment", in the syntax of AT&T or of Arm.
struct Instruction {
  std::string_view name, operands;

  explicit Instruction(std::string_view line) {
    line.remove_prefix(1);
    size_t end = std::min(line.find_first_of("\t "), line.size());
    name = line.substr(0, end);
    operands = line.substr(std::min(end + 1, line.size()));
    operands = operands.substr(0, operands.find(" #"));
    operands = operands.substr(0, operands.find_last_not_of("\t ") + 1);
  }

  bool begins(std::initializer_list<std::string_view> words) const {
    return std::ranges::any_of(words,
                               [&](std::string_view word) { return name.starts_with(word); });
  }
  bool has(std::string_view text) const { return operands.find(text) != operands.npos; }
};

void countX86(const Instruction &one, InstructionCounts &counts) {
  counts.products += one.begins({"vfmadd", "vfnmadd", "vfmsub", "vfnmsub", "vdpbf16", "tdpbf16"});
  if (!one.begins({"v", "tile"}))
    return;
  bool isBroadcast = one.name.find("broadcast") != one.name.npos || one.has("{1to");
  if (!one.has("(")) {
    counts.broadcasts += isBroadcast;
    return;
  }
  if (one.has("(%rsp)")) {
    ++counts.stack;
    return;
  }
  std::string_view target = one.operands.substr(0, one.operands.find(" {%k"));
  bool isStore = target.ends_with(")");
  counts.stores += isStore;
  counts.loads += !isStore;
  counts.broadcasts += isBroadcast;
}

void countAArch64(const Instruction &one, InstructionCounts &counts) {
  counts.products += one.name == "fmla" || one.name == "bfdot";
  counts.broadcasts += one.name == "dup" || one.name == "ld1r";
  bool isVector = !one.operands.empty() &&
                  std::string_view("qvds{").find(one.operands[0]) != std::string_view::npos;
  if (!isVector || !one.begins({"ld", "st"}))
    return;
  int64_t vectors = one.begins({"ldp", "stp"}) ? 2 : 1;
  (one.has("[sp") ? counts.stack : one.begins({"ld"}) ? counts.loads : counts.stores) += vectors;
}

bool isJump(const Instruction &one, bool isAArch64) {
  return isAArch64 ? one.name == "b" || one.begins({"b.", "cb", "tb", "ret"})
                   : one.begins({"j", "ret"});
}

} // namespace

InstructionCounts countInstructions(const std::string &assembly, bool isAArch64, Hottest which) {
  InstructionCounts hottest, counts;
  auto end = [&] {
    bool isMeant = which == Hottest::Block || 4 * counts.products >= counts.all;
    if (isMeant && counts.products > hottest.products)
      hottest = counts;
    counts = {};
  };
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("\t") && line.find(':') != line.npos) {
      end(); // a label
    } else if (line.starts_with("\t") && !line.starts_with("\t.")) {
      Instruction one(line);
      ++counts.all;
      isAArch64 ? countAArch64(one, counts) : countX86(one, counts);
      if (isJump(one, isAArch64))
        end();
    }
  }
  end();
  return hottest;
}

std::string faultsOf(const InstructionCounts &found, const InstructionCounts &allowed) {
  if (found.products == 0)
    return "nothing multiplies vectors; ";
  std::string faults;
  auto check = [&](int64_t InstructionCounts::*field, const char *what) {
    if (found.*field * allowed.products > allowed.*field * found.products)
      faults += fmt::format("{} {} for {} products, where {} for {} are allowed; ", found.*field,
                            what, found.products, allowed.*field, allowed.products);
  };
  check(&InstructionCounts::loads, "loads");
  check(&InstructionCounts::broadcasts, "broadcasts");
  check(&InstructionCounts::stores, "stores");
  check(&InstructionCounts::stack, "accesses to the stack");
  return faults;
}

} // namespace tw::target
