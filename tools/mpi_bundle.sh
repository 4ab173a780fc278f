#!/usr/bin/env bash
# mpi_bundle.sh [--gpus] DIR: starpu_mpi_bench in one directory, with the StarPU of ./dev starpu --mpi and the OpenMPI of
# this machine, its mpirun and its plug-ins for one machine, for another one where nothing can be installed: DIR/run,
# with the settings of bench/starpu_mpi_runs.sh. With --gpus, the StarPU of ./dev starpu-cuda --mpi, the tests of near
# fields over ranks, and the program: DIR/run tests RANKS, DIR/run sanitize, DIR/run gpus FOLDER RANKS... (the benchmark
# on GPUs), DIR/run nearfield RANKS OPTIONS... glibc, libstdc++ and the driver's libraries are that machine's, and must
# not be older than here.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail()
{
  echo "mpi_bundle.sh: $*" >&2
  exit 2
}

preset=mpi kind=starpu cuda=OFF build=build/mpi-bundle programs=(starpu_mpi_bench)
if [ "${1:-}" = --gpus ]; then
  preset=cuda kind=starpu-cuda cuda=ON build=build/cuda-mpi programs+=(starpu_mpi_near_field_test nearfield)
  shift
fi
[ $# = 1 ] || fail "name the directory to make"
bundle=$(realpath -m "$1")
[ ! -e "$bundle" ] || [ -z "$(ls -A "$bundle")" ] || fail "'$bundle' holds something: name an empty or a new directory"
"$root/tools/starpu.sh" "$kind" --mpi >&2
cd "$root"
cmake --preset "$preset" -B "$build" -DNEARFIELD_ENABLE_STARPU_MPI=ON -DNEARFIELD_BUILD_BENCH=ON \
  -DNEARFIELD_BUILD_TESTS="$cuda" -DNEARFIELD_ENABLE_CUDA="$cuda" >&2
cmake --build "$build" --parallel "$(nproc)" --target "${programs[@]/#/bin/}" >&2

# path NAME: where this OpenMPI has it
path()
{
  ompi_info --path "$1" --parsable | cut -d : -f 3
}
mkdir -p "$bundle"/{bin,lib/openmpi,share,etc}
cp "${programs[@]/#/$build/bin/}" bench/starpu_mpi_runs.sh "$bundle/bin"
cp -L "$(path bindir)/mpirun" "$(path bindir)/orted" "$bundle/bin"
cp -rL "$(path pkgdatadir)" "$bundle/share/openmpi"
# networks between machines would bring their drivers along
for plugin in "$(path pkglibdir)"/mca_*.so; do
  ldd "$plugin" | grep -qE 'lib(uc[pst]|fabric|psm|ibverbs|rdmacm)' || cp -L "$plugin" "$bundle/lib/openmpi"
done
# libcublas is StarPU's and unused: a stub stands in, as in tools/gpu_bundle.sh
theirs='^(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|util|cuda|nvidia-.*|cublas|cublasLt)\.so|ld-linux|linux-vdso)'
ldd "${programs[@]/#/$bundle/bin/}" "$bundle"/bin/{mpirun,orted} "$bundle"/lib/openmpi/*.so |
  sed -n 's/^\t\([^ ]*\) => \(\/[^ ]*\) .*/\1 \2/p' | sort -u -k 1,1 |
  while read -r name file; do
    [[ $name =~ $theirs ]] || cp -L "$file" "$bundle/lib/$name"
  done
if [ "$cuda" = ON ]; then
  starpu=$(echo "$bundle"/lib/libstarpu-1.*.so.*)
  cublas=$(objdump -p "$starpu" | sed -n 's/^ *NEEDED *\(libcublas\.so\..*\)/\1/p')
  [ -n "$cublas" ] || fail "$build has a StarPU without CUDA: remove that folder, then again"
  echo "$cublas { global: *; };" >"$bundle/version"
  cc -shared -fPIC -O1 -Wl,-soname,"$cublas" -Wl,--version-script="$bundle/version" \
    tools/cublas_stub.c -o "$bundle/lib/$cublas"
  rm "$bundle/version"
fi
strip --strip-unneeded "$bundle"/bin/{*_bench,*_test,nearfield,mpirun,orted} "$bundle"/lib/*.so* 2>/dev/null || true
cat >"$bundle/run" <<'RUN'
#!/usr/bin/env bash
# run FOLDER           bench/starpu_mpi_runs.sh with what lies here
# run tests RANKS      of near fields on GPUs, which ranks may share; 77: there is no GPU
# run sanitize         the same on one rank, under compute-sanitizer's memcheck
# run gpus FOLDER N... the benchmark on one process, then on N ranks with GPUs each, with columns of pinned memory and
#                      without; POINTS of a rank (16777216)
# run nearfield RANKS OPTIONS...
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LD_LIBRARY_PATH=$here/lib PATH=$here/bin:$PATH
export OPAL_PREFIX=$here OPAL_BINDIR=$here/bin OPAL_LIBDIR=$here/lib OPAL_PKGLIBDIR=$here/lib/openmpi
export OPAL_PKGDATADIR=$here/share/openmpi OPAL_DATADIR=$here/share OPAL_SYSCONFDIR=$here/etc
# ranks of one machine
export PMIX_MCA_pcompress=^zlib PMIX_MCA_pcompress_base_silence_warning=1 STARPU_SILENT=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_plm=isolated
chmod +x "$here"/bin/* # where a copy has lost it
ranks()
{
  local n=$1
  shift
  timeout "${TIMEOUT:-170}" "$here/bin/mpirun" --quiet --oversubscribe --bind-to none -np "$n" "$@"
}
case ${1:-} in
  tests | sanitize | gpus | nearfield)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 STARPU_HOME=${STARPU_HOME:-$(mktemp -d)}
    export STARPU_WORKERS_NOBIND=1
    ;;
esac
case ${1:-} in
  tests)
    export STARPU_COMM_STATS=1 NEARFIELD_TEST_GPUS=1 STARPU_NCPU=1
    ranks "${2:-1}" "$here/bin/starpu_mpi_near_field_test" --gtest_filter="${FILTER:-distributed_near_field*:*on_a_gpu*}"
    exit
    ;;
  sanitize)
    PATH=$PATH:/usr/local/cuda/bin
    command -v compute-sanitizer >/dev/null || {
      echo "SKIPPED: no compute-sanitizer in PATH or /usr/local/cuda/bin"
      exit 77
    }
    export STARPU_COMM_STATS=1 NEARFIELD_TEST_GPUS=1 STARPU_NCPU=1
    ranks 1 compute-sanitizer --tool memcheck --error-exitcode 1 --report-api-errors no \
      "$here/bin/starpu_mpi_near_field_test" --gtest_filter="${FILTER:-distributed_near_field*:*on_a_gpu*}"
    exit
    ;;
  nearfield)
    n=$2
    shift 2
    ranks "$n" "$here/bin/nearfield" "$@"
    exit
    ;;
  gpus)
    folder=$2
    shift 2
    mkdir -p "$folder"
    export STARPU_NCPU=${WORKERS:-8} GLIBC_TUNABLES=${GLIBC_TUNABLES-glibc.malloc.hugetlb=1} # docs/performance.md
    context="machine=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1), $(nproc) cores"
    run=(--weak "${POINTS:-16777216}" --repetitions "${REPETITIONS:-9}" --context "$context")
    for columns in gpus pinned; do
      CUDA_VISIBLE_DEVICES=0 ranks 1 "$here/bin/starpu_mpi_bench" "${run[@]}" --$columns --one-process 1 \
        --out "$folder/$columns-one_process.json" || exit
    done
    for n in "$@"; do
      [ "$n" -gt 1 ] || export CUDA_VISIBLE_DEVICES=0
      for columns in gpus pinned; do
        ranks "$n" "$here/bin/starpu_mpi_bench" "${run[@]}" --$columns --out "$folder/$columns-$n.json" || exit
      done
      unset CUDA_VISIBLE_DEVICES
    done
    exit
    ;;
esac
PROGRAM=$here/bin/starpu_mpi_bench MPIRUN=$here/bin/mpirun exec "$here/bin/starpu_mpi_runs.sh" "$@"
RUN
chmod +x "$bundle/run"
size=$(du -sm "$bundle" | cut -f 1)
[ "$size" -le 60 ] || fail "$bundle has $size MiB, more than 60"
echo "$bundle: $size MiB; there: ./run FOLDER, and here bench/starpu_mpi_table.py FOLDER OUT.json"
