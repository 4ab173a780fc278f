#!/usr/bin/env bash
# gpu_folder.sh DIR: collects in DIR what packages need on a GPU machine with PyTorch, JAX, Python 3.12 and no network:
# there, DIR/run [options of compare.py] times them beside nearfield. Needs nvcc, and ./dev starpu-cuda before.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(realpath -m "$1")
packages=(vesin==0.6.2 nvalchemi-toolkit-ops==0.5.0 warp-lang==1.19.0 jax-md==0.2.29 jraph==0.0.6.dev0 absl-py==2.5.1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --preset cuda -S "$root" >&2
cmake --build "$root/build/cuda" --target nearfield_peers --parallel "$(nproc)" >&2
python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 --implementation cp \
  --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
  --dest "$work" "${packages[@]}"
mkdir -p "$work/site" "$folder/lib"
for wheel in "$work"/*.whl; do
  # warp-clang compiles for CPUs only
  unzip -q "$wheel" -x 'warp/bin/warp-clang.so' 'warp/examples/*' 'warp/tests/*' -d "$work/site" 2>/dev/null ||
    [ $? = 11 ] # the other wheels have none of these
done
# Warp is larger than what one call carries
mkdir "$work/warp"
mv "$work"/site/warp{,_lang-*} "$work/warp"
tar -C "$work/site" -c . | xz -6 >"$folder/site.tar.xz"
rm -rf "$folder"_warp_?
tar -C "$work/warp" -c . | xz -T0 -1 | split -b 31M -d -a 1 - "$work/part_"
for part in "$work"/part_?; do
  mkdir -p "${folder}_warp_${part: -1}"
  mv "$part" "${folder}_warp_${part: -1}/part"
done

# nearfield without StarPU, which GPU rows do not use: its libraries would need cuBLAS
library=$root/build/cuda/lib
g++ -shared -fPIC -O3 -std=c++20 -o "$folder/lib/libnearfield_peers.so" "$root/bench/peers/nearfield_peers.cpp" \
  -I"$root"/{bench,core/include,kernels/include,tree/include,search/include} -DNEARFIELD_WITH_AVX2 \
  -L"$library" -lbench_main -lbenchmark -lnearfield_{cuda,search,tree,kernels,core} -lbaselines_cpu_search_{scalar,avx2} \
  -Wl,--no-undefined -Wl,-rpath,"\$ORIGIN"
LD_LIBRARY_PATH=$library ldd "$folder/lib/libnearfield_peers.so" |
  sed -n 's/^\t\(lib\(nearfield\|baselines\|benchmark\|cudart\)[^ ]*\) => \([^ ]*\).*/\1 \3/p' |
  while read -r name file; do cp -L "$file" "$folder/lib/$name"; done
strip --strip-unneeded "$folder"/lib/*

commit=$(git -C "$root" describe --always --dirty --exclude '*' 2>/dev/null || echo unknown)
cat >"$folder/run" <<TEXT
#!/usr/bin/env bash
# run unpack: keeps what lies in ${folder##*/}_warp_? for later; run [options of compare.py]: times
set -euo pipefail
folder=\$(cd "\$(dirname "\${BASH_SOURCE[0]}")" && pwd)
site=\${TMPDIR:-/tmp}/nearfield_peers_site
mkdir -p "\$site"
for part in "\$folder"_warp_?; do
  [ ! -e "\$part/part" ] || cp "\$part/part" "\$site/\${part: -6}"
done
[ "\${1:-}" != unpack ] || exit 0
[ -d "\$site/vesin" ] || tar -C "\$site" -xJf "\$folder/site.tar.xz"
[ -d "\$site/warp" ] || [ ! -e "\$site/warp_0" ] || cat "\$site"/warp_? | tar -C "\$site" -xJ
export PYTHONPATH=\$site LD_LIBRARY_PATH=\$folder/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH} COMMIT=$commit
exec python3 bench/peers/compare.py --library "\$folder/lib/libnearfield_peers.so" --only vesin_gpu nvalchemi_gpu jax_md_gpu "\$@"
TEXT
chmod +x "$folder/run"
du -sh "$folder"*
