#!/usr/bin/env bash
# What a bundle of ./dev gpu-bundle does on a GPU machine. REGEX chooses among the names.
#   run tests [REGEX]       the tests of GPUs and of StarPU, each in a process of its own
#   run sanitize [REGEX]    the same, once, under compute-sanitizer: memcheck, then racecheck
#   run bench [REGEX]       the benchmarks (those of CUDA and StarPU, if no REGEX says which)
#   run nearfield ...       the program
# Logs and JSON go to the folder $OUT (here, if unset). Exit status: 0, or 77 where something was skipped,
# or 1 where something failed. TIMEOUT: seconds for one process.
set -uo pipefail
bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${OUT:-.}
commit=$(sed -n 's/^nearfield //p' "$bundle/about")
export LD_LIBRARY_PATH=$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export STARPU_HOME=$home STARPU_SILENT=1
results=()
worst=0

# gpu FIELD: of the first GPU, as nvidia-smi tells it.
gpu()
{
  nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -n 1
}

header()
{
  cat "$bundle/about"
  echo "GPU: $(gpu name), driver $(gpu driver_version)"
  nvidia-smi 2>/dev/null || echo "no nvidia-smi here, or no GPU"
  nproc --all | sed 's/$/ CPU cores/'
}

# process NAME COMMAND...: one line of the summary.
process()
{
  local name=$1 start=$SECONDS status=0 verdict
  shift
  echo
  echo "==== $name"
  timeout --kill-after=10 "${TIMEOUT:-600}" "$@" || status=$?
  case $status in
    0) verdict=ok ;;
    77) verdict=SKIPPED ;;
    124 | 137) verdict="FAILED: stopped after $((SECONDS - start)) s" ;;
    *) verdict="FAILED: status $status" ;;
  esac
  results+=("$verdict  $name  ($((SECONDS - start)) s)")
  [ "$status" = 0 ] || [ "$worst" = 1 ] || worst=$((status == 77 ? 77 : 1))
}

summary()
{
  echo
  printf '%s\n' "==== summary of $1, nearfield $commit" "${results[@]}"
  [ ${#results[@]} -gt 0 ] || worst=1
}

# each_test REGEX VARIANTS COMMAND...: the tests by that name, in front of each the command; VARIANTS: no
# leaves out those that only differ by an environment.
each_test()
{
  local regex=$1 variants=$2 name environment program
  shift 2
  while IFS='|' read -r name environment program <&3; do
    [[ $name =~ $regex ]] || continue
    [ "$variants" = yes ] || [ -z "$environment" ] || continue
    # shellcheck disable=SC2086 # several words
    process "$name" env STARPU_NCPU=2 STARPU_WORKERS_NOBIND=1 $environment "$@" "$bundle"/bin/$program
  done 3<"$bundle/tests.list"
}

tests()
{
  header
  each_test "${1:-.}" yes
  summary tests
}

sanitize()
{
  local tool=$1
  header
  "$sanitizer" --version
  # The tests provoke failures of CUDA's functions on purpose, and look at what they return.
  each_test "${2:-.}" no "$sanitizer" --tool "$tool" --error-exitcode 1 --report-api-errors no
  summary "$tool"
}

bench()
{
  local program name
  header
  for program in "$bundle"/bin/*_bench; do
    name=$(basename "$program")
    [[ $name =~ ${1:-cuda|starpu} ]] || continue
    process "$name" "$program" --benchmark_out="$out/$name.json" --benchmark_out_format=json \
      --benchmark_context="commit=$commit,gpu=$(gpu name),driver=$(gpu driver_version)"
  done
  summary benchmarks
}

# logged NAME COMMAND...: in this shell, for its results, and into a file.
logged()
{
  local log=$out/$1.log
  shift
  "$@" > >(tee "$log") 2>&1
  wait $!
}

command=${1:-}
[ $# -eq 0 ] || shift
mkdir -p "$out" || exit 1
case $command in
  tests) logged tests tests "$@" ;;
  sanitize)
    sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) || {
      echo "SKIPPED: no compute-sanitizer in PATH or /usr/local/cuda/bin"
      exit 77
    }
    for tool in memcheck racecheck; do
      results=()
      logged "$tool" sanitize "$tool" "$@"
    done
    ;;
  bench) logged bench bench "$@" ;;
  nearfield) "$bundle/bin/nearfield" "$@" || worst=$? ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
exit "$worst"
