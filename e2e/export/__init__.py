# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports the models and operator cases by which the compiler is judged."""
