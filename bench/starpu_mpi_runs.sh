#!/usr/bin/env bash
# starpu_mpi_runs.sh FOLDER: starpu_mpi_bench on 1, 2, 4 ... ranks of this machine, each beside one process with as many
# workers; a JSON file each, which starpu_mpi_table.py makes one of. In turns, so that all see the same machine.
#
#   PROGRAM  build/mpi/bin/starpu_mpi_bench
#   MPIRUN   mpirun
#   CORES    of the machine, which the ranks share evenly: all
#   RANKS    1 2 4 8 16, as many as there are cores
#   WORKERS  of a rank: 1. The rank's other cores, if there are any, are for StarPU-MPI's thread and the main one
#   WEAK     points of a rank: 1000000
#   STRONG   points of all: 4194304
#   TURNS    5
#   CONTEXT  machine=..., for the JSON
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${PROGRAM:-$root/build/mpi/bin/starpu_mpi_bench}
folder=${1:?name a folder for JSON files}
cores=${CORES:-$(nproc)}
context=${CONTEXT:-machine=$(sed -n '/^model name/{s/^[^:]*: //p;q}' /proc/cpuinfo), $cores cores}
mkdir -p "$folder"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export STARPU_HOME=$home OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export STARPU_WORKERS_GETBIND=1 # the cores that mpirun gives, not the first ones of the machine
export OMPI_MCA_mpi_yield_when_idle=1 # as the program does
export GLIBC_TUNABLES=${GLIBC_TUNABLES-glibc.malloc.hugetlb=1} # docs/performance.md

# run RANKS CORES WORKERS OPTIONS...
run()
{
  local ranks=$1 each=$2
  export STARPU_NCPU=$3
  shift 3
  "${MPIRUN:-mpirun}" -np "$ranks" --map-by "slot:PE=$each" --use-hwthread-cpus --bind-to hwthread \
    "$program" --repetitions 5 --context "$context" "$@" 2>"$home/log" >&2 || {
    cat "$home/log" >&2
    exit 1
  }
}

for ((turn = 0; turn < ${TURNS:-5}; ++turn)); do
  for ranks in ${RANKS:-1 2 4 8 16}; do
    [ "$ranks" -le "$cores" ] || continue
    each=$((cores / ranks))
    workers=$((${WORKERS:-1} < each ? ${WORKERS:-1} : each))
    for kind in weak strong; do
      points=${WEAK:-1000000}
      [ $kind = weak ] || points=${STRONG:-4194304}
      run "$ranks" "$each" "$workers" --$kind "$points" --out "$folder/$kind-$ranks-$turn.json"
      run 1 "$((each * ranks))" "$((workers * ranks))" --$kind "$points" --one-process "$ranks" \
        --out "$folder/$kind-$ranks-one_process-$turn.json"
    done
    echo "turn $turn: $ranks ranks"
  done
done
