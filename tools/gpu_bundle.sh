#!/usr/bin/env bash
# gpu_bundle.sh DIR, for ./dev gpu-bundle: builds the preset 'cuda' and collects in DIR what a machine with
# an NVIDIA driver, and nothing else installed, needs to run it: DIR/run. glibc, libstdc++ and the driver's
# libraries are that machine's, and must not be older than here.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/cuda
limit=120 # MiB

fail()
{
  echo "./dev gpu-bundle: $*" >&2
  exit 2
}

[ $# = 1 ] || fail "name the directory to make: ./dev gpu-bundle DIR"
bundle=$(realpath -m "$1")
if [ -e "$bundle" ] && [ ! -e "$bundle/tests.list" ] && [ -n "$(ls -A "$bundle")" ]; then
  fail "'$bundle' holds something else: name an empty or a new directory"
fi
"$root/tools/starpu.sh" starpu-cuda >&2
cd "$root"
# shellcheck disable=SC2086 # several options
cmake --preset cuda ${NEARFIELD_CMAKE_OPTIONS:-} >&2
cmake --build --preset cuda --parallel "$(nproc)" --target tests_gpu tests_starpu {app,bench,examples}/all >&2

# Complete, or not there.
made=$bundle
bundle=$made.partial
trap 'rm -rf "$made.partial"' EXIT
rm -rf "$bundle"
mkdir -p "$bundle"/{bin,lib}
ctest --test-dir "$build" --show-only=json-v1 -L '^(gpu|starpu)$' >"$bundle/tests.json"
cmake -D JSON="$bundle/tests.json" -D LIST="$bundle/tests.list" -P tools/gpu_bundle_tests.cmake
rm "$bundle/tests.json"
[ -s "$bundle/tests.list" ] || fail "no test has the label gpu or starpu"

mapfile -t programs < <(cut -d '|' -f 3 "$bundle/tests.list" | cut -d ' ' -f 1 | sort -u)
cp "${programs[@]/#/$build/bin/}" "$build"/bin/{*_bench,quick_rates,nearfield} "$bundle/bin"

# libcublas is StarPU's and unused: a stub stands in, with what StarPU asks of it.
theirs='^(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|cuda|nvidia-.*|cublas|cublasLt)\.so|ld-linux|linux-vdso)'
missing=$(ldd "$bundle"/bin/* | grep 'not found' | grep -v 'libcuda\.so' | sort -u) || true
[ -z "$missing" ] || fail "not found here either: $missing"
ldd "$bundle"/bin/* | sed -n 's/^\t\([^ ]*\) => \(\/[^ ]*\) .*/\1 \2/p' | sort -u -k 1,1 |
  while read -r name file; do
    [[ $name =~ $theirs ]] || cp -L "$file" "$bundle/lib/$name"
  done
starpu=$(echo "$bundle"/lib/libstarpu-1.*.so.*)
cublas=$(objdump -p "$starpu" | sed -n 's/^ *NEEDED *\(libcublas\.so\..*\)/\1/p')
[ -n "$cublas" ] || fail "build/cuda has a StarPU without CUDA: cmake --fresh --preset cuda, then again"
echo "$cublas { global: *; };" >"$bundle/version"
cc -shared -fPIC -O1 -Wl,-soname,"$cublas" -Wl,--version-script="$bundle/version" \
  tools/cublas_stub.c -o "$bundle/lib/$cublas"
rm "$bundle/version"
lacking=$(comm -23 \
  <(nm -D --undefined-only "$starpu" | sed -n 's/^ *U \(cublas[^@]*\)@.*/\1/p' | sort) \
  <(nm -D --defined-only "$bundle/lib/$cublas" | sed -n 's/.* T \([^@]*\)@.*/\1/p' | sort))
[ -z "$lacking" ] || fail "tools/cublas_stub.c lacks $lacking, which StarPU needs"
strip --strip-unneeded "$bundle"/bin/* "$bundle"/lib/*

# a font for the demo's picture
mkdir "$bundle/fonts"
cp /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf "$bundle/fonts" || echo "no DejaVu here: cairo's own font" >&2

cp tools/gpu_bundle_run.sh "$bundle/run"
# cached NAME: what CMake was configured with.
cached()
{
  sed -n "s/^$1:[^=]*=//p" "$build/CMakeCache.txt"
}
commit=$(git -c safe.directory='*' describe --always --dirty --exclude '*' 2>/dev/null || echo unknown)
cat >"$bundle/about" <<TEXT
nearfield $commit
built with $(basename "$starpu"), CUDA $("$(cached CMAKE_CUDA_COMPILER)" --version |
  sed -n 's/.*release \([0-9.]*\),.*/\1/p'), for sm_$(cached CMAKE_CUDA_ARCHITECTURES)
TEXT

tar -C "$bundle" -czf "$bundle/programs.tar.gz" bin lib # run unpacks it
rm -rf "$bundle"/{bin,lib}
size=$(du -sm "$bundle" | cut -f 1)
[ "$size" -le "$limit" ] ||
  fail "$made would have $size MiB, more than $limit"
rm -rf "$made"
mv -T "$bundle" "$made"
echo "$made: $size MiB; there: ./run tests, ./run sanitize, ./run bench, ./run nearfield OPTIONS"
