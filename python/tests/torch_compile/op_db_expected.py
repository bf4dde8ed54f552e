# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What test_op_db.py finds: torch's operators that do not compile as one program. By the reason and the operator of the
graph that it is said of; a graph may have more than one."""
# Those of which all samples have that operator run eagerly.
EAGER = {
    "a tensor has the dtype torch.complex128": {
        "aten._to_copy.default": ["cdouble"],
        "aten.view_as_real.default": ["cdouble"],
    },
    "a tensor has the dtype torch.complex32": {
        "aten._to_copy.default": ["chalf"],
        "aten.view_as_real.default": ["chalf"],
    },
    "a tensor has the dtype torch.complex64": {
        "aten._conj.default": [
            "polar", "fft.hfft", "fft.hfft2", "fft.hfftn", "fft.ifft", "fft.ihfft", "linalg.eig", "linalg.eigvals"],
        "aten._fft_c2c.default": [
            "stft", "fft.fft", "fft.fft2", "fft.fftn", "fft.rfft", "fft.rfft2", "fft.rfftn", "fft.ifft", "fft.ifft2",
            "fft.ifftn", "fft.ihfft", "fft.ihfft2", "fft.ihfftn"],
        "aten._fft_c2r.default": ["fft.hfft", "fft.hfft2", "fft.hfftn", "fft.irfft", "fft.irfft2", "fft.irfftn"],
        "aten._fft_r2c.default": [
            "stft", "fft.fft", "fft.hfft", "fft.hfft2", "fft.hfftn", "fft.rfft", "fft.rfft2", "fft.rfftn",
            "fft.ifft", "fft.ihfft", "fft.ihfft2", "fft.ihfftn", "fft.irfft", "fft.irfft2", "fft.irfftn"],
        "aten._linalg_solve_ex.default": ["linalg.eigvals"],
        "aten._to_copy.default": [
            "cfloat", "fft.fft2", "fft.fftn", "fft.hfft", "fft.hfft2", "fft.hfftn", "fft.ifft2", "fft.ifftn",
            "fft.irfft", "fft.irfft2", "fft.irfftn"],
        "aten.clone.default": ["polar", "fft.hfft", "fft.hfft2", "fft.hfftn", "linalg.eigvals"],
        "aten.complex.default": ["complex"],
        "aten.detach.default": ["polar", "linalg.eig", "linalg.eigvals"],
        "aten.linalg_eig.default": ["linalg.eig", "linalg.eigvals"],
        "aten.mul.Scalar": ["polar"],
        "aten.mul.Tensor": ["polar", "linalg.eigvals"],
        "aten.polar.default": ["polar"],
        "aten.sgn.default": ["polar"],
        "aten.transpose.int": ["stft", "linalg.eigvals"],
        "aten.unsqueeze.default": ["linalg.eigvals"],
        "aten.view_as_complex.default": ["view_as_complex"],
        "aten.view_as_real.default": [
            "complex", "stft", "polar", "cfloat", "fft.fft", "fft.fft2", "fft.fftn", "fft.hfft", "fft.hfft2",
            "fft.hfftn", "fft.rfft", "fft.rfft2", "fft.rfftn", "fft.ifft", "fft.ifft2", "fft.ifftn", "fft.ihfft",
            "fft.ihfft2", "fft.ihfftn", "fft.irfft", "fft.irfft2", "fft.irfftn", "linalg.eigvals"],
    },
    "a tensor has the dtype torch.uint64": {
        "aten.hash_tensor.default": ["hash_tensor"],
    },
    "aten._linalg_check_errors.default has an effect outside of the graph": {
        "higher_order.with_effects": [
            "linalg.cholesky", "linalg.eigvals", "linalg.ldl_factor", "linalg.lu_factor", "linalg.inv",
            "linalg.solve", "linalg.tensorinv", "linalg.tensorsolve"],
    },
    "decompositions, inverses and solutions of matrices are not supported": {
        "aten._linalg_det.default": ["linalg.det"],
        "aten._linalg_eigh.default": ["linalg.eigh", "linalg.eigvalsh"],
        "aten._linalg_slogdet.default": ["logdet", "linalg.slogdet"],
        "aten._linalg_solve_ex.default": ["linalg.solve", "linalg.solve_ex", "linalg.tensorsolve"],
        "aten._linalg_svd.default": [
            "svd", "svd_lowrank", "pca_lowrank", "norm.nuc", "linalg.cond", "linalg.svd", "linalg.svdvals"],
        "aten.cholesky.default": ["cholesky"],
        "aten.cholesky_inverse.default": ["cholesky_inverse"],
        "aten.cholesky_solve.default": ["cholesky_solve"],
        "aten.geqrf.default": ["geqrf"],
        "aten.linalg_cholesky_ex.default": ["linalg.cholesky", "linalg.cholesky_ex"],
        "aten.linalg_householder_product.default": ["linalg.householder_product"],
        "aten.linalg_inv_ex.default": ["linalg.inv", "linalg.inv_ex", "linalg.tensorinv"],
        "aten.linalg_ldl_factor_ex.default": ["linalg.ldl_factor", "linalg.ldl_factor_ex"],
        "aten.linalg_ldl_solve.default": ["linalg.ldl_solve"],
        "aten.linalg_lu.default": ["linalg.lu"],
        "aten.linalg_lu_factor_ex.default": ["lu", "linalg.lu_factor", "linalg.lu_factor_ex"],
        "aten.linalg_lu_solve.default": [
            "lu_solve", "logdet", "linalg.slogdet", "linalg.lu_solve", "linalg.solve", "linalg.solve_ex",
            "linalg.tensorsolve"],
        "aten.linalg_matrix_exp.default": ["matrix_exp"],
        "aten.linalg_pinv.atol_rtol_tensor": [
            "pinverse", "linalg.pinv", "linalg.pinv.singular", "linalg.pinv.hermitian"],
        "aten.linalg_qr.default": ["qr", "svd_lowrank", "pca_lowrank", "linalg.qr"],
        "aten.linalg_solve_triangular.default": [
            "cholesky", "lu", "qr", "svd_lowrank", "pca_lowrank", "linalg.cholesky", "linalg.cholesky_ex",
            "linalg.qr", "linalg.lu_factor", "linalg.lu_factor_ex", "linalg.lu", "linalg.solve_triangular"],
        "aten.lu_unpack.default": ["lu_unpack", "lu", "linalg.lu_factor", "linalg.lu_factor_ex"],
        "aten.ormqr.default": ["ormqr"],
        "aten.triangular_solve.default": ["triangular_solve"],
    },
    "it is given a place in the memory of an argument": {
        "aten.as_strided.default": ["as_strided", "as_strided_scatter"],
        "aten.as_strided_copy.default": ["as_strided_copy"],
        "aten.as_strided_scatter.default": ["as_strided_scatter"],
    },
    "it asks for the strides of PyTorch's memory, which values here do not have": {
        "aten.resize_as.default": ["resize_as_"],
    },
    "its random numbers are to be those of eager PyTorch, and are not one tensor": {
        "aten.rrelu_with_noise_functional.default": ["nn.functional.rrelu"],
    },
    "its random numbers are to be those of eager PyTorch, and depend on data": {
        "aten.bernoulli.default": ["bernoulli"],
        "aten.multinomial.default": ["multinomial"],
    },
}
# Those of which some samples have, and how many of all.
SOMETIMES_EAGER = {
    "a tensor has the dtype torch.complex64": {
        "aten._conj.default": {"fft.ihfft2": 1, "fft.ihfftn": 5},
        "aten._conj_physical.default": {"fft.ihfft2": 6, "fft.ihfftn": 4},
        "aten._fft_c2c.default": {"fft.hfft2": 6, "fft.hfftn": 4},
        "aten._linalg_solve_ex.default": {"linalg.eig": 5},
        "aten.bmm.default": {"linalg.eig": 4},
        "aten.clone.default": {"linalg.eig": 5},
        "aten.constant_pad_nd.default": {"fft.fft2": 2, "fft.fftn": 2, "fft.ifft2": 2, "fft.ifftn": 2},
        "aten.copy.default": {
            "stft": 8, "fft.rfft": 7, "fft.rfft2": 6, "fft.rfftn": 8, "fft.ihfft": 7, "fft.ihfft2": 6,
            "fft.ihfftn": 8},
        "aten.diagonal.default": {"linalg.eig": 5},
        "aten.diagonal_scatter.default": {"linalg.eig": 5},
        "aten.div.Tensor": {"linalg.eig": 5},
        "aten.expand.default": {"linalg.eig": 4},
        "aten.fill.Scalar": {"linalg.eig": 5},
        "aten.mm.default": {"linalg.eig": 1},
        "aten.mul.Scalar": {
            "fft.hfft": 7, "fft.hfft2": 6, "fft.hfftn": 8, "fft.irfft": 7, "fft.irfft2": 6, "fft.irfftn": 8},
        "aten.mul.Tensor": {"linalg.eig": 5},
        "aten.new_zeros.default": {
            "stft": 8, "fft.rfft": 7, "fft.rfft2": 6, "fft.rfftn": 8, "fft.ihfft": 7, "fft.ihfft2": 6,
            "fft.ihfftn": 8},
        "aten.slice.Tensor": {
            "stft": 8, "fft.fft2": 1, "fft.fftn": 1, "fft.hfft": 7, "fft.hfft2": 6, "fft.hfftn": 8, "fft.rfft": 7,
            "fft.rfft2": 6, "fft.rfftn": 8, "fft.ifft2": 1, "fft.ifftn": 1, "fft.ihfft": 7, "fft.ihfft2": 6,
            "fft.ihfftn": 8, "fft.irfft": 7, "fft.irfft2": 6, "fft.irfftn": 8},
        "aten.slice_backward.default": {
            "fft.fft2": 1, "fft.fftn": 1, "fft.hfft": 1, "fft.hfft2": 2, "fft.hfftn": 2, "fft.ifft2": 1,
            "fft.ifftn": 1, "fft.irfft": 1, "fft.irfft2": 2, "fft.irfftn": 2},
        "aten.slice_scatter.default": {
            "stft": 8, "fft.hfft": 7, "fft.hfft2": 6, "fft.hfftn": 8, "fft.rfft": 7, "fft.rfft2": 6, "fft.rfftn": 8,
            "fft.ihfft": 7, "fft.ihfft2": 6, "fft.ihfftn": 8, "fft.irfft": 7, "fft.irfft2": 6, "fft.irfftn": 8},
        "aten.squeeze.dim": {"stft": 4},
        "aten.sub.Tensor": {"linalg.eig": 5},
        "aten.transpose.int": {"linalg.eig": 5},
        "aten.unsqueeze.default": {"stft": 4, "linalg.eig": 5},
        "aten.view.default": {"linalg.eig": 4},
        "aten.view_as_complex.default": {"stft": 1},
        "aten.view_as_real.default": {"linalg.eig": 5},
    },
    "aten._linalg_check_errors.default has an effect outside of the graph": {
        "higher_order.with_effects": {"linalg.eig": 5, "linalg.matrix_power": 9},
    },
    "custom operator torch_nn._linear_cross_entropy_batch_chunked: argument 'reduction' is \"mean\", a string": {
        "torch_nn._linear_cross_entropy_batch_chunked.default": {"nn.functional.linear_cross_entropy.chunked": 28},
    },
    "custom operator torch_nn._linear_cross_entropy_batch_chunked: argument 'reduction' is \"sum\", a string": {
        "torch_nn._linear_cross_entropy_batch_chunked.default": {"nn.functional.linear_cross_entropy.chunked": 16},
    },
    "custom operator torch_nn._linear_cross_entropy_batch_chunked_no_reduction: argument 'acc_policy' is "
    "\"compact\", a string": {
        "torch_nn._linear_cross_entropy_batch_chunked_no_reduction.default": {
            "nn.functional.linear_cross_entropy.chunked_none": 24},
    },
    "decompositions, inverses and solutions of matrices are not supported": {
        "aten._linalg_eigh.default": {"linalg.matrix_rank.hermitian": 3},
        "aten._linalg_svd.default": {
            "linalg.norm": 20, "linalg.norm.subgradients_at_zero": 12, "linalg.matrix_norm": 24,
            "linalg.matrix_rank": 27},
        "aten.linalg_inv_ex.default": {"linalg.matrix_power": 9},
        "aten.linalg_lu_solve.default": {"linalg.det": 2},
        "aten.linalg_solve_triangular.default": {"lu_solve": 54, "linalg.lu_solve": 216},
        "aten.lu_unpack.default": {"lu_solve": 54, "linalg.lu_solve": 216},
    },
    "it has a result whose memory has gaps or overlaps": {
        "aten.empty_strided.default": {"empty_strided": 3},
        "aten.new_empty_strided.default": {"new_empty_strided": 5},
        "aten.unsafe_split.Tensor": {"unsafe_chunk": 2},
    },
    "it is given a place in the memory of an argument": {
        "aten.as_strided.default": {"as_strided.partial_views": 2},
    },
    "its random numbers are to be those of eager PyTorch, and depend on data": {
        "aten.normal.Tensor_Tensor": {"normal": 4},
        "aten.normal.Tensor_float": {"normal": 1, "normal.number_mean": 1},
    },
}
# Those of which AOTAutograd makes no graph, or eager PyTorch no gradient, by what torch says.
UNTRACEABLE = {
    "Jiterator is only supported on CUDA and ROCm GPUs, none are available.": [
        "jiterator_unary", "jiterator_binary", "jiterator_4inputs_with_extra_args", "jiterator_binary_return_by_ref",
        "jiterator_2inputs_2outputs"],
    "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with 'allow_non_fake_inputs'. "
    "Found in aten.crow_indices.default(tensor(crow_indices=tensor([...]),": [
        "sparse.sampled_addmm", "sparse.mm.reduce"],
    "aten._local_scalar_dense.default": ["item", "nn.functional.gaussian_nll_loss"],
    "aten.allclose.default": ["allclose"],
    "aten.bincount.default": ["bincount"],
    "aten.equal.default": ["corrcoef", "cov", "equal"],
    "aten.linalg_lstsq.default": ["linalg.lstsq", "linalg.lstsq.grad_oriented"],
    "aten.masked_select.default": ["combinations", "masked_select"],
    "aten.nonzero.default": ["nonzero", "argwhere"],
    "aten.unique_consecutive.default": ["unique_consecutive"],
    "could not find kernel for aten.as_strided.default at dispatch key DispatchKey.SparseCPU": ["to_sparse"],
}
# Those of which it makes none for some samples, and for how many of all.
SOMETIMES_UNTRACEABLE = {
    "aten._ctc_loss.Tensor": {"nn.functional.ctc_loss": 8},
    "aten._ctc_loss.default": {"nn.functional.ctc_loss": 4},
    "aten._local_scalar_dense.default": {"narrow": 5, "tensor_split": 4, "nn.functional.one_hot": 3},
    "aten._unique.default": {"index_fill": 3},
    "aten._unique2.default": {"unique": 120},
    "aten.nonzero.default": {"__getitem__": 1, "index_put": 2},
    "aten.repeat_interleave.Tensor": {"repeat_interleave": 1},
    "aten.unique_dim.default": {"unique": 408},
    "linalg_eig_backward: The eigenvectors in the complex case are specified up to multiplication by e^{i phi}. "
    "The specified loss function depends on this quantity, so it is ill-defined.": {"linalg.eig": 3},
}
# Of how many samples torch's graphs have other strides than eager PyTorch, and what we compile of them has those of the
# graphs: a norm's dimensions of one element, and gradients that are computed in another order of dimensions.
STRIDES = {
    "AOTAutograd's graph gives results with these strides": {"linalg.matrix_norm": 3},
    "AOTAutograd's graph gives gradients with these strides": {"ormqr": 48},
}
# The same for samples with gaps in memory, where it is another number than without: 0 for none. In eager PyTorch scatters
# keep the gaps, dropout that drops nothing gives its argument itself, and some operators take no such memory.
GAPS_EAGER = {
    "a tensor has the dtype torch.complex64": {
        "aten.view_as_complex.default": {"view_as_complex": 0},
    },
    "it has a result whose memory has gaps or overlaps": {
        "aten.diagonal_scatter.default": {"diagonal_scatter": 15},
        "aten.select_scatter.default": {"select_scatter": 5},
        "aten.slice_scatter.default": {"slice_scatter": 9},
        "aten.unsafe_split.Tensor": {"unsafe_chunk": 3, "unsafe_split": 2},
    },
    "it is given a place in the memory of an argument": {
        "aten.as_strided.default": {"as_strided_scatter": 2},
    },
}
GAPS_UNTRACEABLE = {
    "!self.requires_grad() || self.is_contiguous() INTERNAL ASSERT FAILED at "
    "\"/__w/pytorch/pytorch/aten/src/ATen/native/TensorShape.cpp\":4754, please report a bug to PyTorch. "
    "as_strided_scatter is currently only supported for contiguous inputs": {"as_strided_scatter": 5},
    "Expected X.is_contiguous(memory_format) to be true, but got false.  (Could this error message be improved?  If so, "
    "please report an enhancement request to PyTorch.)": {"native_group_norm": 17},
    "Tensor must have a last dimension with stride 1": {"view_as_complex": 1},
}
GAPS_STRIDES = {
    "AOTAutograd's graph gives results with these strides": {"nn.functional.dropout": 8},
    "AOTAutograd's graph gives gradients with these strides": {"diagonal_scatter": 15, "select_scatter": 5, "slice_scatter": 9, "stft": 2},
}
# In other orders of dimensions: the operators of which torch's graphs have other strides than eager PyTorch for a sample.
# They are made of other operators than eager PyTorch runs: gradients of formulas that write in place, of upsampling as an
# index, of sums of what is expanded, and in a dimension of one element the mean of a pool that is a view.
LAYOUT_STRIDES = {
    "AOTAutograd's graph gives results with these strides": [
        "nn.functional.avg_pool1d"],
    "AOTAutograd's graph gives gradients with these strides": [
        "dist", "linalg.householder_product", "linalg.matrix_norm", "linalg.norm", "linalg.norm.subgradients_at_zero", "masked.norm",
        "masked.prod", "max.binary", "max.reduction_no_dim", "maximum", "median", "min.binary", "min.reduction_no_dim",
        "minimum", "nanmedian", "nn.functional.interpolate.bilinear", "nn.functional.interpolate.nearest",
        "nn.functional.interpolate.nearest-exact", "nn.functional.interpolate.trilinear",
        "nn.functional.multi_margin_loss", "nn.functional.pairwise_distance", "nn.functional.triplet_margin_loss",
        "nn.functional.triplet_margin_with_distance_loss", "nn.functional.upsample_bilinear",
        "nn.functional.upsample_nearest", "norm", "norm.fro", "ormqr", "prod", "stft"],
}
