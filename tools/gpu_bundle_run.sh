#!/usr/bin/env bash
# What a bundle of ./dev gpu-bundle does on a GPU machine. REGEX chooses among the names.
#   run tests [REGEX]       the tests of GPUs and of StarPU, each in a process of its own
#   run sanitize [REGEX]    the same, once, under compute-sanitizer: memcheck, then racecheck, each with the
#                           tests that are named below, or those of GTEST_FILTER
#   run bench [REGEX]       the benchmarks (those of CUDA and StarPU, if no REGEX says which)
#   run nearfield ...       the program
# Logs and JSON go to the directory $OUT (here, if unset). Exit status: 0, or 77 where something was skipped,
# or 1 where something failed. TIMEOUT: seconds for one process. JOBS: how many tests run at a time (1).
set -uo pipefail
bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${OUT:-.}
commit=$(sed -n 's/^nearfield //p' "$bundle/about")
[ -d "$bundle/lib" ] || tar -C "$bundle" -xzf "$bundle/programs.tar.gz" || exit 1
export LD_LIBRARY_PATH=$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export STARPU_HOME=$home STARPU_SILENT=1 FONTCONFIG_FILE=$home/fonts.conf
# fontconfig complains where a machine has no list of folders with fonts, or no place for its cache
echo "<fontconfig><dir>$bundle/fonts</dir><cachedir>$home/fontconfig</cachedir></fontconfig>" >"$FONTCONFIG_FILE"
worst=0
work=$home/work # a log for each process, and their results
mkdir "$work"

# The tests of a program that a sanitizer runs, as a GoogleTest filter; of other programs all. Racecheck takes
# 0.1 s and more a search or a step, and a type of points meets the code that another one meets: each case
# stands here with one of them, and every output of the search once. Memcheck leaves out the longest lists, and
# kernels that are slow on purpose.
declare -A sanitized=(
  [memcheck starpu_near_field_gpu_test]='-starpu_shared_step*'
  [memcheck cuda_search_test]='-*large_lists*:*repeats_to_the_bit*'
  [memcheck cuda_graph_gpu_test]='graphs_gpu/0.*:graphs_gpu/3.*'
  [racecheck cuda_graph_gpu_test]='graphs_gpu/0.leave*:graphs_gpu/1.tell*:graphs_gpu/3.refuse*'
  [racecheck cuda_lists_gpu_test]='*val_grad_one_over_r_3d_f32*:*gaussian_3d_f64*:cuda_list.*'
  [racecheck cuda_staging_gpu_test]='points_on_gpu/1.unite_with_a_few*:points_on_gpu/0.*strided*:lists_of_a_part.*2d'\
':pieces/0.*'
  [racecheck cuda_tree_gpu_test]='cuda_tree_of/float3d.a_leaf_may*:cuda_tree_of/double2d.coordinates*:*/float3d.a_rebuilt*'\
':cuda_tree_in_a_cell/float3d.*'
  [racecheck near_field_gpu_test]='*gaussian_3d_f64*'
  [racecheck p2p_gpu_test]='*val_grad_one_over_r_3d_f32*:*gaussian_3d_f64*'\
':own_interaction.of_the_documentation*:own_interaction.may_have_many_outputs'
  [racecheck cuda_device_memory_gpu_test]='*is_that_of_the_caller*'
  [racecheck cuda_right_hand_sides_gpu_test]='*/val_grad_one_over_r_3d_f32.leaves*'\
':*/val_grad_one_over_r_3d_f32.boxes*:*/one_over_r_3d_f64.leaves*'
  [racecheck cutoff_interactions_gpu_test]='cutoff_interactions/0.*'
  [racecheck starpu_near_field_gpu_test]='starpu_near_field/0.*:starpu_near_field/6.*each_form*:starpu_p2p_on_gpus.*'\
':starpu_moving_step/1.*:starpu_moving_steps.run_on_gpus_alone:starpu_moving_steps.share*'
  [racecheck starpu_search_gpu_test]='starpu_pair_slabs/1.of_few_points:starpu_pair_slabs_in_a_graph.*read*'
  [racecheck cuda_search_test]='radius_search_of/0.*every_cloud:radius_search_of/1.*few_points'\
':radius_search_of/2.*near_queries:periodic_search/1.*lattice:periodic_search/3.*displacements*'\
':cuda_search/0.clusters:cuda_search/1.full_cells:cuda_search/2.uniform:cuda_search/3.many_candidates*'\
':cuda_search/2.rebuilds*:any_cell_gpu/1.has*:any_cell_gpu/2.takes*'
)

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

