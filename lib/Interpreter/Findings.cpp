// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Interpreter/Findings.h"
#include "IR/ModelLocation.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tw::interpreter {

std::string coordinatesText(llvm::ArrayRef<int64_t> coordinates) {
  return fmt::format("[{}]", fmt::join(coordinates.begin(), coordinates.end(), ", "));
}

bool Findings::wants(Code code, mlir::Location place, llvm::StringRef buffer) {
  last = kinds.try_emplace({code, place.getAsOpaquePointer(), buffer.str()}).first;
  Kind &kind = last->second;
  bool isWanted = kind.listed < mostOfAKind && (kind.listed > 0 || list.size() < mostAtAll);
  if (!isWanted)
    ++kind.others;
  return isWanted;
}

void Findings::add(Finding finding) {
  auto place = mlir::Location::getFromOpaquePointer(std::get<1>(last->first));
  finding.problem.location = describePlace(place);
  if (!finding.program.empty())
    finding.problem.notes.insert(finding.problem.notes.begin(),
                                 "in program " + coordinatesText(finding.program));
  last->second.lastIndex = list.size();
  ++last->second.listed;
  list.push_back(std::move(finding));
}

std::vector<Finding> Findings::take() {
  for (auto &[key, kind] : kinds)
    if (kind.listed > 0 && kind.others > 0) {
      Finding &finding = list[kind.lastIndex];
      finding.others = kind.others;
      finding.problem.notes.push_back(fmt::format("and {} more like it", kind.others));
    }
  return std::move(list);
}

} // namespace tw::interpreter
