#!/usr/bin/env bash
# bare_machine.sh [demo] [test] [mpi] [peers]: proves the README's two commands, those for MPI, and the comparison with
# packages, where nothing is installed: a minimal Debian 12 made by debootstrap, a plain clone of what is committed here,
# ./dev demo, ./dev test, ./dev mpi, ./dev bench --peers --quick (or those that are named); says what each took. Needs
# root, debootstrap and git; about 5 GB below TMPDIR while it runs. Not part of CI.
set -euo pipefail
repository=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
declare -A commands=([demo]="./dev demo" [test]="./dev test" [mpi]="./dev mpi" [peers]="./dev bench --peers --quick"
  [mpi_test]="ctest --preset mpi -R program_test|near_field_test_2") # for mpi, after it
declare -A shown=([demo]=. [test]='tests passed|^Total Test time' [mpi]=. [mpi_test]='Passed|tests passed' [peers]=.)
[ $# -gt 0 ] || set -- demo test mpi peers
parts=()
for part in "$@"; do
  [ -n "${commands[$part]:-}" ] || { echo "tests/bare_machine.sh: '$part' is not demo, test, mpi or peers" >&2; exit 2; }
  parts+=("$part")
  [ "$part" != mpi ] || parts+=(mpi_test)
done
[ "$(id -u)" = 0 ] || { echo "tests/bare_machine.sh: run it as root: debootstrap needs that" >&2; exit 2; }

work=$(mktemp -d)
machine=$work/machine
leave()
{
  local folder
  for folder in proc sys dev; do
    ! mountpoint --quiet "$machine/$folder" || umount --recursive "$machine/$folder"
  done
  rm -rf --one-file-system "$work"
}
trap leave EXIT

# in_machine COMMAND...: in the clone, with a fresh environment; CHROOT_OPTIONS go to chroot.
in_machine()
{
  chroot ${CHROOT_OPTIONS:-} "$machine" env --ignore-environment HOME=/root TERM=dumb \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    sh -c 'cd /root/nearfield && exec "$@"' sh "$@"
}

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' |
  head --lines=1)
echo "== a minimal Debian 12"
debootstrap --variant=minbase bookworm "$machine" "$mirror" >"$work/debootstrap.log" ||
  { tail -n 20 "$work/debootstrap.log" >&2; exit 1; }
# what the network here needs
cp --dereference /etc/resolv.conf /etc/hosts "$machine/etc/"
cp -r /usr/local/share/ca-certificates "$machine/usr/local/share/"
rm -f "$machine"/var/cache/apt/archives/*.deb
for folder in proc sys dev; do
  mount --rbind "/$folder" "$machine/$folder"
  mount --make-rslave "$machine/$folder"
done
git clone --quiet --no-local "$repository" "$machine/root/nearfield"
chmod 755 "$machine/root"

echo "== without the right to install: the line to type, and exit status 2"
status=0
CHROOT_OPTIONS=--userspec=nobody in_machine ./dev demo || status=$?
[ "$status" = 2 ] || { echo "exit status $status" >&2; exit 1; }

debs=$machine/var/cache/apt/archives
for part in "${parts[@]}"; do
  echo "== ${commands[$part]}"
  start=$SECONDS
  # shellcheck disable=SC2086 # several words
  in_machine ${commands[$part]} 2>"$work/log" | tee "$work/out" |
    { grep --line-buffered -E "${shown[$part]}" || true; } |
    while IFS= read -r line; do
      printf '%4d s  %s\n' $((SECONDS - start)) "$line"
    done || { tail -n 40 "$work/log" "$work/out" >&2; exit 1; }
  echo "== ${commands[$part]}: $((SECONDS - start)) s on $(nproc) cores; so far" \
    "$(find "$debs" -name '*.deb' | wc -l) packages, $(find "$debs" -name '*.deb' -printf '%s\n' |
      awk '{ bytes += $1 } END { print int(bytes / 1e6) }') MB downloaded"
done
venv=$machine/root/.cache/nearfield/peers/venv
[ ! -e "$venv" ] || echo "== in the virtual environment: $(xargs <"$venv/packages.txt"), $(du -sm "$venv" | cut -f1) MB"
