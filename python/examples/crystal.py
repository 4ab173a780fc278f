"""A copper crystal in ASE: coordination, and the same energy with ASE's lists and with nearfield's.

python crystal.py [cells along an edge]
"""

import sys
import time

import ase.neighborlist
import numpy as np
from ase.build import bulk
from ase.calculators.lj import LennardJones

import nearfield
import nearfield.ase

n = int(sys.argv[1]) if len(sys.argv) > 1 else 6
atoms = bulk("Cu", cubic=True) * (n, n, n)
atoms.rattle(0.02, seed=1)

i, d = nearfield.neighbor_list("id", atoms, 3.0)
print(f"{len(atoms)} atoms, {np.bincount(i).mean():.1f} neighbours at {d.mean():.3f} A")
assert (np.bincount(i) == 12).all()


def energy():
    atoms.calc = LennardJones(sigma=2.3, epsilon=0.4, rc=6.0)
    return atoms.get_potential_energy()


def seconds(neighbor_list):
    begin = time.perf_counter()
    neighbor_list("ijdDS", atoms, 6.0)
    return time.perf_counter() - begin


of_ase, time_of_ase = energy(), seconds(ase.neighborlist.neighbor_list)
with nearfield.ase.install():
    ours = energy()
print(f"energy {of_ase:.6f} eV with ASE's lists, {ours:.6f} eV with nearfield's")
print(
    f"a list within 6 A: {1e3 * time_of_ase:.0f} ms by ASE, {1e3 * seconds(nearfield.neighbor_list):.1f} ms by nearfield"
)
assert abs(of_ase - ours) < 1e-9 * abs(of_ase)
