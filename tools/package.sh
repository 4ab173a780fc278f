#!/usr/bin/env bash
# Debian packages of a configured and built folder (preset package), then what must hold of them: what lies where,
# who needs whom, and that a program builds and runs against them, unpacked into a folder and not installed.
#
#   tools/package.sh BUILD
set -euo pipefail
build=$(realpath "$1")
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail()
{
  echo "tools/package.sh: $*" >&2
  exit 1
}

# expect PACKAGE PATTERN...: its files match each of the patterns
expect()
{
  local package=$1 pattern
  shift
  for pattern in "$@"; do
    grep -qE "$pattern" <<<"${files[$package]}" || fail "$package has no $pattern"
  done
}

# has FIELD PACKAGE PATTERN
has()
{
  [[ $(dpkg-deb --field "${file[$2]}" "$1") =~ $3 ]] ||
    fail "$1 of $2 is '$(dpkg-deb --field "${file[$2]}" "$1")', not $3"
}

rm -rf "$build/packages"
(cd "$build" && cpack -G DEB >packages.log 2>&1) || fail "cpack failed: $(tail -n 20 "$build/packages.log")"

declare -A file files
for deb in "$build"/packages/*.deb; do
  package=$(dpkg-deb --field "$deb" Package)
  file[$package]=$deb
  files[$package]=$(dpkg-deb --contents "$deb" | sed 's/^.* \.\//\//; s/ -> .*//')
done
library=$(printf '%s\n' "${!file[@]}" | grep -E '^libnearfield[0-9]') || fail "no package of shared libraries: ${!file[*]}"
version=${library#libnearfield}

expect "$library" "/usr/lib/.*/libnearfield_kernels\.so\.$version$" "/libnearfield_starpu\.so\.$version\.[0-9]+$"
expect libnearfield-dev /usr/include/nearfield/p2p/p2p.hpp '/libnearfield_tree\.so$' /pkgconfig/nearfield-kernels.pc \
  /cmake/nearfield/nearfield-config.cmake /cmake/nearfield/interaction/isa.cpp.in
expect nearfield '/usr/bin/nearfield$'
for package in "$library" libnearfield-dev nearfield; do
  expect "$package" "/usr/share/doc/$package/copyright$"
done
! grep -qE '\.(hpp|a|so)$' <<<"${files[$library]}" || fail "$library holds what belongs to libnearfield-dev"
! grep -qE '\.a$' <<<"${files[libnearfield-dev]}" || fail "libnearfield-dev holds static libraries"
has Depends "$library" 'libc6 .*libstarpu'
has Depends libnearfield-dev "$library \(= .*libxsimd-dev"
has Depends nearfield "libcairo2.*$library \(= |$library \(= .*libcairo2"
[[ $(dpkg-deb --info "${file[$library]}" shlibs) =~ libnearfield_kernels\ $version ]] || fail "$library has no shlibs"
[[ $(dpkg-deb --info "${file[$library]}" triggers) =~ ldconfig ]] || fail "$library does not run ldconfig"
has Section "$library" '^libs$'
has Section libnearfield-dev '^libdevel$'

root=$build/packages/root
for package in "${!file[@]}"; do dpkg-deb --extract "${file[$package]}" "$root"; done
libraries=$(dirname "$(find "$root" -name "libnearfield_kernels.so.$version")")
for binary in "$root/usr/bin/nearfield" "$libraries"/*.so; do
  ! readelf -d "$binary" | grep -E 'R(UN)?PATH' || fail "$binary has a run path"
done

export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
"$root/usr/bin/nearfield" info >/dev/null || fail "the program does not start"
cmake -S "$source/tests/consumer/project" -B "$build/packages/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$root/usr" \
  -DCMAKE_BUILD_TYPE=Debug -DCOMPONENTS=core,kernels,tree,search,cuda,adapters,io,starpu -DEXPECT_CUDA=OFF >/dev/null
cmake --build "$build/packages/consumer" >/dev/null
"$build/packages/consumer/mine" || fail "the consumer fails"
rm -rf "$root" "$build/packages/consumer" "$build/packages/_CPack_Packages"
printf '%s\n' "${file[@]}"
