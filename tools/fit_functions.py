#!/usr/bin/env python3
"""Prints the coefficients of erfcx (core/math.hpp) and of simd/functions.hpp: polynomials that interpolate at Chebyshev
points, in 50 digits, each with its largest error relative to the function. Needs mpmath."""
from mpmath import mp, mpf, cos, erf, erfc, exp, log, pi, polyval, sin, sqrt

mp.dps = 50


def interpolant(f, n, lo, hi):
    """c_0 ... c_n of the polynomial of degree n, by Newton's divided differences."""
    x = [(hi + lo) / 2 + (hi - lo) / 2 * cos(pi * (k + mpf(1) / 2) / (n + 1)) for k in range(n + 1)]
    d = [f(v) for v in x]
    for j in range(1, n + 1):
        for i in range(n, j - 1, -1):
            d[i] = (d[i] - d[i - 1]) / (x[i] - x[i - j])
    c = []
    for i in range(n, -1, -1):
        c = [a - b * x[i] for a, b in zip([mpf(0)] + c, c + [mpf(0)])] or [mpf(0)]
        c[0] += d[i]
    return c


def show(name, f, part, lo, hi, degrees):
    """part(x): by how much an error of f counts."""
    lo, hi = mpf(lo) + mpf("1e-18"), mpf(hi)
    for real, n in zip(("float", "double"), degrees):
        if n is None:
            continue
        c = interpolant(f, n, lo, hi)
        grid = [lo + (hi - lo) * k / 1000 for k in range(1001)]
        error = max(abs((polyval(c[::-1], x) - f(x)) * part(x)) for x in grid)
        print(f"{name}, {real}: error {mp.nstr(error, 2)}")
        print("  " + ", ".join(mp.nstr(v, 10 if real == "float" else 18) for v in c))


half = log(2) / 2
show("(e^x - 1 - x) / x^2", lambda x: (exp(x) - 1 - x) / x**2, lambda x: x**2 / exp(x), -half, half, (4, 9))
quarter = (pi / 4)**2 * mpf("1.0001")
show("(sin(x) / x - 1) / x^2 in x^2", lambda u: (sin(sqrt(u)) / sqrt(u) - 1) / u, lambda u: u, 0, quarter, (2, 5))
show("(cos(x) - 1 + x^2 / 2) / x^4 in x^2",
     lambda u: (cos(sqrt(u)) - 1 + u / 2) / u**2, lambda u: u**2, 0, quarter, (2, 5))
show("erf(x) / x in x^2", lambda u: erf(sqrt(u)) / sqrt(u), lambda u: sqrt(u) / erf(sqrt(u)), 0, mpf("0.36"), (4, 8))


def erfcx_of(c, a, b):
    """(x + c) erfcx(x) of t = b / (x + c) - a: with this a, next to no coefficient is negative."""
    def f(t):
        s = (t + a) / b
        x = 1 / s - c
        return exp(x * x) * erfc(x) / s
    return f


for c, a, b, last, degrees in ((mpf("2.5"), mpf("0.5"), mpf("6.5"), 10, (10, None)),
                            (mpf("3.75"), mpf("0.5"), mpf("8.5"), 27, (None, 20))):
    f = erfcx_of(c, a, b)
    show(f"erfcx (x + {float(c)}) in {float(b)} / (x + {float(c)}) - {float(a)}", f, lambda t: 1 / f(t), b / (last + c) - a,
         b / c - a, degrees)
