#ifndef NEARFIELD_H
#define NEARFIELD_H

/** \file
    The C interface of nearfield, C99: sums over pairs of points, trees, and pairs within a radius. The library is
    libnearfield_c; docs/c.md shows how to use it from C, Fortran and Julia.

    Every function that can fail returns an nf_status. Another value than nf_ok means that nothing was made; nf_last_error()
    has one line about it. Handles (nf_tree ...) belong to the caller, who destroys them; to destroy null does nothing. Two
    threads may use one handle at once where it is const, but cells on a GPU.

    Options are structs whose first member is their size. Zero is the default of every other member:

        nf_tree_options options = {.size = sizeof options};
        options.max_leaf_size = 32;

    A null pointer in the place of options, or of `where`, stands for the defaults. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NF_API __attribute__((visibility("default")))

/** The interface of this header. A program compiled with another one does not fit the library:
    `if (nf_abi_version() != NF_ABI_VERSION) ...` */
#define NF_ABI_VERSION 1

/** NF_ABI_VERSION of the library. */
NF_API int32_t nf_abi_version(void);
/** The version of nearfield, such as "0.1.0". */
NF_API char const* nf_version(void);

/** What a call returns. */
typedef int32_t nf_status;
enum
{
  nf_ok = 0,
  nf_invalid_argument = 1, /**< an argument, option or environment variable: correct the call */
  nf_out_of_memory = 2,    /**< too little host or GPU memory, or a limit such as max_bytes */
  nf_not_available =
      3, /**< no GPU, instruction set or kernel for this: run elsewhere, or build with it */
  nf_no_room = 4,      /**< the caller's columns are too short: they hold the first pairs */
  nf_cuda_failure = 5, /**< a CUDA function or kernel failed */
  nf_failure = 6       /**< anything else */
};

/** One line about the last call of this thread that did not return nf_ok: the argument, its value, the remedy. Valid until
      the next call that fails in this thread; "" if none has. */
NF_API char const* nf_last_error(void);

/** For wrappers in other languages: makes this the message of nf_last_error(), and returns the status. */
NF_API nf_status nf_fail(nf_status status, char const* message);

/** The type of the values of columns. 0 is none. */
typedef int32_t nf_real;
enum
{
  nf_float32 = 1,
  nf_float64 = 2
};

/** A view of columns: value i of column c is first[i * stride + c * column_stride], counted in values. With `columns` it is
      columns[c][i * stride]. Outputs are written through the same struct. This struct never changes its size. */
typedef struct nf_columns
{
  void* first;          /**< value 0 of column 0; not read if `columns` is given */
  void* const* columns; /**< null, or value 0 of each column */
  int64_t n_points;
  int64_t stride;        /**< from one point to the next, at least 1 */
  int64_t column_stride; /**< from one column to the next */
  int32_t n_columns;
  nf_real real; /**< nf_float32 or nf_float64 */
} nf_columns;

/** Where to run. Null is one thread with the widest instruction set of the machine. */
typedef int32_t nf_backend;
enum
{
  nf_simd = 0,
  nf_scalar = 1, /**< one pair at a time, for comparison */
  nf_cuda = 2    /**< the current GPU: columns are in its memory */
};
typedef struct nf_threads nf_threads;
typedef struct nf_place
{
  size_t size;
  nf_threads* threads; /**< null: the calling thread; not with nf_cuda */
  void* stream;        /**< a cudaStream_t; null: the default one */
  nf_backend backend;
} nf_place;

/** Threads of this library, as many as there are processors for this process, but at most `most` if that is not 0. They
      start with the first loop and sleep between loops. */
NF_API nf_status nf_threads_create(int32_t most, nf_threads** threads);
NF_API void nf_threads_destroy(nf_threads* threads);
/** Whether this library was built with CUDA, and there is a GPU: 1 or 0. If 0, nf_last_error() says why. */
NF_API int32_t nf_has_gpu(void);

/* Interactions */

/** An interaction with values of its parameters: K(r), a linear map of the inputs of a source. */
typedef struct nf_interaction nf_interaction;

/** A parameter of an interaction. This struct never changes its size. */
typedef struct nf_parameter_info
{
  char const* name;
  char const* unit;
  double by_default;
  int32_t range; /**< 0: any finite value; 1: not negative; 2: positive */
} nf_parameter_info;

