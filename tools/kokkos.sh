#!/usr/bin/env bash
# kokkos.sh SOURCE [PREFIX]: installs Kokkos 4 or 5 from a source folder for the benchmarks, for ./dev kokkos:
# PREFIX/cpu with Serial and OpenMP, and, where there is nvcc, PREFIX/gpu with Serial and CUDA for sm_90. Two, since
# nvcc would compile the CPU's code too, and worse. SOURCE is not changed. What is complete is left alone.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nearfield

fail()
{
  echo "./dev kokkos: $*" >&2
  exit 2
}

[ $# -ge 1 ] || fail "name the source folder of Kokkos 4 or 5: ./dev kokkos SOURCE [PREFIX]"
source=$(realpath -m "$1")
[ -e "$source/core/src/Kokkos_Core.hpp" ] || fail "'$source' is no source folder of Kokkos"
# number NAME: MAJOR, MINOR or PATCH of its version.
number()
{
  sed -n "s/^ *set *(Kokkos_VERSION_$1 \([0-9]*\)).*/\1/Ip" "$source/CMakeLists.txt" | head -n 1
}
version=$(number MAJOR).$(number MINOR).$(number PATCH)
[[ $version =~ ^[45]\. ]] || fail "'$source' has Kokkos $version: 4 or 5 is needed"
# The widest vectors that the CPU has, or those of NEARFIELD_KOKKOS_ARCH, which may be another machine's.
flags=" $(sed -n 's/^flags[^:]*://p' /proc/cpuinfo | head -n 1) "
arch=NATIVE
[[ $flags != *" avx2 "* ]] || arch=HSW
[[ $flags != *" avx512vl "* ]] || arch=SKX
arch=${NEARFIELD_KOKKOS_ARCH:-$arch}
prefix=$(realpath -m "${2:-$cache/kokkos-$version-$arch}")

# build KIND OPTION...: into PREFIX/KIND, which appears only when it is complete.
build()
{
  local kind=$1
  shift
  [ ! -e "$prefix/$kind/lib/cmake/Kokkos/KokkosConfig.cmake" ] || return 0
  [ ! -e "$prefix/$kind" ] || fail "'$prefix/$kind' holds something else: name another prefix"
  mkdir -p "$prefix"
  work=$(mktemp -d "$prefix/.$kind.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  echo "building Kokkos $version into $prefix/$kind" >&2
  {
    cmake -S "$source" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix/$kind" \
      -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
      -DKokkos_ENABLE_SERIAL=ON "$@" &&
      cmake --build "$work/build" --parallel "$(nproc)" &&
      DESTDIR="$work/root" cmake --install "$work/build"
  } >"$work/log" 2>&1 || {
    grep -m 5 -E 'error|Error' "$work/log" >&2
    cp "$work/log" "$prefix/$kind.log"
    fail "the build failed: $prefix/$kind.log"
  }
  mv -T "$work/root$prefix/$kind" "$prefix/$kind"
  rm -rf "$work"
}

build cpu -DKokkos_ENABLE_OPENMP=ON -DKokkos_ARCH_"$arch"=ON
nvcc=${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ -x "$nvcc" ]; then
  # CMake 3.25 does not know that nvcc 12 supports C++20, which Kokkos 5 asks for
  build gpu -DKokkos_ENABLE_CUDA=ON -DKokkos_ARCH_HOPPER90=ON -DKokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE=ON \
    -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA20_STANDARD_COMPILE_OPTION=-std=c++20 \
    -DCMAKE_CUDA20_EXTENSION_COMPILE_OPTION=-std=c++20
else
  echo "no nvcc in PATH, CUDACXX or /usr/local/cuda/bin: for the CPU only" >&2
fi

mkdir -p "$root/build" # where the presets look
ln -sfn "$prefix" "$root/build/kokkos"
echo "Kokkos $version: $prefix"
echo "next: cmake --preset bench && cmake --build --preset bench (with CUDA: the preset cuda)"
