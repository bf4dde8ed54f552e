// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An argument's memory while a kernel runs, and who has touched which element.
#pragma once
#include "Interpreter/Findings.h"
#include "Interpreter/Number.h"

namespace tw::interpreter {

/// Ways to write an element; bits, so that a set of them is a number.
enum WriteKind : uint8_t { Plain = 1, AddAtomic = 2, MinAtomic = 4, MaxAtomic = 8, AnyAtomic = 16 };

/// The program that is running, and where it stands.
struct Actor {
  uint32_t number; // of the program in the grid, row-major
  llvm::ArrayRef<int64_t> grid;
  mlir::Location place;
  Findings &findings;
};

/// The coordinates of program `number`.
std::vector<int64_t> programAt(uint32_t number, llvm::ArrayRef<int64_t> grid);

class Buffer {
public:
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides; // in elements
  std::vector<Cell> cells;
  bool isUndefined = false; // an `out` without init
  bool isSummed = false;    // floats are added atomically: cells hold sums that are not rounded

  int64_t count() const { return int64_t(cells.size()); }
  std::vector<int64_t> coordinates(int64_t offset) const;

  /// From now on who reads and writes is kept track of.
  void track() { shadows.resize(cells.size()); }
  bool isTracked() const { return !shadows.empty(); }

  /// An element is about to be read or written; says what is wrong with that. Tracked only.
  void beforeRead(int64_t offset, const Actor &actor);
  void beforeWrite(int64_t offset, WriteKind kind, const Actor &actor);
  /// After all programs: elements that must have been written, by the operation at `place`.
  void findUnwritten(mlir::Location place, Findings &findings) const;

private:
  static constexpr uint32_t nobody = UINT32_MAX;

  /// The first two programs of a kind tell whether there is another than a given one.
  struct Pair {
    uint32_t first = nobody, second = nobody;
    uint32_t otherThan(uint32_t program) const { return first != program ? first : second; }
    bool has(uint32_t program) const { return first == program || second == program; }
    void insert(uint32_t program) {
      if (first == nobody)
        first = program;
      else if (first != program && second == nobody)
        second = program;
    }
  };
  struct Shadow {
    Pair writers, readers;
    uint8_t kinds = 0;
  };

  void report(Code code, int64_t offset, const Actor &actor, llvm::StringRef what, std::string help,
              uint32_t other = nobody);

  std::vector<Shadow> shadows;
};

} // namespace tw::interpreter