/** What there is to know of an interaction. Strings live as long as the library. */
typedef struct nf_interaction_info
{
  size_t size;
  char const* name;
  char const* group; /**< what -DNEARFIELD_KERNELS calls it */
  char const* formula;
  char const* source; /**< the paper */
  char const* inputs;
  char const* outputs;
  int32_t dim;
  int32_t n_in;               /**< columns of q for each right-hand side */
  int32_t n_out;              /**< columns of out for each right-hand side */
  int32_t n_point_parameters; /**< columns of points after the coordinates */
  int32_t n_parameters;
  int32_t flops;      /**< of one pair */
  int32_t has_mutual; /**< whether one evaluation can serve both points of a pair */
  int32_t is_built;   /**< 0: this build has left it out */
} nf_interaction_info;

/** How many interactions there are. */
NF_API int32_t nf_interaction_count(void);
/** Of interaction `index` < nf_interaction_count(). Set info->size before. */
NF_API nf_status nf_interaction_info_get(int32_t index, nf_interaction_info* info);
/** Of parameter `parameter` < n_parameters of interaction `index`. */
NF_API nf_status nf_parameter_info_get(int32_t index, int32_t parameter, nf_parameter_info* info);
/** Of column `column` < n_point_parameters of points, after the coordinates; by_default is 0. Sums do not look at the values:
      outside the range they are undefined. */
NF_API nf_status nf_point_parameter_info_get(int32_t index, int32_t column,
                                             nf_parameter_info* info);

/** The interaction of this name and dimension with n_parameters values of parameters; others keep their defaults. Fails for
      an unknown name (the message has all names), one that this build has left out, and a value out of range. */
NF_API nf_status nf_interaction_create(char const* name, int32_t dim, int32_t n_parameters,
                                       char const* const* names, double const* values,
                                       nf_interaction** interaction);
NF_API void nf_interaction_destroy(nf_interaction* interaction);
/** The distance from which K is zero, for cells; 0 if there is none. */
NF_API nf_status nf_interaction_cutoff(nf_interaction const* interaction, double* cutoff);

/* Sums over all pairs of one set or two. They add to `out`.

     For n points x has dim + n_point_parameters columns, q has n_in and out n_out, or a multiple: several right-hand sides,
     those of the first one first. All columns of a call have one type. Two points at the same place count zero if K(0) is not
     finite. */

/** out_i += sum_{j != i} K(x_i - x_j) q_j */
NF_API nf_status nf_p2p_inner(nf_place const* where, nf_interaction const* k, nf_columns x,
                              nf_columns q, nf_columns out);
/** The same with one evaluation of K for each pair, in another order of summation. */
NF_API nf_status nf_p2p_inner_mutual(nf_place const* where, nf_interaction const* k, nf_columns x,
                                     nf_columns q, nf_columns out);
/** out_i += sum_j K(x_i - y_j) q_j */
NF_API nf_status nf_p2p_outer(nf_place const* where, nf_interaction const* k, nf_columns x,
                              nf_columns y, nf_columns q, nf_columns out);
/** x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i, with one evaluation of K for each pair */
NF_API nf_status nf_p2p_outer_mutual(nf_place const* where, nf_interaction const* k, nf_columns x,
                                     nf_columns y, nf_columns x_q, nf_columns y_q, nf_columns x_out,
                                     nf_columns y_out);

/* Boxes */

/** A parallelepiped that repeats along the vectors whose flag is set, of either handedness. Zero: an open box. In two
      dimensions the first two rows and columns count. This struct never changes its size. */
typedef struct nf_box
{
  double vectors[3][3]; /**< one a row; those of open axes are ignored */
  int32_t periodic[3];
  double origin[3]; /**< a corner */
} nf_box;

/* Near fields over leaves of the caller, trees and cells */

typedef int32_t nf_form;
enum
{
  nf_one_sided =
      0,         /**< K is evaluated twice for each pair; the same bits on any number of threads */
  nf_mutual = 1, /**< once, for one set of points */
  nf_automatic = 2 /**< the faster one */
};

typedef struct nf_near_field_options
{
  size_t size;
  int32_t accumulate; /**< add to `out` instead of overwriting it */
  nf_form form;
  int32_t
      ranges_may_coincide; /**< points of different leaves may be at the same place: they have moved since */
} nf_near_field_options;

