// Sums as tasks of a StarPU program in C. docs/c.md shows the parts.
#include <nearfield/nearfield.h>

#include <starpu.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check(nf_status status)
{
  if (status == nf_ok) return;
  fprintf(stderr, "%s\n", nf_last_error());
  exit(1);
}

enum
{
  n = 1000
};
static double x[3][n], q[n], sums[n], near_sums[n], expected[n];

static starpu_data_handle_t vector_of(double* first, size_t size)
{
  starpu_data_handle_t handle;
  starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)first, size, sizeof *first);
  return handle;
}

int main(void)
{
  if (nf_has_starpu() == 0 || starpu_init(NULL) != 0)
  {
    puts("no StarPU, or no workers");
    return 0;
  }
  unsigned long long state = 1;
  for (int i = 0; i < 4 * n; ++i)
  {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    *(i < n ? &q[i] : &x[0][i - n]) = (double)(state >> 11) * 0x1p-53;
  }
  nf_interaction* k = NULL;
  check(nf_interaction_create("one_over_r", 3, 0, NULL, NULL, &k));
  nf_columns const points = nf_one_by_one(nf_float64, x, n, 3),
                   charges = nf_rows(nf_float64, q, n, 1);

  // [c_starpu]
  // x[3][n], q[n] and sums[n]; a handle may also be one column
  starpu_data_handle_t hx = vector_of(x[0], 3 * n), hq = vector_of(q, n),
                       hsums = vector_of(sums, n);
  nf_handles const all_x = {(void*[]){hx}, 1}, all_q = {(void*[]){hq}, 1},
                   all_sums = {(void*[]){hsums}, 1};
  nf_p2p_tasks* tasks = NULL;
  check(nf_p2p_tasks_create(k, nf_float64, &tasks));
  check(nf_p2p_tasks_inner(tasks, all_x, all_q, all_sums, NULL)); // after your tasks that write hx
  check(nf_p2p_tasks_wait(tasks));
  // [c_starpu]
  nf_p2p_tasks_destroy(tasks);
  starpu_data_unregister(hx);
  starpu_data_unregister(hq);
  starpu_data_unregister(hsums);

  nf_tree* tree = NULL;
  check(nf_tree_create(NULL, points, NULL, NULL, &tree));
  // [c_starpu_step]
  nf_step* step = NULL;
  check(nf_step_of_tree(k, tree, points, NULL, charges, nf_rows(nf_float64, near_sums, n, 1), NULL,
                        &step));
  check(nf_step_submit(step)); // as often as you like
  check(nf_step_wait(step));
  // [c_starpu_step]
  nf_step_destroy(step);
  nf_tree_destroy(tree);
  starpu_shutdown();

  check(nf_p2p_inner(NULL, k, points, charges, nf_rows(nf_float64, expected, n, 1)));
  nf_interaction_destroy(k);
  int is_right = 1;
  for (int i = 0; i < n; ++i)
    is_right &= fabs(sums[i] - expected[i]) < 1e-12 * expected[i] && near_sums[i] > 0 &&
                near_sums[i] <= 1.000001 * expected[i];
  puts(is_right ? "the sums are right" : "a sum is wrong");
  return is_right ? 0 : 1;
}
