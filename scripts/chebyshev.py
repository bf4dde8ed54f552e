#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the tables of lib/TorchToGraph/Elementwise/BesselTables.h: Chebyshev series of Bessel functions, to 1e-16 of the largest
coefficient. Needs mpmath.

    scripts/chebyshev.py > lib/TorchToGraph/Elementwise/BesselTables.h
"""
import mpmath as mp

mp.mp.dps = 40


def series(f, points=64, least=mp.mpf("1e-17")):
    """Coefficients for f on [-1, 1]."""
    nodes = [mp.cos(mp.pi * (k + mp.mpf(1) / 2) / points) for k in range(points)]
    values = [f(t) for t in nodes]
    terms = [2 * mp.fsum(v * mp.cos(j * mp.pi * (k + mp.mpf(1) / 2) / points) for k, v in enumerate(values)) / points
             for j in range(points)]
    terms[0] /= 2
    largest = max(abs(term) for term in terms)
    while len(terms) > 1 and abs(terms[-1]) < least * largest:
        terms.pop()
    return terms


def near(f, end=8):
    """f of x in [0, end]; t = 2 x / end - 1."""
    return lambda t: f(max((t + 1) * end / 2, mp.mpf("1e-30")))


def near_square(f, end=8):
    """f of x in [0, end], an even function; t = 2 (x / end)^2 - 1."""
    return lambda t: f(mp.sqrt(max((t + 1) / 2, mp.mpf("1e-40"))) * end)


def far(f, begin=8):
    """f of x from `begin` on; t = 2 begin / x - 1."""
    return lambda t: f(2 * begin / max(t + 1, mp.mpf("1e-12")))


def far_square(f, begin=8):
    """f of x from `begin` on; t = 2 (begin / x)^2 - 1."""
    return lambda t: f(begin * mp.sqrt(2 / max(t + 1, mp.mpf("1e-12"))))


def phase(x, n):
    return x - mp.pi / 4 - n * mp.pi / 2


def cosine_part(n):
    """P of sqrt(2 / (pi x)) (P cos(phase) - Q sin(phase)) = J_n."""
    return lambda x: mp.sqrt(mp.pi * x / 2) * (mp.besselj(n, x) * mp.cos(phase(x, n)) + mp.bessely(n, x) * mp.sin(phase(x, n)))


def sine_part(n):
    """x Q."""
    return lambda x: x * mp.sqrt(mp.pi * x / 2) * (mp.bessely(n, x) * mp.cos(phase(x, n)) - mp.besselj(n, x) * mp.sin(phase(x, n)))


def middle(f, begin, end):
    """f of x in [begin, end]."""
    return lambda t: f(begin + (t + 1) * (end - begin) / 2)


def airy_place(z):
    """|x| where 2/3 |x|^(3/2) is z."""
    return (3 * z / 2) ** (mp.mpf(2) / 3)


def airy_part(of_ai, of_bi):
    """P of Ai(-x) = (P cos(phase) + Q sin(phase)) / sqrt(pi sqrt(x)), or z Q; phase = z - pi / 4."""
    def value(z):
        x = airy_place(z)
        return mp.sqrt(mp.pi) * x ** mp.mpf("0.25") * (mp.airyai(-x) * of_ai(z - mp.pi / 4) + mp.airybi(-x) * of_bi(z - mp.pi / 4))
    return value


AIRY_LEFT, AIRY_RIGHT = -4, 2
Z_LEFT, Z_RIGHT = (2 * mp.mpf(x) ** 1.5 / 3 for x in (4, 2))

TABLES = {}
for n in (0, 1):
    TABLES[f"i{n}Near"] = near(lambda x, n=n: mp.exp(-x) * mp.besseli(n, x) / x**n)
    TABLES[f"i{n}Far"] = far(lambda x, n=n: mp.exp(-x) * mp.besseli(n, x) * mp.sqrt(x))
    TABLES[f"j{n}Near"] = near_square(lambda x, n=n: mp.besselj(n, x) / x**n)
    TABLES[f"j{n}Cosine"] = far_square(cosine_part(n))
    TABLES[f"j{n}Sine"] = far_square(sine_part(n))
    TABLES[f"k{n}Far"] = far(lambda x, n=n: mp.exp(x) * mp.besselk(n, x) * mp.sqrt(x), 2)
TABLES["y0Near"] = near_square(lambda x: mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x))
TABLES["y1Near"] = near_square(lambda x: (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x)
TABLES["k0Near"] = near_square(lambda x: mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x), 2)
TABLES["k1Near"] = near_square(lambda x: (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x) - 1 / x) / x, 2)
TABLES["erfcxNear"] = lambda t: (lambda u: mp.exp((4 / u - 4) ** 2) * mp.erfc(4 / u - 4))(max((t + 1) / 2, mp.mpf("1e-12")))
TABLES["airyMiddle"] = middle(mp.airyai, AIRY_LEFT, AIRY_RIGHT)
TABLES["airyFar"] = far(lambda z: mp.airyai(airy_place(z)) * mp.exp(z) * airy_place(z) ** mp.mpf("0.25"), Z_RIGHT)
TABLES["airyCosine"] = far_square(airy_part(mp.cos, lambda phase: -mp.sin(phase)), Z_LEFT)
TABLES["airySine"] = far_square(lambda z: z * airy_part(mp.sin, mp.cos)(z), Z_LEFT)

if __name__ == "__main__":
    print("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n//\n// Made by scripts/chebyshev.py, which says what each is a "
          "series of.\n#pragma once\n\nnamespace tw::lower {\n\n// clang-format off")
    for name, function in TABLES.items():
        terms = series(function)
        numbers = ", ".join(mp.nstr(term, 17, min_fixed=0, max_fixed=0) for term in terms)
        print(f"constexpr double {name}[] = {{{numbers}}};")
    print("// clang-format on\n\n} // namespace tw::lower")