/** Leaves of the caller: points sorted by leaf, and the leaves that each one meets. Read when the list is made. */
typedef struct nf_leaf_list_options
{
  size_t size;
  int64_t n_leaves;
  int64_t const* offsets; /**< leaf b has the targets [offsets[b], offsets[b + 1]) */
  /** the same of the sources, with two sets; null: targets and sources are the same points. Then a leaf meets itself, listed
        or not, and two leaves may be listed at either or at both. */
  int64_t const* source_offsets;
  int64_t const* neighbour_offsets; /**< leaf b meets neighbours[neighbour_offsets[b]] ... */
  int64_t const* neighbours;        /**< numbers of leaves */
  int32_t const* shift_of;          /**< the shift of each neighbour; null: none has one */
  int64_t n_shifts;
  double const (
      *shifts)[3]; /**< added to the points of a neighbour, a periodic image; shifts[0] is zero */
} nf_leaf_list_options;

typedef struct nf_leaf_list nf_leaf_list;
/** With nf_cuda the arrays of the options are in host memory, and near fields over the list on the GPU and one-sided. */
NF_API nf_status nf_leaf_list_create(nf_place const* where, nf_leaf_list_options const* options,
                                     nf_leaf_list** leaves);
NF_API void nf_leaf_list_destroy(nf_leaf_list* leaves);

/** How a tree is cut. */
typedef struct nf_tree_options
{
  size_t size;
  int32_t max_leaf_size; /**< a box with more points splits; 0: 64 */
  int32_t is_uniform;    /**< all leaves have the level `level` instead */
  int32_t level;
  int32_t has_root; /**< the root box is the cube that follows; otherwise it is found */
  double root_centre[3];
  double root_half_width;
  nf_box box;
} nf_tree_options;

typedef struct nf_tree nf_tree;
/** The tree of one set of points, x with 2 or 3 columns, or of targets x and sources y, if y is not null. With nf_cuda the
      points and the tree are in device memory. */
NF_API nf_status nf_tree_create(nf_place const* where, nf_columns x, nf_columns const* y,
                                nf_tree_options const* options, nf_tree** tree);
NF_API void nf_tree_destroy(nf_tree* tree);

/** A tree in numbers. Arrays belong to the tree; of one on a GPU they are in device memory. */
typedef struct nf_tree_info
{
  size_t size;
  int64_t n_leaves;
  int64_t depth;
  int64_t largest_leaf;
  int64_t n_interactions; /**< ordered pairs of points that meet */
  uint32_t const*
      target_offsets; /**< leaf b has the targets [target_offsets[b], target_offsets[b + 1]) */
  uint32_t const* source_offsets; /**< the same of the sources */
  uint32_t const* target_order;   /**< the index of the target at each position */
  uint32_t const* source_order;   /**< the same of the sources */
} nf_tree_info;
NF_API nf_status nf_tree_info_get(nf_tree const* tree, nf_tree_info* info);

/* Cells: points sorted for a search, and for near fields that end at a cutoff */

/** How a search counts, and what it is given. Arrays are read when cells are made. */
typedef struct nf_cells_options
{
  size_t size;
  int32_t closed; /**< a pair at the distance of the cutoff counts */
  nf_box box;
  int32_t cells_per_cutoff[3];
  int32_t
      skin_is_each; /**< `skin` is how far each point may move, instead of how much closer two may come */
  double skin; /**< how far points may move until nf_cells_update() sorts them again */

  /** Several systems, none of which has a pair with a point of another: 0 is one. System s has the points
        [offsets[s], offsets[s + 1]) or, if there is an order, the points order[offsets[s]] ... */
  int64_t n_systems;
  int64_t const* offsets;
  int64_t const* order;          /**< null: points of a system follow each other */
  int64_t const* source_offsets; /**< the same of the sources, with two sets */
  int64_t const* source_order;
  double const* cutoffs; /**< one for each system; null: that of the call */
  nf_box const* boxes;   /**< one for each system; null: .box */
} nf_cells_options;

typedef struct nf_cells nf_cells;
/** One set of points, x with 2 or 3 columns, or targets x and sources y, if y is not null. Of the cells of CPUs the points
      may go; with nf_cuda they are in device memory, and must stay as they are until the next nf_cells_rebuild(). The threads
      of `where` must outlive the cells. */
NF_API nf_status nf_cells_create(nf_place const* where, nf_columns x, nf_columns const* y,
                                 double cutoff, nf_cells_options const* options, nf_cells** cells);
NF_API void nf_cells_destroy(nf_cells* cells);
/** Other points, or the same ones after they moved. Keeps cutoff and options. */
NF_API nf_status nf_cells_rebuild(nf_cells* cells, nf_columns x, nf_columns const* y);
/** The same, if points have moved further than the skin allows: then *rebuilt, if not null, becomes 1, otherwise 0. */
NF_API nf_status nf_cells_update(nf_cells* cells, nf_columns x, nf_columns const* y,
                                 int32_t* rebuilt);

