#!/usr/bin/env bash
# check_guix.sh, for ./dev check-guix: real Guix, out of Debian sid's package, reads guix.scm and every file
# of guix/. Nothing is installed: Guix and what it needs are unpacked below ~/.cache/nearfield, once (120 MB
# to fetch, 700 MB on disk), and run there in namespaces of their own. Debian on x86-64; no root, where users
# may have namespaces. Remove that folder to have a newer Guix.
set -euo pipefail
script=$(realpath "${BASH_SOURCE[0]}")
repository=$(dirname "$(dirname "$script")")
debian_root=${XDG_CACHE_HOME:-$HOME/.cache}/nearfield/guix

fail()
{
  echo "./dev check-guix: $*" >&2
  exit 2
}

# Debian's package guix and its dependencies, as files: no script of theirs runs. Complete, or not there.
fetch_guix()
{
  local work mirror private package
  work=$(mktemp -d "$(dirname "$debian_root")/.guix.XXXXXX")
  # shellcheck disable=SC2064 # now, as 'work' is local
  trap "rm -rf '$work'" EXIT
  mkdir -p "$work"/{lists/partial,cache/archives/partial,root/usr/bin}
  : >"$work/status" # nothing counts as installed

  # The mirror that the system's apt uses, in lists of our own; apt checks Debian's signature.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n 1) || true
  [ -n "$mirror" ] || fail "apt knows no Debian mirror: run 'apt-get update' as root, on Debian"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror sid main" \
    >"$work/sources.list"
  private=(-oDir::State="$work" -oDir::State::Lists="$work/lists" -oDir::State::status="$work/status"
    -oDir::Cache="$work/cache" -oDir::Etc::SourceList="$work/sources.list"
    -oDir::Etc::SourceParts=/nonexistent -oDir::Etc::Preferences=/nonexistent
    -oDir::Etc::PreferencesParts=/nonexistent -oAPT::Sandbox::User="$(id -un)")
  echo "fetching Guix from Debian sid into $debian_root" >&2
  apt-get "${private[@]}" -qq update --error-on=any >"$work/log" 2>&1 ||
    fail "Debian's sid is out of reach: $(tail -n 1 "$work/log")"
  apt-get "${private[@]}" -qq install --yes --no-install-recommends --download-only guix libc-bin >"$work/log" 2>&1 ||
    fail "Debian's sid gives no package guix: $(tail -n 1 "$work/log")"

  for package in "$work"/cache/archives/*.deb; do
    dpkg-deb --extract "$package" "$work/root"
  done
  for folder in bin lib lib64 sbin; do
    ln -s "usr/$folder" "$work/root/$folder"
  done
  mkdir -p "$work"/root/{dev,gnu,nearfield,proc,root,tmp,var/guix}
  echo "root:x:0:0:root:/root:/bin/sh" >"$work/root/etc/passwd"
  echo "root:x:0:" >"$work/root/etc/group"
  rm -rf "$debian_root"
  mv -T "$work/root" "$debian_root"
}

# guix ARGUMENTS...: that Guix, in its own root, with the stand-ins for packages of other channels.
guix()
{
  env --ignore-environment HOME=/root PATH=/usr/bin LC_ALL=C GUILE_AUTO_COMPILE=0 \
    GUIX_PACKAGE_PATH=/nearfield/tools/check_guix \
    /usr/bin/unshare --root="$debian_root" --wd=/nearfield /usr/bin/guix "$@"
}

# ok WHAT, for each check that held.
ok()
{
  echo "ok: $*"
}

# must WHAT COMMAND...: its errors are shown, and end everything.
must()
{
  local what=$1
  shift
  "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    echo "FAILED: $what" >&2
    exit 1
  }
  ok "$what"
}

# Every file, loaded as Guix's commands load it.
load()
{
  rm -rf "$debian_root/root/.cache/guile" # a file broken within its second would pass for the one compiled
  guix repl -- tools/check_guix.scm
}

# derivations OPTION...: what Guix would build, with all inputs down to the bootstrap binaries.
derivations()
{
  guix build --no-grafts --derivations "$@"
}

# expression VARIANT: what a user types for a package beside the one of guix.scm.
expression()
{
  echo "(begin (load \"guix.scm\") $1)"
}

shell()
{
  guix shell --no-grafts --dry-run --pure -m "guix/manifest-$1.scm"
}

# What needs no network.
lint()
{
  local said
  said=$(guix lint --no-network -e "$(expression nearfield)" 2>&1) || { echo "$said"; return 1; }
  [ -z "$said" ] || { echo "$said"; return 1; }
}

# broken FILE RIGHT WRONG COMMAND...: with that one word of the file wrong, the command fails and says so.
broken()
{
  local file=$1 right=$2 wrong=$3 kept
  local path=$debian_root/nearfield/$file
  shift 3
  kept=$(<"$path")
  sed -i "s|$right|$wrong|" "$path"
  if [ "$(<"$path")" = "$kept" ]; then
    echo "FAILED: $file has no $right to break" >&2
    exit 1
  fi
  if "$@" >"$log" 2>&1; then
    echo "FAILED: $file with $wrong in place of $right passes: $*" >&2
    exit 1
  fi
  if ! grep -qF -- "${wrong//\"/}" "$log"; then
    cat "$log" >&2
    echo "FAILED: $file with $wrong in place of $right fails, but not for that" >&2
    exit 1
  fi
  printf '%s\n' "$kept" >"$path"
  ok "$file with $wrong is refused: $(grep -F -- "${wrong//\"/}" "$log" | tail -n 1)"
}

# In namespaces of its own: what is mounted here, written to the store and left running ends with it.
inside()
{
  local folder device variant version
  log=$debian_root/tmp/log
  mount --bind "$debian_root" "$debian_root"
  mount -t proc proc "$debian_root/proc"
  for folder in dev gnu nearfield root tmp var/guix; do
    mount -t tmpfs tmpfs "$debian_root/$folder"
  done
  for device in null zero random urandom full; do
    : >"$debian_root/dev/$device"
    mount --bind "/dev/$device" "$debian_root/dev/$device"
  done
  ln -s /proc/self/fd "$debian_root/dev/fd"
  tar -x --no-same-owner -C "$debian_root/nearfield"

  # It computes derivations, and builds nothing.
  env --ignore-environment HOME=/root PATH=/usr/bin /usr/bin/unshare --root="$debian_root" \
    /usr/bin/guix-daemon --disable-chroot --no-substitutes >"$debian_root/tmp/daemon.log" 2>&1 &
  for _ in {1..100}; do
    [ ! -S "$debian_root/var/guix/daemon-socket/socket" ] || break
    sleep 0.1
  done

  version=$(guix --version | head -n 1)
  echo "== $version, of Debian sid"
  load || exit 1
  must "guix build -f guix.scm: a derivation" derivations -f guix.scm
  for variant in nearfield-starpu nearfield-starpu-cuda python-nearfield; do
    must "guix build -e '$(expression $variant)': a derivation" derivations -e "$(expression $variant)"
  done
  for folder in cpu starpu cuda; do
    must "guix shell -m guix/manifest-$folder.scm: a profile" shell "$folder"
  done
  must "guix lint: nothing to say of nearfield" lint

  echo "== a wrong word is found"
  for folder in cpu starpu cuda; do
    broken "guix/manifest-$folder.scm" '"ninja"' '"ninjaa"' load
  done
  broken guix/nearfield.scm '\<cli11\>' cli111 load
  broken guix/nearfield.scm '\<python-numpy\>' python-numpyy load
  broken guix/nearfield.scm '"starpu"' '"starpuu"' load
  broken guix/nearfield.scm '"cuda-toolkit@12"' '"cuda-toolkitt"' load
  broken guix/channels.scm '925d10cc' '925d10c' load
  broken guix.scm '^nearfield$' 'nearfields' load
  load >"$log" || exit 1 # as at first

  cat <<TEXT
== not checked
The commits of guix/channels.scm: no channel was pulled. Names of Guix itself were looked up in $version,
  which is not the commit in channels.scm.
starpu, starpu-cuda, cuda-toolkit: other channels have them; stand-ins (tools/check_guix) answered.
Nothing was built, and no test of the packages ran: not the phases, not the linking against StarPU or
  CUDA, not what --tune does to speed.
TEXT
}

if [ "${1:-}" = inside ]; then
  inside
  exit
fi

[ $# = 0 ] || fail "takes no arguments"
[ "$(uname -m)" = x86_64 ] || fail "runs on x86-64 only"
for tool in apt-get dpkg-deb unshare; do
  command -v "$tool" >/dev/null || fail "needs $tool, of Debian"
done
mkdir -p "$(dirname "$debian_root")"
[ -x "$debian_root/usr/bin/guix" ] || fetch_guix
namespaces=(--mount --pid --fork --kill-child)
[ "$(id -u)" = 0 ] || namespaces+=(--map-root-user)
unshare "${namespaces[@]}" true 2>/dev/null || fail "no namespaces here: run it as root, outside a container"
tar -c -C "$repository" CMakeLists.txt guix guix.scm tools | unshare "${namespaces[@]}" bash "$script" inside
