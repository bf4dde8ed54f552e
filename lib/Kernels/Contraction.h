// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices, in all their layouts: batched, transposed and broadcast operands, a vector
// for a matrix. A program is one block of the result, a tile over the whole sum; the order of
// programs says which read the same operands one after the other.
#pragma once
#include "Kernels/Access.h"
#include "Kernels/Configuration.h"
#include <string>

namespace tw::kernels {

/// c = a b: dimensions of c that only a has are rows, that only b has are columns, that both have
/// are the batch; those that c has not are summed over. An operand may be read in windows: what
/// moves it along a sum (a tap of a convolution's filter) counts as batch.
struct Contraction {
  std::vector<Extent> dims;
  std::vector<BufferSpec> buffers; // a, b, c
  Access a, b, c;
  kernel::DType sum = kernel::f32; // in which it is summed up: c's dtype
  /// Equal parts of the innermost columns of which elementwise operations read one element each:
  /// the gates of a recurrent cell, x and gate of a gated linear unit.
  int64_t columnParts = 1;
};

/// Takes the dimensions out that nothing runs along.
void dropUnusedDims(Contraction &product);

struct ContractionConfiguration {
  int64_t rows = 1, columns = 16;              // of a program's block
  int64_t rowPrograms = 1, columnPrograms = 1; // that follow each other on one worker
  bool isPacked = false;                       // b comes in panels, see packedOrder
  int64_t panels = 1;                          // of these, in the columns of a block
  // One operand is a vector: rows of the other times it, summed along vectors.
  bool vectorizesReduction = false;
  // Terms of the sum in a trip of a loop, of several sums at most; 0: there is no such loop.
  int64_t kBlock = 0;
  bool splitsK = false; // workers may share the range of that loop
  /// A program has the same columns of so many equal parts of the columns, so that what reads an
  /// element of each part can be computed there. Panels of all parts lie beside each other.
  int64_t columnParts = 1;
  /// So many neighbours along the last sum lie side by side in a panel. None of the fields: the
  /// target says it by its own (ConfigurationChooser::panelGroup).
  int64_t panelGroup = 1;
  bool operator==(const ContractionConfiguration &) const = default;
};

/// Its fields, "contraction", which are without panelGroup.
const ConfigurationSchema &contractionSchema();
Numbers numbersOf(const ContractionConfiguration &configuration);
ContractionConfiguration contractionFrom(const Numbers &fields);

/// Which dimensions are which; outermost first, as c has them (sums as a has them). Blocks have
/// several of the last of each; of rows that is a longer one where the innermost are few.
struct ContractionRoles {
  std::vector<int> batch, rows, columns, sums;
};
/// Why a contraction cannot be written, or empty.
std::string refuse(const Contraction &contraction);
ContractionRoles rolesOf(const Contraction &contraction);

/// What any target asks of a configuration of this contraction, over its fields.
std::vector<Constraint> contractionConstraints(const Contraction &contraction);

/// Why b cannot come in panels with the configuration's panelGroup, or empty.
std::string refusePanelGroup(const Contraction &contraction,
                             const ContractionConfiguration &configuration);

/// How many terms of each sum a trip takes that has `kBlock` at most, where there are several sums:
/// all of the innermost ones, a part of the next that it falls into evenly, one of each around it.
/// 0: all of one whose number is known only at the call.
std::vector<int64_t> sumBlocks(const Contraction &contraction, int64_t kBlock);

/// Whether an operand is read in windows.
bool readsWindows(const Contraction &contraction);

/// Whether both operands are bf16, summed in f32.
bool isBf16Product(const Contraction &contraction);
/// Whether one operand is a vector and the other one's rows, along which is summed, lie in memory
/// as they are: then that is read once, from one end to the other.
bool canUseRowDots(const Contraction &contraction, bool isPacked);
/// Whether b can come packed: it extends along sums and one dimension of columns of known sizes.
bool canPack(const Contraction &contraction);
/// How wide a panel is.
inline int64_t panelOf(const ContractionConfiguration &configuration) {
  return configuration.columns / configuration.panels;
}
/// b in panels: columns / panel (of one part; then the parts, if there are several), then the sums,
/// then `panel` columns side by side; the last panel may have more than there are. With a
/// panelGroup, that many neighbours along the last sum come after each column. Gives, for each axis
/// of b, where it goes (the axis of columns goes to the front and to the end).
std::vector<int> packedOrder(const Contraction &contraction);

/// The kernel; to be called while it is traced.
void writeContraction(const Contraction &contraction,
                      const ContractionConfiguration &configuration);

} // namespace tw::kernels
