#!/usr/bin/env bash
# starpu.sh starpu|starpu-cuda|starpu-simgrid [--mpi] [PREFIX]: StarPU for up to 128 CPU workers from Debian's source
# package, for the ./dev command of that name (starpu-simgrid: ./dev simgrid). starpu-cuda needs nvcc, no GPU and no
# driver; starpu-simgrid simulates, and needs SimGrid. Where there is mpicc, what is built has StarPU's part for MPI. A
# complete prefix is left alone, and a prefix appears only when it is complete: so --mpi, where the usual one was built
# without MPI, means another one beside it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kind=$1
shift
needs_mpi=
if [ "${1:-}" = --mpi ]; then
  needs_mpi=yes
  shift
fi
version=1.4.10
archive=starpu_$version+dfsg.orig.tar.gz
sha256=6b3bb9ec0d79f937882148b2da09ae6cb0ad4d1e83a104be45723dd70eba99c3
patch=$root/tools/starpu-$version.patch
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nearfield

fail()
{
  echo "./dev $kind: $*" >&2
  exit 2
}

what="StarPU $version"
own_name=starpu-$version-$(sha256sum "$patch" | cut -c 1-8) # built anew when the patch changes
if [ "$kind" = starpu-cuda ]; then
  nvcc=${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
  [ -x "$nvcc" ] || fail "no nvcc in PATH, CUDACXX or /usr/local/cuda/bin: install NVIDIA's CUDA toolkit, or set CUDACXX"
  # nvcc itself may be a link or a script, elsewhere.
  cuda=$(realpath "$("$nvcc" --dryrun -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')")
  cuda_version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
  what+=" with CUDA $cuda_version"
  own_name+=-cuda-$cuda_version
  preset=cuda
  options=(--enable-cuda --with-cuda-dir="$cuda" --enable-maxcudadev=8 ac_cv_lib_cublasLt_cublasLtCreate=no
    ac_cv_lib_cusparse_cusparseCreate=no ac_cv_lib_cusolver_cusolverDnCreate=no)
elif [ "$kind" = starpu-simgrid ]; then
  what+=" with SimGrid"
  own_name+=-simgrid
  preset=simgrid
  options=(--disable-cuda --enable-simgrid)
else
  preset=release
  options=(--disable-cuda)
fi

mpi_of()
{
  [ -e "$1/lib/pkgconfig/starpumpi-1.4.pc" ]
}
if [ -n "$needs_mpi" ] && [ -d "$cache/$own_name" ] && ! mpi_of "$cache/$own_name"; then own_name+=-mpi; fi
prefix=$(realpath -m "${1:-$cache/$own_name}")
if [ -n "$needs_mpi" ] && ! mpi_of "$prefix" && ! command -v mpicc >/dev/null; then
  fail "no mpicc: ./dev install libopenmpi-dev openmpi-bin"
fi
if [ "$kind" = starpu-simgrid ]; then
  command -v smpicc >/dev/null || fail "no smpicc: ./dev install libsimgrid-dev"
  # smpirun loads the program once for each rank, with a StarPU of its own
  options+=(--enable-mpi --with-mpicc="$(command -v smpicc)" --disable-shared --enable-static)
  flags="-O1 -fPIC"
else
  options+=(--disable-static)
  if command -v mpicc >/dev/null; then options+=(--enable-mpi); else options+=(--disable-mpi); fi
  flags=-O2
fi
if [ ! -e "$prefix/lib/pkgconfig/starpu-1.4.pc" ]; then
  [ ! -e "$prefix" ] || [ -z "$(ls -A "$prefix")" ] ||
    fail "'$prefix' holds something else: name an empty or a new directory"
  mkdir -p "$(dirname "$prefix")"
  work=$(mktemp -d "$(dirname "$prefix")/.starpu.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  log=$work/log
  mkdir "$work"/{lists,lists/partial,cache,cache/archives,cache/archives/partial,source,build}

  # The mirror that the system's apt uses, in lists of our own; apt checks Debian's signature.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n 1) || true
  [ -n "$mirror" ] || fail "apt knows no Debian mirror: run 'apt-get update' as root, on Debian"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror sid main" \
    >"$work/sources.list"
  private=(-oDir::State::Lists="$work/lists" -oDir::Cache="$work/cache"
    -oDir::Etc::SourceList="$work/sources.list" -oDir::Etc::SourceParts=/nonexistent
    -oAPT::Sandbox::User="$(id -un)")
  apt-get "${private[@]}" -qq update --error-on=any >"$log" 2>&1 ||
    fail "Debian's sid is out of reach: $(tail -n 1 "$log")"
  package=$(apt-cache "${private[@]}" showsrc --only-source starpu |
    sed -n "s/^Version: \($version+dfsg-.*\)/starpu=\1/p" | tail -n 1) || true
  [ -n "$package" ] || fail "Debian's sid has no StarPU $version any more: raise the version in tools/starpu.sh"
  (cd "$work" && apt-get "${private[@]}" -qq source --download-only "$package") >"$log" 2>&1 ||
    fail "StarPU's source cannot be fetched: $(tail -n 1 "$log")"
  echo "$sha256  $work/$archive" | sha256sum --check --quiet - >&2 || fail "$archive has another SHA-256"

  echo "building $what into $prefix (4 minutes on two cores)" >&2
  tar -xf "$work/$archive" -C "$work/source" --strip-components=1
  # --disable-sc-hypervisor, which would be in keeping here, turns it on.
  (
    cd "$work/source" && patch -p1 <"$patch" && cd "$work/build" &&
      ../source/configure --prefix="$prefix" "${options[@]}" --enable-maxcpus=128 --enable-maxbuffers=16 \
        --disable-opencl --disable-fortran --disable-openmp --disable-starpufft --disable-starpurm \
        --disable-starpupy --disable-mlr --disable-socl \
        --disable-build-doc --disable-build-doc-pdf --disable-build-examples --disable-build-tests \
        CFLAGS="$flags" &&
      make -j"$(nproc)" && make install DESTDIR="$work/root"
  ) >"$log" 2>&1 || {
    tail -n 30 "$log" >&2
    cp "$log" "$prefix.log"
    fail "the build failed: $prefix.log"
  }
  rmdir "$prefix" 2>/dev/null || true
  mv -T "$work/root$prefix" "$prefix"
fi
[ -z "$needs_mpi" ] || mpi_of "$prefix" || fail "'$prefix' was built without MPI: name another directory"

# Where the presets look; a folder configured with another StarPU would keep that one.
mkdir -p "$root/build"
ln -sfn "$prefix" "$root/build/$kind"
fresh=
[ ! -e "$root/build/$preset/CMakeCache.txt" ] || fresh=" --fresh"
echo "$what: $prefix"
echo "next: cmake$fresh --preset $preset && cmake --build --preset $preset"
