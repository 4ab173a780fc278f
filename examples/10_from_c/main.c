// Sums, a tree and a neighbour list from C. docs/c.md shows the parts.

// [c_begin]
#include <nearfield/nearfield.h>
// [c_begin]

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// [c_check]
static void check(nf_status status)
{
  if (status == nf_ok) return;
  fprintf(stderr, "%s\n", nf_last_error());
  exit(1);
}
// [c_check]

static double uniform(void)
{
  static unsigned long long state = 1;
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(state >> 11) * 0x1p-53;
}

enum
{
  n = 1000
};
static double x[n][3], q[n], sums[n][4], near_sums[n][4];

// the sum over all pairs by a plain loop
static double largest_difference(void)
{
  double largest = 0;
  for (int i = 0; i < n; ++i)
  {
    double value = 0;
    for (int j = 0; j < n; ++j)
    {
      double const d[3] = {x[i][0] - x[j][0], x[i][1] - x[j][1], x[i][2] - x[j][2]};
      if (i != j) value += q[j] / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    largest = fmax(largest, fabs(value - sums[i][0]) / value);
  }
  return largest;
}

int main(void)
{
  for (int i = 0; i < n; ++i)
  {
    for (int a = 0; a < 3; ++a) x[i][a] = uniform();
    q[i] = uniform();
  }

  // [c_begin]
  if (nf_abi_version() != NF_ABI_VERSION) return 1; // another library than this header's
  // [c_begin]

  // [c_sum]
  nf_interaction* k = NULL;
  check(nf_interaction_create("val_grad_one_over_r", 3, 0, NULL, NULL, &k));
  // x[n][3], q[n] and sums[n][4]: a value and a gradient
  nf_columns const points = nf_rows(nf_float64, x, n, 3), charges = nf_rows(nf_float64, q, n, 1);
  check(nf_p2p_inner(NULL, k, points, charges, nf_rows(nf_float64, sums, n, 4)));
  // [c_sum]
  double const error = largest_difference();

  // [c_tree]
  nf_threads* threads = NULL;
  check(nf_threads_create(0, &threads)); // all processors of this process
  nf_place const on_threads = {.size = sizeof on_threads, .threads = threads};
  nf_tree_options const tree_options = {.size = sizeof tree_options, .max_leaf_size = 32};
  nf_tree* tree = NULL;
  check(nf_tree_create(&on_threads, points, NULL, &tree_options, &tree));
  check(nf_near_field_of_tree(&on_threads, k, tree, points, NULL, charges,
                              nf_rows(nf_float64, near_sums, n, 4), NULL));
  // [c_tree]

  // [c_search]
  nf_cells_options const options = {
      .size = sizeof options,
      .box = {.vectors = {{1, 0, 0}, {0.3, 1, 0}, {0, 0, 1}}, .periodic = {1, 1, 0}}};
  nf_cells* cells = NULL;
  check(nf_cells_create(NULL, points, NULL, 0.1, &options, &cells));

  int64_t n_pairs = 0;
  check(nf_count_pairs(NULL, cells, nf_full, &n_pairs, NULL));
  int32_t* const i = malloc((size_t)n_pairs * sizeof *i);
  int32_t* const j = malloc((size_t)n_pairs * sizeof *j);
  double(*const d)[3] = malloc((size_t)n_pairs * sizeof *d); // x_i - x_j, of the image that is near
  nf_pair_columns const to = {
      .size = sizeof to, .room = n_pairs, .index_bytes = 4, .i = i, .j = j, .d = d};
  check(nf_find_pairs(NULL, cells, &to, &n_pairs));
  // [c_search]

  int is_right = error < 1e-13 && near_sums[0][0] > 0 && near_sums[0][0] < sums[0][0];
  for (int64_t p = 0; p < n_pairs; ++p)
    is_right &= d[p][0] * d[p][0] + d[p][1] * d[p][1] + d[p][2] * d[p][2] < 0.1 * 0.1;

  // [c_errors]
  nf_interaction* unknown = NULL;
  nf_status const status = nf_interaction_create("one_over_rr", 3, 0, NULL, NULL, &unknown);
  if (status == nf_invalid_argument) puts(nf_last_error()); // one line, with the names that there are
  // [c_errors]
  is_right &= status == nf_invalid_argument;

  printf("nearfield %s: error %.0e, %lld pairs\n", nf_version(), error, (long long)n_pairs);
  free(i);
  free(j);
  free(d);
  nf_cells_destroy(cells);
  nf_tree_destroy(tree);
  nf_threads_destroy(threads);
  nf_interaction_destroy(k);
  return is_right ? 0 : 1;
}
