// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Core/Registry.h"
#include "TorchToGraph/Families.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tw::lower {

ArrayRef<Family> families() {
  static const Family all[] = {
#define TW_FAMILY(function) function(),
#include "TorchToGraph/Families.def"
  };
  return all;
}

LoweringFn findLowering(StringRef op) {
  static const auto *table = [] {
    auto *rows = new llvm::StringMap<LoweringFn>();
    for (const Family &family : families())
      for (const LoweringRow &row : family.rows)
        rows->try_emplace(row.op, row.lower);
    return rows;
  }();
  return table->lookup(op);
}

static constexpr StringRef random = "it draws random numbers, which compiled programs do not";
static constexpr StringRef dataDependent = "its result's sizes or value depend on the data";
static constexpr StringRef dynamicProgram =
    "connectionist temporal classification is not supported";
static constexpr StringRef encoder =
    "PyTorch's fast path for transformers in eval mode is not supported; turn it off with "
    "torch.backends.mha.set_fastpath_enabled(False)";
static constexpr StringRef matrices =
    "decompositions, inverses and solutions of matrices are not supported";
static constexpr StringRef lanczos = "Lanczos resampling is not supported";
static constexpr StringRef lists =
    "those on lists of tensors become an operator for each element when a .pt2 is imported, unless "
    "they write to the tensors or elements have no such operator";
static constexpr StringRef layout =
    "it asks for the strides of PyTorch's memory, which values here do not have";
static constexpr StringRef observed =
    "fake quantization with scales that are learnt or observed is not supported";
static constexpr StringRef fourier = "Fourier transforms are not supported";

static constexpr std::pair<StringRef, StringRef> refusalRows[] = {
    {"torch.aten.rand*", random},
    {"torch.aten.normal*", random},
    {"torch.aten.bernoulli*", random},
    {"torch.aten.multinomial*", random},
    {"torch.aten.uniform*", random},
    {"torch.aten.exponential*", random},
    {"torch.aten.rrelu*", random},
    {"torch.aten.poisson*", random},
    {"torch.aten.native_dropout*", random},
    {"torch.aten._native_multi_head_attention*", encoder},
    {"torch.aten._transformer_encoder_layer_fwd*", encoder},
    {"torch.aten.ctc_loss*", dynamicProgram},
    {"torch.aten._ctc_loss*", dynamicProgram},
    {"torch.aten.linalg_inv*", matrices},
    {"torch.aten.linalg_svd*", matrices},
    {"torch.aten._linalg_svd*", matrices},
    {"torch.aten.linalg_solve*", matrices},
    {"torch.aten.linalg_qr*", matrices},
    {"torch.aten.linalg_eig*", matrices},
    {"torch.aten._linalg_eig*", matrices},
    {"torch.aten.linalg_cholesky*", matrices},
    {"torch.aten.inverse*", matrices},
    {"torch.aten.nuclear_norm*", matrices},
    {"torch.aten._linalg_det*", matrices},
    {"torch.aten._linalg_slogdet*", matrices},
    {"torch.aten._linalg_solve*", matrices},
    {"torch.aten.linalg_det*", matrices},
    {"torch.aten.linalg_householder_product*", matrices},
    {"torch.aten.linalg_ldl_*", matrices},
    {"torch.aten.linalg_lu*", matrices},
    {"torch.aten.linalg_lstsq*", matrices},
    {"torch.aten.linalg_matrix_exp*", matrices},
    {"torch.aten.linalg_pinv*", matrices},
    {"torch.aten.linalg_slogdet*", matrices},
    {"torch.aten.cholesky*", matrices},
    {"torch.aten.geqrf*", matrices},
    {"torch.aten.lu_unpack*", matrices},
    {"torch.aten.ormqr*", matrices},
    {"torch.aten.triangular_solve*", matrices},
    {"torch.aten.nonzero*", dataDependent},
    {"torch.aten.argwhere*", dataDependent},
    {"torch.aten.where*", dataDependent},
    {"torch.aten.masked_select*", dataDependent},
    {"torch.aten.unique*", dataDependent},
    {"torch.aten._unique*", dataDependent},
    {"torch.aten.bincount*", dataDependent},
    {"torch.aten._upsample_lanczos2d_aa*", lanczos},
    {"torch.aten._foreach_*", lists},
    {"torch.aten._amp_foreach_*", lists},
    {"torch.aten.resize_*", layout},
    {"torch.aten.sym_is_contiguous*", layout},
    {"torch.aten.sym_storage_offset*", layout},
    {"torch.aten.sym_stride*", layout},
    {"torch.aten._fake_quantize_learnable*", observed},
    {"torch.aten.fused_moving_avg_obs*", observed},
    {"torch.aten._fused_moving_avg_obs*", observed},
    {"torch.aten._fft_*", fourier},
    {"torch.aten.fft_*", fourier},
    {"torch.aten.stft*", fourier},
    {"torch.aten.istft*", fourier},
};

ArrayRef<std::pair<StringRef, StringRef>> refusals() { return refusalRows; }

StringRef findRefusal(StringRef op) {
  for (auto [pattern, reason] : refusals())
    if (op.starts_with(pattern.drop_back()))
      return reason;
  const torch::Schema *schema = torch::lookupSchema(op);
  if (schema && schema->has(torch::Flag::Random))
    return random;
  return {};
}

StringRef operatorName(Operation *op) {
  if (auto custom = dyn_cast<torch::OperatorOp>(op)) {
    StringRef name = custom.getName();
    if (name.starts_with("torch.") || name.starts_with("onnx."))
      return name;
    // Exported programs name custom operators without the prefix that torch-mlir gives them.
    return StringAttr::get(op->getContext(), "torch." + name).getValue();
  }
  return op->getName().getStringRef();
}

const torch::Schema *schemaOf(Operation *op) {
  if (auto aten = dyn_cast<torch::AtenOp>(op))
    return &aten.schema();
  if (isa<torch::OperatorOp>(op))
    return torch::lookupSchema(operatorName(op));
  return nullptr;
}

} // namespace tw::lower