# process NAME COMMAND...: one line of the summary. Other processes may run beside it; what it prints waits for its
# end, and then comes as a whole.
process()
{
  local name=$1 start=$SECONDS status=0 verdict
  shift
  timeout --kill-after=10 "${TIMEOUT:-600}" "$@" >"$work/$name.log" 2>&1 || status=$?
  case $status in
    0) verdict=ok ;;
    77) verdict=SKIPPED ;;
    124 | 137) verdict="FAILED: stopped after $((SECONDS - start)) s" ;;
    *) verdict="FAILED: status $status" ;;
  esac
  echo "$verdict  $name  ($((SECONDS - start)) s)" >>"$work/results"
  printf '\n==== %s\n%s\n' "$name" "$(<"$work/$name.log")"
}

summary()
{
  wait_for_tests
  echo
  echo "==== summary of $1, nearfield $commit"
  if ! sort -k 2 "$work/results" 2>/dev/null || grep -q ^FAILED "$work/results"; then
    worst=1
  elif [ "$worst" = 0 ] && grep -q ^SKIPPED "$work/results"; then
    worst=77
  fi
  rm -f "$work/results"
}

# names_tests PROGRAM FILTER: whether every pattern of the filter stands for a test that is there.
names_tests()
{
  local all pattern test
  all=$("$bundle/bin/$1" --gtest_list_tests | sed 's/ *#.*//' | awk '/^ /{print suite $1; next} {suite=$1}')
  while read -r pattern; do
    # shellcheck disable=SC2053 # a pattern
    while read -r test; do [[ $test == $pattern ]] && continue 2; done <<<"$all"
    echo "no test of $1 is named $pattern"
    return 1
  done <<<"$(tr : '\n' <<<"${2#-}")"
}

# Tests that take all of the GPU's memory, or count what is free.
alone='^(app|cuda_device|starpu_memory|starpu_pair_memory)_gpu_test'

# wait_for_tests: those in the background.
wait_for_tests()
{
  local job
  for job in $(jobs -rp); do wait "$job"; done
}

# each_test REGEX TOOL COMMAND...: the tests by that name, in front of each the command. For a sanitizer those
# that only differ by an environment are left out, and the one that looks at a kernel's illegal access: a sanitizer
# must report it, and the process then sees another error.
each_test()
{
  local regex=$1 tool=$2 name environment program filter
  shift 2
  while IFS='|' read -r name environment program <&3; do
    [[ $name =~ $regex ]] || continue
    [ "$tool" = none ] || [ -z "$environment" ] || continue
    [ "$tool" = none ] || [ "$name" != cuda_launch_failure_gpu_test ] || continue
    filter=${sanitized[$tool $name]:-}
    if [ -n "$filter" ] && ! names_tests "$program" "$filter"; then
      process "$name" false
      continue
    fi
    filter=${GTEST_FILTER:-$filter}
    [[ ! $name =~ $alone ]] || wait_for_tests
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do sleep 0.05; done
    # shellcheck disable=SC2086 # several words
    process "$name" env STARPU_NCPU=2 STARPU_WORKERS_NOBIND=1 $environment ${filter:+"GTEST_FILTER=$filter"} \
      "$@" "$bundle"/bin/$program &
    [[ ! $name =~ $alone ]] || wait_for_tests
  done 3<"$bundle/tests.list"
}

tests()
{
  header
  each_test "${1:-.}" none
  summary tests
}

sanitize()
{
  local tool=$1
  export NEARFIELD_TEST_CELLS=${NEARFIELD_TEST_CELLS:-10} # of a sample that takes minutes here
  header
  "$sanitizer" --version
  # The tests provoke failures of CUDA's functions on purpose, and look at what they return.
  each_test "${2:-.}" "$tool" "$sanitizer" --tool "$tool" --error-exitcode 1 --report-api-errors no
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
