"""A vortex sheet rolls up: Krasny's sheet of blobs (J. Comput. Phys. 65, 292, 1986), in two dimensions.

    python vortex_sheet.py [points] [picture.png]

Draws the sheet at four times if matplotlib is there.
"""

import sys

import numpy as np

import nearfield

try:
    from tqdm import trange
except ImportError:
    trange = range

n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
dt, end = 0.01, 2.0

# an elliptically loaded wing: circulation sqrt(1 - s^2) along -1 < s < 1
theta = np.pi * (np.arange(n) + 0.5) / n
x = np.column_stack([-np.cos(theta), np.zeros(n)])
circulation = np.cos(theta) * np.pi / n / (2 * np.pi)
sigma = np.full((n, 1), 0.05)


def velocity(x):
    return nearfield.p2p("lamb_oseen", np.hstack([x, sigma]), circulation)


def impulse(x):
    return circulation @ x


first, frames = impulse(x), []
for step in trange(round(end / dt)):
    k1 = velocity(x)
    k2 = velocity(x + dt / 2 * k1)
    k3 = velocity(x + dt / 2 * k2)
    k4 = velocity(x + dt * k3)
    x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if (step + 1) % round(end / dt / 4) == 0:
        frames.append(((step + 1) * dt, x))

drift = np.abs(impulse(x) - first).max()
print(f"{n} vortices, {round(end / dt)} steps; the impulse drifts by {drift:.1e}")
assert drift < 1e-12

if len(sys.argv) > 2:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(frames), 1, figsize=(7, 2.2 * len(frames)), sharex=True, constrained_layout=True
    )
    for axis, (time, sheet) in zip(axes, frames, strict=True):
        axis.plot(*sheet.T, lw=0.8, color="#0072b2")
        axis.set(ylabel="y", title=f"time {time:.1f}", aspect="equal", ylim=(-0.35, 1))
    axes[-1].set_xlabel("x")
    figure.savefig(sys.argv[2], dpi=120)
