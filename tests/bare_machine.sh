#!/usr/bin/env bash
# Proves the README's two commands where nothing is installed: a minimal Debian 12 made by debootstrap,
# a plain clone of what is committed here, ./dev demo, ./dev test; then says what they took. Needs root,
# debootstrap and git; about 3 GB below TMPDIR while it runs. Not part of CI.
set -euo pipefail
repository=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
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
  { tail -20 "$work/debootstrap.log" >&2; exit 1; }
cp --dereference /etc/resolv.conf /etc/hosts "$machine/etc/"
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

echo "== ./dev demo"
start=$SECONDS
in_machine ./dev demo 2>"$work/demo.log" | while IFS= read -r line; do
  printf '%4d s  %s\n' $((SECONDS - start)) "$line"
done || { tail -40 "$work/demo.log" >&2; exit 1; }
demo=$((SECONDS - start))
download=$(du -cm "$machine"/var/cache/apt/archives/*.deb | tail -1 | cut -f1)
packages=$(find "$machine/var/cache/apt/archives" -name '*.deb' | wc -l)

echo "== ./dev test"
start=$SECONDS
in_machine ./dev test >"$work/test.out" 2>"$work/test.log" ||
  { tail -40 "$work/test.log" "$work/test.out" >&2; exit 1; }
grep -E 'tests passed|^Total Test time' "$work/test.out"

echo "== $packages packages, $download MB downloaded; ./dev demo $demo s, ./dev test $((SECONDS - start)) s" \
  "on $(nproc) cores"