/** What the cutoff of a pair (i, j) is, where each point has a length a. */
typedef int32_t nf_cutoff_by;
enum
{
  nf_sum_of_radii = 0, /**< a_i + a_j */
  nf_larger_radius = 1,
  nf_own_radius = 2 /**< a_i; full lists only, since (j, i) may count where (i, j) does not */
};

/** Which of the pairs within the cutoff of cells are found. Null arrays restrict nothing. Values are in the order of the
      points that cells were made from; no cutoff may exceed that of the cells. */
typedef struct nf_filter_options
{
  size_t size;
  int64_t n_types;             /**< with types: they are 0 ... n_types - 1 */
  int64_t const* types;        /**< of each target */
  int64_t const* source_types; /**< of each source, with two sets */
  double const* type_cutoffs;  /**< a symmetric matrix; 0: such pairs are never found */
  double const* radii;         /**< of each target */
  double const* source_radii;  /**< of each source, with two sets */
  nf_cutoff_by by;
  /** target i has no pairs with sources excluded[excluded_offsets[i]] ..., in no image; of one set, they have none with i */
  int64_t const* excluded_offsets;
  int64_t const* excluded;
  int64_t n_rows;      /**< with rows */
  int64_t const* rows; /**< the targets whose pairs are wanted; full lists only */
} nf_filter_options;

/** From now on searches of these cells find some of the pairs; null: all of them again. Near fields take all pairs. Copies
      the arrays, which are in host memory. */
NF_API nf_status nf_cells_filter(nf_cells* cells, nf_filter_options const* filter);

/** out_i = sum_j K(x_i - x_j) q_j over all pairs of leaves that meet, or with two sets over the sources y, if y is not null.
      Columns are in the order of the leaves. */
NF_API nf_status nf_near_field_of_leaves(nf_place const* where, nf_interaction const* k,
                                         nf_leaf_list const* leaves, nf_columns x,
                                         nf_columns const* y, nf_columns q, nf_columns out,
                                         nf_near_field_options const* options);
/** The same over a tree. Columns are in the order that the tree was made from. */
NF_API nf_status nf_near_field_of_tree(nf_place const* where, nf_interaction const* k,
                                       nf_tree const* tree, nf_columns x, nf_columns const* y,
                                       nf_columns q, nf_columns out,
                                       nf_near_field_options const* options);
/** The same over cells: K must be zero beyond their cutoff. */
NF_API nf_status nf_near_field_of_cells(nf_place const* where, nf_interaction const* k,
                                        nf_cells const* cells, nf_columns x, nf_columns const* y,
                                        nf_columns q, nf_columns out,
                                        nf_near_field_options const* options);

/* Searches

     A pair (i, j, S) is listed if |d| < cutoff, with d = x_i - (x_j + sum_a S_a vectors[a]). In one set (i, i) is a pair only
     with S other than 0. */

typedef int32_t nf_which;
enum
{
  nf_full = 0, /**< (i, j, S) and (j, i, -S) */
  nf_half = 1  /**< one of the two; one set only */
};
typedef int32_t nf_order;
enum
{
  nf_by_cell = 0, /**< the fastest */
  nf_by_row = 1,  /**< by i */
  nf_sorted = 2   /**< by i, then by j; full lists only */
};

/** The number of pairs and, if not null, of each target. */
NF_API nf_status nf_count_pairs(nf_place const* where, nf_cells const* cells, nf_which which,
                                int64_t* n_pairs, uint32_t* per_point);

/** At least as many as there are pairs, without a search; cells in host memory only. A list of one thread nf_by_cell into
      address space for so many takes one pass over the pairs, which nf_count_pairs() before it would make two. */
NF_API nf_status nf_pair_bound(nf_cells const* cells, nf_which which, int64_t* n_pairs);

/** Adds to counts[b] the pairs with b <= |d| n_bins / r_max < b + 1, for b < n_bins; cells in host memory only. */
NF_API nf_status nf_pair_histogram(nf_place const* where, nf_cells const* cells, nf_which which,
                                   double r_max, int64_t n_bins, int64_t* counts);

/** Memory of the caller for pairs: null columns are not wanted. On a GPU it is device memory. A stride of 0 stands for
      columns without gaps; others count in values. */
