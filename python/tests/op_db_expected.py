# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What test_op_db.py knows of: torch's operators by the reason why they do not compile, with all samples."""
# Operators of which some or all samples run eagerly, by what is said of it.
EAGER = {
    "aten._conj.default: a tensor has the dtype torch.complex64": [
        "polar", "fft.hfft", "fft.hfft2", "fft.hfftn", "fft.ifft", "fft.ihfft", "fft.ihfft2", "fft.ihfftn",
        "linalg.eigvals"],
    "aten._efficientzerotensor.default: tensors of zeros without memory are not supported": ["sgn"],
    "aten._fft_c2c.default: a tensor has the dtype torch.complex64": [
        "stft", "fft.fft", "fft.fft2", "fft.fftn", "fft.rfft", "fft.rfft2", "fft.rfftn", "fft.ifft2", "fft.ifftn"],
    "aten._fft_c2r.default: a tensor has the dtype torch.complex64": ["fft.irfft", "fft.irfft2", "fft.irfftn"],
    "aten._linalg_det.default: decompositions, inverses and solutions of matri": ["linalg.det"],
    "aten._linalg_eigh.default: decompositions, inverses and solutions of matri": [
        "linalg.eigh", "linalg.eigvalsh", "linalg.matrix_rank.hermitian"],
    "aten._linalg_slogdet.default: decompositions, inverses and solutions of matri": ["logdet", "linalg.slogdet"],
    "aten._linalg_solve_ex.default: decompositions, inverses and solutions of matri": [
        "linalg.solve", "linalg.solve_ex", "linalg.tensorsolve"],
    "aten._linalg_svd.default: decompositions, inverses and solutions of matri": [
        "svd", "svd_lowrank", "pca_lowrank", "norm.nuc", "linalg.norm",
        "linalg.norm.subgradients_at_zero", "linalg.cond", "linalg.matrix_norm", "linalg.matrix_rank",
        "linalg.svd", "linalg.svdvals"],
    "aten._to_copy.default: a tensor has the dtype torch.complex128": ["cdouble"],
    "aten._to_copy.default: a tensor has the dtype torch.complex32": ["chalf"],
    "aten._to_copy.default: a tensor has the dtype torch.complex64": ["cfloat"],
    "aten.bernoulli.default: its random numbers are to be those of eager PyTo": ["bernoulli"],
    "aten.cholesky.default: decompositions, inverses and solutions of matri": ["cholesky"],
    "aten.cholesky_inverse.default: decompositions, inverses and solutions of matri": ["cholesky_inverse"],
    "aten.cholesky_solve.default: decompositions, inverses and solutions of matri": ["cholesky_solve"],
    "aten.col2im.default: it has a result whose memory has gaps or overlap": ["nn.functional.unfold"],
    "aten.complex.default: a tensor has the dtype torch.complex64": ["complex"],
    "aten.constant_pad_nd.default: it has a result whose memory has gaps or overlap": [
        "constant_pad_nd", "nn.functional.pad.constant"],
    "aten.empty_permuted.default: it has a result whose memory has gaps or overlap": ["empty_permuted"],
    "aten.empty_strided.default: it has a result whose memory has gaps or overlap": ["empty_strided"],
    "aten.geqrf.default: decompositions, inverses and solutions of matri": ["geqrf"],
    "aten.hash_tensor.default: a tensor has the dtype torch.uint64": ["hash_tensor"],
    "aten.linalg_cholesky_ex.default: decompositions, inverses and solutions of matri": [
        "linalg.cholesky", "linalg.cholesky_ex"],
    "aten.linalg_householder_product.default: decompositions, inverses and solutions of matri": [
        "linalg.householder_product"],
    "aten.linalg_inv_ex.default: decompositions, inverses and solutions of matri": [
        "linalg.matrix_power", "linalg.inv", "linalg.inv_ex", "linalg.tensorinv"],
    "aten.linalg_ldl_factor_ex.default: decompositions, inverses and solutions of matri": [
        "linalg.ldl_factor", "linalg.ldl_factor_ex"],
    "aten.linalg_ldl_solve.default: decompositions, inverses and solutions of matri": ["linalg.ldl_solve"],
    "aten.linalg_lu.default: decompositions, inverses and solutions of matri": ["linalg.lu"],
    "aten.linalg_lu_factor_ex.default: decompositions, inverses and solutions of matri": [
        "lu", "linalg.lu_factor", "linalg.lu_factor_ex"],
    "aten.linalg_lu_solve.default: decompositions, inverses and solutions of matri": ["lu_solve", "linalg.lu_solve"],
    "aten.linalg_matrix_exp.default: decompositions, inverses and solutions of matri": ["matrix_exp"],
    "aten.linalg_pinv.atol_rtol_tensor: decompositions, inverses and solutions of matri": [
        "pinverse", "linalg.pinv", "linalg.pinv.singular", "linalg.pinv.hermitian"],
    "aten.linalg_qr.default: decompositions, inverses and solutions of matri": ["qr", "linalg.qr"],
    "aten.linalg_solve_triangular.default: decompositions, inverses and solutions of matri": [
        "linalg.solve_triangular"],
    "aten.lu_unpack.default: decompositions, inverses and solutions of matri": ["lu_unpack"],
    "aten.multinomial.default: its random numbers are to be those of eager PyTo": ["multinomial"],
    "aten.new_empty_strided.default: it has a result whose memory has gaps or overlap": ["new_empty_strided"],
    "aten.normal.Tensor_Tensor: its random numbers are to be those of eager PyTo": ["normal"],
    "aten.normal.Tensor_float: its random numbers are to be those of eager PyTo": ["normal.number_mean"],
    "aten.ormqr.default: decompositions, inverses and solutions of matri": ["ormqr"],
    "aten.resize_as.default: it asks for the strides of PyTorch's memory, whi": ["resize_as_"],
    "aten.rrelu_with_noise_functional.default: its random numbers are to be those of eager PyTo": [
        "nn.functional.rrelu"],
    "aten.triangular_solve.default: decompositions, inverses and solutions of matri": ["triangular_solve"],
    "aten.unsafe_split.Tensor: it has a result whose memory has gaps or overlap": ["unsafe_chunk"],
    "aten.view_as_complex.default: a tensor has the dtype torch.complex64": ["view_as_complex"],
    "torch_nn._linear_cross_entropy_batch_chunked.default: custom operator torch_nn._linear_cross_entropy_b": [
        "nn.functional.linear_cross_entropy.chunked"],
    "torch_nn._linear_cross_entropy_batch_chunked_no_reduction.default: custom operator torch_nn._linear_cross_en": [
        "nn.functional.linear_cross_entropy.chunked_none"],
}
# Operators of which AOTAutograd makes no graph for all samples, by what torch says.
UNTRACEABLE = {
    "Jiterator is only supported on": [
        "jiterator_unary", "jiterator_binary", "jiterator_4inputs_with_extra_args",
        "jiterator_binary_return_by_ref", "jiterator_2inputs_2outputs"],
    "aten._ctc_loss.default": ["nn.functional.ctc_loss"],
    "aten._local_scalar_dense.default": [
        "item", "narrow", "tensor_split", "nn.functional.one_hot", "nn.functional.gaussian_nll_loss"],
    "aten._unique.default": ["index_fill"],
    "aten._unique2.default": ["unique"],
    "aten.allclose.default": ["allclose"],
    "aten.as_strided.default": ["to_sparse"],
    "aten.bincount.default": ["bincount"],
    "aten.crow_indices.default": ["sparse.sampled_addmm", "sparse.mm.reduce"],
    "aten.equal.default": ["corrcoef", "cov", "equal"],
    "aten.linalg_lstsq.default": ["linalg.lstsq", "linalg.lstsq.grad_oriented"],
    "aten.masked_select.default": ["combinations", "masked_select"],
    "aten.nonzero.default": ["index_put", "nonzero", "argwhere", "__getitem__"],
    "aten.repeat_interleave.Tensor": ["repeat_interleave"],
    "aten.unique_consecutive.default": ["unique_consecutive"],
    "linalg_eig_backward: The eigenvectors in the": ["linalg.eig"],
}
