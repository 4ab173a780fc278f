#!/usr/bin/env python3
"""Simulates steps of starpu_mpi::near_field on a cluster of H100s, by SimGrid.

    bench/simgrid_scaling.py [--out FILE] [--most RANKS] [--fabric NAME] [--jobs N]

after ./dev simgrid, cmake --preset simgrid and cmake --build --preset simgrid. 512 ranks take 9 GB.

The program (bench/simgrid_scaling.cpp) submits the library's own tasks and messages. What is assumed, each a constant
below: the rates of an H100, of bench/results/h100-cuda.json; a link of 400 Gb/s for each GPU; nodes of 8 GPUs below a
fat tree. A rank is one GPU, to StarPU a core with the speed of the GPU: so data lies where the network reads it, as with
GPU-direct, and nothing crosses a bus.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "simgrid" / "lib" / "simgrid_scaling"

POINTS_PER_LEAF = 64  # bench/simgrid_scaling.cpp says why links are slower by this
GPUS_PER_NODE, NODES = 8, 64
LINK = 50e9  # bytes/s: 400 Gb/s
REACHED = 0.92  # of a link, by large messages
LATENCY = 1e-6  # s of a link; two in a node, four between nodes
TASK = 10e-6  # s of a task beside its work: nearfield's own model of a task on a GPU
COPY = 1e12  # bytes/s of copies by index lists, read and written: a third of what the memory is made for
MODEL = "H100"

# What each GPU's node has beside the links of its GPUs
FABRICS = {
    "8_links": "2;8,{nodes};1,8;1,1",  # a NIC for each GPU: every node reaches 8 switches
    "1_link": "2;8,{nodes};1,1;1,1",  # one NIC for all 8
    "free_tasks": "2;8,{nodes};1,8;1,1",  # as 8_links, but tasks take nothing beside their work
}


def rates():
    """Pairs a second in single precision, 1/r, 64 points a leaf"""
    entries = json.loads((ROOT / "bench" / "results" / "h100-cuda.json").read_text())["benchmarks"]
    found = {}
    for form in ("one_sided", "mutual"):
        name = rf"cuda/leaves/one_over_r/3d/f32/{form}/64/.*"
        found[form] = median(e["pairs/s"] for e in entries
                             if re.fullmatch(name, e["run_name"]) and e["run_type"] == "iteration")
    return found


def machine(folder, ranks, fabric):
    """The platform file, and what StarPU would have measured on a node"""
    nodes = max(2, -(-ranks // GPUS_PER_NODE))
    topology = FABRICS[fabric].format(nodes=nodes)
    lines = ["<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
             '<platform version="4.1">', '<zone id="ASroot" routing="None">',
             f'<cluster id="fabric" prefix="gpu" suffix="" radical="0-{nodes * GPUS_PER_NODE - 1}" speed="1Gf"'
             f' bw="{LINK / POINTS_PER_LEAF:.0f}Bps" lat="{LATENCY}s" topology="FAT_TREE"'
             f' topo_parameters="{topology}"/>']
    for r in range(ranks):
        hosts = "".join(f'<host id="StarPU-MPI{r}-{name}" speed="1Gf"/>' for name in ("MAIN", "CPU0", "RAM"))
        lines.append(f'<zone id="StarPU-MPI{r}" routing="None">{hosts}</zone>')
    (folder / "platform.xml").write_text("\n".join([*lines, "</zone>", "</platform>"]) + "\n")
    (folder / "hosts").write_text("".join(f"gpu{r}\n" for r in range(ranks)))
    bus = folder / "bus"
    bus.mkdir(exist_ok=True)
    kinds = ("CUDA nodes", "OpenCL nodes", "FPGA nodes", "Disk nodes", "MPI_MS nodes", "TCPIP_MS nodes", "HIP nodes")
    (bus / "simulated.config").write_text("# Current configuration\n1 # Number of CPUs\n1 # Number of NUMA nodes\n"
                                          + "".join(f"0 # Number of {kind}\n" for kind in kinds))
    # StarPU reads squares of 32
    for name, value in (("bandwidth", 0), ("latency", 0)):
        rows = ["\t".join(f"{value:e}" if a == b == 0 else "nan" for b in range(32)) for a in range(32)]
        (bus / f"simulated.{name}").write_text("# to NUMA 0\n" + "\n".join(rows) + "\n")
    (bus / "simulated.affinity").write_text("# GPU\tNUMA0\n")


def simulate(ranks, leaves, fabric, speed):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machine(folder, ranks, fabric)
        environment = os.environ | {"STARPU_HOSTNAME": "simulated", "STARPU_PERF_MODEL_DIR": name, "STARPU_SILENT": "1",
                                    "STARPU_WORKERS_NOBIND": "1",
                                    "MALLOC_MMAP_THRESHOLD_": "131072"}  # a rank's lists go back to the system
        settings = {"network/bandwidth-factor": REACHED, "network/latency-factor": 1, "network/TCP-gamma": 0,
                    "network/weight-S": 0, "smpi/privatization": "dlopen", "smpi/simulate-computation": "no",
                    "smpi/iprobe": 1e-6, "smpi/test": 1e-6, "contexts/stack-size": 512}
        command = ["smpirun", "-quiet", "-platform", folder / "platform.xml", "-hostfile", folder / "hosts",
                   "-np", str(ranks), *(f"--cfg={key}:{value}" for key, value in settings.items()),
                   PROGRAM, str(leaves), *(f"{speed[form]:.6e}" for form in ("one_sided", "mutual")),
                   f"{COPY:.6e}", f"{1e-9 if fabric == 'free_tasks' else TASK:.6e}"]
        run = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)
        lines = [json.loads(line) for line in re.findall(r"^\{.*\}$", run.stdout, re.M)]
        if run.returncode or len(lines) != ranks:
            sys.exit(f"{ranks} ranks: {run.stdout[-2000:]}{run.stderr[-4000:]}")
        return {key: max(line[key] for line in lines) for key in lines[0]}


def pairs(leaves):
    """Of two different points that meet: the leaves are the first ones of the curve, a box of powers of two"""
    bits = leaves.bit_length() - 1
    met = 1
    for axis in range(3):
        met *= 3 * 2 ** ((bits + 2 - axis) // 3) - 2
    return met * POINTS_PER_LEAF**2 - leaves * POINTS_PER_LEAF


def rows_of(case, speed):
    kind, fabric, ranks, leaves = case
    found = simulate(ranks, leaves, fabric, speed)
    print(kind, fabric, found, flush=True)
    for row, seconds in (("new_inputs", "seconds"), ("first", "first_seconds"), ("standing", "standing_seconds")):
        name, ms = f"simgrid/{kind}/{fabric}/{row}/{ranks}", 1e3 * found[seconds]
        yield {"name": name, "run_name": name, "run_type": "iteration", "iterations": 1, "real_time": ms, "cpu_time": ms,
               "time_unit": "ms", "leaves": leaves, "pairs": pairs(ranks * leaves)} | {
                   key: found[key] for key in ("messages", "bytes", "tasks")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results" / "simgrid-scale.json")
    parser.add_argument("--most", type=int, default=GPUS_PER_NODE * NODES, help="ranks")
    parser.add_argument("--fabric", choices=FABRICS, help="this one alone")
    parser.add_argument("--jobs", type=int, default=1, help="simulations at once")
    arguments = parser.parse_args()
    speed = rates()
    commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude", "*"],
                            capture_output=True, text=True).stdout.strip()
    context = {"executable": "simgrid_scaling", "commit": commit, "machine": f"simulated {MODEL}s",
               "pairs/s": speed, "link_bytes/s": LINK, "reached": REACHED, "latency_s": LATENCY, "task_s": TASK,
               "copy_bytes/s": COPY, "gpus_per_node": GPUS_PER_NODE, "fabrics": FABRICS}
    cases = [(kind, fabric, ranks, leaves // ranks if kind == "strong" else leaves)
             for kind, leaves, least in (("weak", 64**3, 1), ("strong", 256**3, GPUS_PER_NODE)) for fabric in FABRICS
             if arguments.fabric in (None, fabric)
             for ranks in (2**n for n in range(10)) if least <= ranks <= arguments.most
             and (ranks > GPUS_PER_NODE or fabric != "1_link")]  # inside a node there is no difference
    cases.sort(key=lambda case: case[2])
    rows = []
    with ThreadPoolExecutor(arguments.jobs) as threads:
        for made in threads.map(lambda case: list(rows_of(case, speed)), cases):
            rows += made
            arguments.out.write_text(json.dumps({"context": context, "benchmarks": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
