# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of matrices, special functions, windows of signal processing."""

import torch

from .family import family


@family(m="f32[4,6]", p="f32[2,3,5,4]", s="f32[3,3]", c="f32[5,3]", k="f32[3,5]", n="i64[4,3]", h="f16[4,3]", x="f32[2,3,5]")
def matrices(case, m, p, s, c, k, n, h, x):
    for order in (1, -1, float("inf"), float("-inf")):
        case(f"matrix_norm {order}", torch.linalg.matrix_norm(p, order, dim=(3, 1)))
        case(f"norm {order}", torch.linalg.norm(m, order))
    case("matrix_norm keepdim", torch.linalg.matrix_norm(p, 1, keepdim=True))
    case("matrix_norm fro", torch.linalg.matrix_norm(p, "fro", dim=(0, 2)))
    case("norm of all", torch.linalg.norm(p))
    case("norm vector 3", torch.linalg.norm(p, 3, dim=1))
    case("norm fro", torch.linalg.norm(m, "fro"))
    for power in (0, 1, 2, 5):
        case(f"matrix_power {power}", torch.linalg.matrix_power(s, power))
    case("trace ints", torch.trace(n))
    case("cross dim", torch.linalg.cross(k, k.flip(1), dim=0))
    case("cross broadcast", torch.linalg.cross(c, c[:1]))
    case("cross ints", torch.linalg.cross(n, n.flip(0)))
    case("cross f16", torch.linalg.cross(h, h.flip(0)))
    case("cross first", torch.cross(x, x.flip(1), dim=1))
    case("pdist 1", torch.pdist(m, 1.0))
    case("pdist inf", torch.pdist(c, float("inf")))
    case("renorm columns", torch.renorm(m, 1, 1, 2.0))
    case("addr beta 0", torch.addr(m * float("nan"), m[:, 0], m[0], beta=0))
    case("dist", torch.dist(m, m[:1], 3))
    case("norm_except_dim", torch.norm_except_dim(p, 2, 1))


@family(x="f32[6]~3", p="f32[5]>0", d="f64[6]~4", n="i64[7]", m="i64[7]", u="u8[7]", h="f16[5]>0")
def special_aliases(case, x, p, d, n, m, u, h):
    for name in "gammaln digamma psi erfc exp2 expm1 sinc ndtr entr erf expit round".split():
        case(name, getattr(torch.special, name)(x))
    for name in "erfinv logit log1p".split():
        case(name, getattr(torch.special, name)(torch.sigmoid(x)))
    edges = torch.tensor([0.0, 1.0, 2.0, -1.0, -0.5, 0.5, 171.0, float("inf"), float("nan")])
    case("lgamma edges", torch.lgamma(edges))
    case("digamma edges", torch.digamma(edges))
    case("lgamma f64", torch.lgamma(d))
    case("digamma f64", torch.digamma(d))
    case("lgamma f16", torch.lgamma(h))
    case("lgamma ints", torch.lgamma(n))
    case("xlogy", torch.special.xlogy(p, p.flip(0)))
    case("xlogy number", torch.special.xlogy(2.0, p))
    case("xlog1py", torch.special.xlog1py(p, p.flip(0)))
    for name in "arccos arcsin arctanh arcsinh".split():
        case(name, getattr(torch, name)(torch.tanh(x)))
    case("arccosh", torch.arccosh(p + 1))
    case("gcd", torch.gcd(n * 6 - 12, m * 4))
    case("lcm", torch.lcm(n * 6 - 12, m * 4))
    case("gcd u8", torch.gcd(u, u.flip(0)))
    case("gcd number", torch.gcd(n.int(), torch.tensor(6, dtype=torch.int32)))
    case("ldexp ints", torch.ldexp(n, m))
    case("isreal", torch.isreal(x))


@family(x="f32[8]")
def signal_windows(case, x):
    for name in "hann hamming blackman bartlett".split():
        function = getattr(torch, f"{name}_window")
        case(name, x * function(8))
        case(f"{name} symmetric", x * function(8, periodic=False))
        case(f"{name} one", function(1))
        case(f"{name} f64", function(5, dtype=torch.float64))
    case("hamming numbers", torch.hamming_window(7, True, 0.6, 0.3))
