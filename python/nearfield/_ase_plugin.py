"""nearfield among the neighbour lists that ASE 4 can choose from."""


def neighbor_list(quantities, atoms, cutoff, *, self_interaction=False):
    """See `nearfield.ase.neighbor_list`."""
    from .ase import neighbor_list

    return neighbor_list(quantities, atoms, cutoff, self_interaction)


try:
    from ase._4.plugins.neighborlist import NeighborListPlugin
except ImportError:
    __ase_plugins__ = set()
else:
    __ase_plugins__ = {
        NeighborListPlugin(
            "nearfield",
            long_name="nearfield: neighbour lists on every core",
            citation="nearfield: near-field interactions of particles on every core",
            implementation="nearfield._ase_plugin.neighbor_list",
        )
    }