typedef struct nf_pair_columns
{
  size_t size;
  nf_which which;
  nf_order order;
  int64_t room;        /**< how many pairs each column has room for */
  int32_t index_bytes; /**< of a value of i and j: 4 or 8 */
  int32_t index_base;  /**< 0, or 1 as in Fortran; on CPUs only */
  void* i;             /**< targets */
  void* j;             /**< sources */
  int64_t index_stride;
  void* r2;                     /**< |d|^2, of the type of the points */
  void* r;                      /**< |d| */
  void* d;                      /**< d, by default dim values a pair */
  void* to_j;                   /**< -d, likewise */
  int32_t* images;              /**< S, likewise */
  int64_t vector_stride;        /**< of d, to_j and images: from one pair to the next */
  int64_t vector_column_stride; /**< from one axis to the next; both, or 0 */
  uint64_t*
      offsets; /**< one more than targets: where rows begin; not with nf_by_cell. Never based on 1. */
} nf_pair_columns;

/** Writes pairs to the caller's columns, at most `room`, and their number to *n_pairs. Returns nf_no_room if there are more:
      ask again with more room.

          nf_pair_columns to = {.size = sizeof to};
          nf_count_pairs(NULL, cells, nf_full, &to.room, NULL);
          to.index_bytes = 4, to.i = malloc(4 * to.room), to.j = malloc(4 * to.room);
          nf_find_pairs(NULL, cells, &to, &n); */
NF_API nf_status nf_find_pairs(nf_place const* where, nf_cells const* cells,
                               nf_pair_columns const* to, int64_t* n_pairs);

/** A list in memory of the library. */
typedef struct nf_list_options
{
  size_t size;
  nf_which which;
  int32_t rows;          /**< a row for each target: `offsets` instead of `i` */
  int32_t sorted;        /**< by i, then by j */
  int32_t distances;     /**< also r2 */
  int32_t displacements; /**< also d */
  int32_t images;        /**< also S */
  int64_t max_bytes;     /**< a larger list is nf_out_of_memory; 0: no limit */
} nf_list_options;

typedef struct nf_pair_list nf_pair_list;
/** An empty list. */
NF_API nf_status nf_pair_list_create(nf_pair_list** list);
NF_API void nf_pair_list_destroy(nf_pair_list* list);
/** Fills the list with pairs, in memory that it has where that suffices. */
NF_API nf_status nf_pair_list_fill(nf_place const* where, nf_cells const* cells,
                                   nf_list_options const* options, nf_pair_list* list);

/** What a list holds, until it is filled again or destroyed; null where not asked for. Of a search on a GPU it is device
      memory. */
typedef struct nf_pair_view
{
  size_t size;
  int64_t n_pairs;
  int64_t n_rows;          /**< 0 without rows */
  uint64_t const* offsets; /**< row t has the pairs [offsets[t], offsets[t + 1]) */
  uint32_t const* i;
  uint32_t const* j;
  void const* r2; /**< of the type of the points */
  void const* d[3];
  int32_t const* images[3];
} nf_pair_view;
NF_API nf_status nf_pair_list_view(nf_pair_list const* list, nf_pair_view* view);

/* StarPU

     A library that was built without StarPU returns nf_not_available here. Handles of data are starpu_data_handle_t of the
     caller, who registers and unregisters them: vectors of float or double. */

/** Whether this library was built with StarPU: 1 or 0. */
NF_API int32_t nf_has_starpu(void);

/** Columns of n values each, as one handle a column, or as one handle with all columns, one after the other. All arguments of
      a call are of the same kind. This struct never changes its size. */
typedef struct nf_handles
{
  void* const* handles; /**< each a starpu_data_handle_t; read by the call */
  int32_t n_handles;
} nf_handles;

/** How StarPU schedules a task. */
typedef struct nf_task_options
{
  size_t size;
  int32_t priority; /**< higher runs first, if the scheduler has priorities */
  void (*callback)(
      void*); /**< null, or called on the worker when the task has ended; must not wait */
  void* callback_argument;
} nf_task_options;

/** The nf_p2p_... of boxes as tasks of the caller's graph, on CPU and GPU workers. They read x, y and q (STARPU_R), and add to
      out (STARPU_RW | STARPU_COMMUTE), which has a value already. Outputs of mutual tasks should share an arbiter. */
