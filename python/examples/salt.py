"""Ewald's sum of a salt: the near part by nearfield, the far part by NumPy; Madelung's constant of NaCl, 1.747565.

python salt.py [ions along an edge, even]
"""

import sys

import numpy as np

import nearfield

n = int(sys.argv[1]) if len(sys.argv) > 1 else 12
x = np.stack(np.meshgrid(*[np.arange(float(n))] * 3, indexing="ij"), axis=-1).reshape(
    -1, 3
)  # neighbours at distance 1
q = np.where(x.sum(axis=1) % 2 == 0, 1.0, -1.0)
alpha, r_c = 1.0, 5.5

# pairs within r_c, of all images
cells = nearfield.CellList(x, r_c, cell=[n, n, n])
near = nearfield.near_field("val_grad_ewald_real", cells, x, q, alpha=alpha, r_c=r_c)

# waves up to 12 / alpha, and each ion's own Gaussian
m = int(np.ceil(12 / (2 * np.pi / n)))
k = 2 * np.pi / n * np.stack(np.meshgrid(*[np.arange(-m, m + 1)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
k2 = (k**2).sum(axis=1)
k, k2 = k[(k2 > 0) & (k2 < 144)], k2[(k2 > 0) & (k2 < 144)]
far = 0.0
for wave in np.array_split(np.arange(len(k)), max(1, len(k) // 1000)):
    structure = np.exp(1j * x @ k[wave].T).T @ q  # sum over ions
    far += (4 * np.pi / n**3 * np.exp(-k2[wave] / (4 * alpha**2)) / k2[wave] * structure.real).sum()
phi = near[0, 0] + far - 2 * alpha / np.sqrt(np.pi) * q[0]  # at the ion at the origin

print(f"{len(x)} ions, {cells.count()} pairs within {r_c}")
print(f"Madelung's constant {-phi:.6f}, expected 1.747565")
print(f"largest force on an ion, 0 by symmetry: {np.abs(near[:, 1:]).max():.1e}")
assert abs(-phi - 1.747565) < 1e-5 and np.abs(near[:, 1:]).max() < 1e-10