typedef struct nf_p2p_tasks nf_p2p_tasks;
/** For values of type `real`. Starts nothing: the program calls starpu_init(). */
NF_API nf_status nf_p2p_tasks_create(nf_interaction const* k, nf_real real, nf_p2p_tasks** tasks);
/** Waits for its tasks, unless a worker calls it. */
NF_API void nf_p2p_tasks_destroy(nf_p2p_tasks* tasks);
/** As nf_p2p_inner(), with one evaluation for each pair where K allows it. Returns at once. */
NF_API nf_status nf_p2p_tasks_inner(nf_p2p_tasks* tasks, nf_handles x, nf_handles q, nf_handles out,
                                    nf_task_options const* options);
/** As nf_p2p_outer(). */
NF_API nf_status nf_p2p_tasks_outer(nf_p2p_tasks* tasks, nf_handles x, nf_handles y, nf_handles q,
                                    nf_handles out, nf_task_options const* options);
/** As nf_p2p_outer_mutual(). */
NF_API nf_status nf_p2p_tasks_outer_mutual(nf_p2p_tasks* tasks, nf_handles x, nf_handles y,
                                           nf_handles x_q, nf_handles y_q, nf_handles x_out,
                                           nf_handles y_out, nf_task_options const* options);
/** Waits for all tasks of the process, and returns the first failure of these. */
NF_API nf_status nf_p2p_tasks_wait(nf_p2p_tasks* tasks);

/** A near field as tasks, as often as it is submitted. Starts StarPU if the program has not, and then stops it with the last
      step. One thread at a time may use a step. */
typedef struct nf_step nf_step;
/** nf_near_field_of_tree() on all workers. The tree, which is in host memory, and the columns must stay until the step is
      destroyed; its tasks use them between nf_step_submit() and nf_step_wait(). Of the options ranges_may_coincide is not
      read. */
NF_API nf_status nf_step_of_tree(nf_interaction const* k, nf_tree const* tree, nf_columns x,
                                 nf_columns const* y, nf_columns q, nf_columns out,
                                 nf_near_field_options const* options, nf_step** step);
/** The same over cells. */
NF_API nf_status nf_step_of_cells(nf_interaction const* k, nf_cells const* cells, nf_columns x,
                                  nf_columns const* y, nf_columns q, nf_columns out,
                                  nf_near_field_options const* options, nf_step** step);
/** Over handles of type `real`, as one task, which makes the tree too: sources y, if not null. It reads x, y and q, and writes
      out or, to accumulate, adds to it. */
NF_API nf_status nf_step_of_handles(nf_interaction const* k, nf_real real, nf_handles x,
                                    nf_handles const* y, nf_handles q, nf_handles out,
                                    nf_tree_options const* tree_options,
                                    nf_near_field_options const* options, nf_step** step);
/** Waits for its tasks. */
NF_API void nf_step_destroy(nf_step* step);
/** Starts the tasks, and returns at once. */
NF_API nf_status nf_step_submit(nf_step* step);
/** Waits for them. After a failure the outputs are unspecified. */
NF_API nf_status nf_step_wait(nf_step* step);
/** Steps from now on read q again; those over handles always do. */
NF_API nf_status nf_step_inputs_changed(nf_step* step);
/** Steps from now on read x and y again: over handles they make a new tree, others keep theirs and its pairs. */
NF_API nf_status nf_step_positions_changed(nf_step* step);

/* Views of columns */

/** The columns of an array x0 y0 z0 x1 y1 z1 ..., in Fortran x(3, n). */
static inline nf_columns nf_rows(nf_real real, void const* first, int64_t n_points,
                                 int32_t n_columns)
{
  nf_columns view;
  view.first = (void*)(uintptr_t)first;
  view.columns = NULL;
  view.n_points = n_points;
  view.stride = n_columns;
  view.column_stride = 1;
  view.n_columns = n_columns;
  view.real = real;
  return view;
}
/** The columns of an array x0 x1 ... y0 y1 ..., in Fortran x(n, 3). */
static inline nf_columns nf_one_by_one(nf_real real, void const* first, int64_t n_points,
                                       int32_t n_columns)
{
  nf_columns view = nf_rows(real, first, n_points, n_columns);
  view.stride = 1;
  view.column_stride = n_points;
  return view;
}
/** Columns that lie apart: columns[c] is the first value of column c. The pointers must outlive the call. */
static inline nf_columns nf_apart(nf_real real, void* const* columns, int64_t n_points,
                                  int32_t n_columns)
{
  nf_columns view = nf_one_by_one(real, NULL, n_points, n_columns);
  view.columns = columns;
  return view;
}

#ifdef __cplusplus
}
#endif

#endif
