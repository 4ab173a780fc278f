#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/interaction.hpp>
#include <nearfield/core/where.hpp>

#include <cstddef>
#include <string_view>

namespace nearfield::detail
{
  /// The register block of a P2P kernel: a pack of sources fills `registers` registers, and `targets`
  /// broadcast targets meet it before the next pack is loaded. A radial interaction may take `packs` packs in
  /// two passes, roots first; 0 means one pass.
  struct register_block
  {
    int registers; ///< registers of a pack of sources
    int targets;   ///< targets that meet it
    int packs;     ///< packs per pass, or 0
  };

  /// The block of a kernel for several right-hand sides: `targets` matrices K(r) meet `sides` right-hand
  /// sides, and the sums of all of them are in registers.
  struct rhs_block
  {
    int targets; ///< targets of a block
    int sides;   ///< right-hand sides that pass over their matrices at once
  };

  /// A block that computes a part of one large box.
  struct gather_block
  {
    int threads; ///< threads of the block
    int targets; ///< targets per thread
  };
}

namespace nearfield
{
  /// Sources of a box are copied into panels of this many bytes, which stay in the first-level cache
  /// (32 KiB on Zen 3, 48 KiB on Zen 5) while all targets of the box pass over them.
  inline constexpr int panel_bytes = 24 * 1024;
  inline constexpr int most_packs = 256; ///< of a panel

  /// The packs that a target meets before their sum is added to that of the packs before. Each term may lose half a
  /// unit in the last place of a sum that holds a large one: of a float, 2e-6 in 33 terms.
  template <class T>
  inline constexpr int terms_in_a_row = sizeof(T) == 4 ? 24 : most_packs;

  /// Panels whose sums go to the output one by one. Those of more panels are added in double before.
  inline constexpr int panels_one_by_one = 4;

  /// The targets of a box that pass over its panels before the next ones. Sources of a mutual kernel add what as
  /// many targets give before it goes to the columns.
  inline constexpr int targets_at_once = 256;

  /// A box of at most this many targets and sources, and without neighbours, takes the path of p2p/small_box.hpp.
  inline constexpr int small_box_points = 16;

  /// The register block of a kernel with n_out outputs, by the bytes of a register and of a real: the
  /// fastest of 1, 2 and 4 targets, 1 and 2 registers, and 0, 8 and 16 packs on a Zen 5 core with g++ 12.
  /// AVX2 and SSE2 seed two registers of doubles at once, so those come in pairs. Two passes pay if the map
  /// costs more than the root; of floats they take a run of terms_in_a_row. Functions such as exp are long chains of
  /// operations, of which more must be in flight.
  constexpr detail::register_block block_of(int register_bytes, int real_bytes, int n_out,
                                            bool mutual, bool calls_functions = false)
  {
    bool const wide = register_bytes == 64;
    int const registers = real_bytes == 8 && !wide ? 2 : 1;
    if (n_out == 1) return {registers, registers == 2 && !calls_functions ? 2 : 4, 0};
    return {registers, !mutual && (wide || registers == 2) ? 4 : 2,
            real_bytes == 4 ? terms_in_a_row<float> : 8};
  }

  /// That block for packs of `registers` registers.
  constexpr detail::rhs_block rhs_block_of(int register_bytes, int registers)
  {
    if (register_bytes < 16) return {1, 2};
    if (register_bytes == 64) return {4, 4};
    return {registers == 1 ? 4 : 2, 2};
  }

  /// One pass serves as many right-hand sides as have at most this many inputs, and outputs, in total; for more of
  /// them K(r) is evaluated again.
  inline constexpr int rhs_columns = 32;
  inline constexpr int rhs_panel_bytes = 48 * 1024;  ///< as panel_bytes, in the second-level cache
  inline constexpr int rhs_matrix_bytes = 24 * 1024; ///< of matrices, in the first-level cache

  /// The mean number of points per leaf from which the mutual form was measured to be faster on CPUs, with n_out outputs
  /// of all right-hand sides: what sources receive is loaded and stored for each leaf that they meet. A call on threads
  /// plans groups first, at a cost of some twelve pairs a leaf. (Sapphire Rapids, AVX2 and AVX-512, 1/r and its gradients in
  /// 2D and 3D, up to 8 right-hand sides: within 1.25 of the faster form.)
  constexpr int cpu_mutual_least_points(int real_bytes, int n_out, bool plans_groups)
  {
    int const in_a_double = 8 / real_bytes;
    return in_a_double * n_out + (plans_groups ? n_out + 2 * in_a_double : n_out / 2);
  }

  // The CUDA kernels, tuned on an H100.

  /// Threads of a block of the one-sided kernel. All of them compute an item of at least gather_wide_targets,
  /// half of them one of at least gather_medium_targets, and a warp a smaller one.
  inline constexpr int gather_threads = 128;
  inline constexpr int gather_wide_targets = 64;   ///< from here on an item takes a block
  inline constexpr int gather_medium_targets = 17; ///< from here on it takes half a block
  /// Targets per thread. Warp teams hold 2, and so do half-block teams with at most gather_few_targets targets.
  constexpr int gather_most_per_thread(int n_out)
  {
    return n_out >= 8 ? 2 : 4;
  }
  inline constexpr int gather_few_targets = 20; ///< see gather_most_per_thread
  /// Size of the tile of a team, in bytes per thread.
  inline constexpr int gather_tile_bytes = 128;
  /// Blocks that must fit on a multiprocessor, which limits the registers of a thread; 0 leaves them to the
  /// compiler. With one output, 8 blocks gain 10 %; with 2 to 6 outputs, any limit costs 5 %.
  constexpr int gather_blocks_of(int real_bytes, int n_out)
  {
    return n_out >= 8 ? 4 : real_bytes == 4 && n_out == 1 ? 8 : 0;
  }
  /// That block for reals of real_bytes and n_out outputs.
  constexpr detail::gather_block gather_block_of_box(int real_bytes, int n_out)
  {
    if (real_bytes == 4) return {n_out == 1 ? 256 : gather_threads, 4};
    return {gather_threads, n_out <= 4 ? 8 : 4};
  }
  /// The most targets of an item of a list. One large box is cut into larger items if there are enough of
  /// them, and otherwise into these or smaller ones.
  inline constexpr int gather_targets = 128;
  inline constexpr int gather_most_targets = 512; ///< of the larger items of one large box
  inline constexpr int gather_least_targets = 64; ///< of the smaller ones

  /// Threads of a block of the mutual kernels of one right-hand side.
  inline constexpr int mutual_threads = 128;
  inline constexpr int mutual_targets_of_item = 128; ///< the most that a warp holds

  /// How far a warp unrolls its loop over the points of its own box. An interaction that is not radial
  /// evaluates a function for each pair, such as a logarithm: many instructions, and unrolling them costs
  /// log_r a sixth of its speed. (A Gaussian in double gains 4 % from 2.)
  constexpr int mutual_own_unroll(int real_bytes, int n_out, bool radial)
  {
    if (!radial) return 1;
    return real_bytes == 4 && n_out == 1 ? 4 : 2;
  }

  /// The number of sources that a warp takes between two butterflies; what they receive is held in registers.
  /// In large boxes each lane holds more targets, so more sources pay.
  constexpr int mutual_block_of(int real_bytes, int n_out, bool large_box)
  {
    int const few = n_out == 1 ? (real_bytes == 4 ? 16 : 8) : (real_bytes == 4 ? 8 : 4);
    return large_box && (n_out == 1 || real_bytes == 8) ? 2 * few : few;
  }

  // Several right-hand sides in one pass of the CUDA kernels, by counting registers and instructions.

  /// The right-hand sides that one pass serves: a power of two, and 1 if an interaction has so many inputs or
  /// outputs that a thread cannot hold two. What a source receives in the mutual kernel travels from lane to
  /// lane, so there a few large sums cost less than many.
  constexpr int right_hand_sides_of_pass(int real_bytes, int n_x, int n_in, int n_out, bool mutual)
  {
    int n = mutual && n_out * real_bytes > 16 ? 4 : 8;
    while (n > 1 && ((n_x + n * n_in) * 8 > gather_tile_bytes || n * n_out > 32)) n /= 2;
    return n;
  }

  /// Up to this many right-hand sides are computed one by one: a pass takes two to three times as long as
  /// one of them.
  constexpr int right_hand_sides_one_by_one(int n_out)
  {
    return n_out == 1 ? 2 : 3;
  }

  /// Targets of a thread of the one-sided kernel, by the 32-bit words that each of them takes in registers.
  constexpr int gather_targets_of_thread(int words)
  {
    return 4 * words <= 96 ? 4 : 2 * words <= 144 ? 2 : 1;
  }
  /// As gather_blocks_of.
  constexpr int gather_several_blocks_of(int real_bytes, int n_out)
  {
    return real_bytes == 4 && n_out > 1 ? 3 : 0;
  }

  /// Targets of a lane of the mutual kernel, by the 32-bit words of one target, which are those of a source too.
  constexpr int mutual_targets_of_lane(int words)
  {
    int const n = 200 / words - 1;
    return n < 1 ? 1 : n < 4 ? n : 4;
  }
  /// Blocks of that kernel, each of one warp, that must fit on a multiprocessor, which has four parts.
  constexpr int mutual_several_blocks_of(int words, int targets)
  {
    return 512 / ((targets + 1) * words + 30) * 4;
  }

  /// The mean number of points per box from which the mutual form of a step with n_out outputs was measured
  /// to be faster than the one-sided form (on an H100).
  constexpr int cuda_mutual_least_points(int n_out)
  {
    return n_out == 1 ? 24 : 128;
  }

  /// The most right-hand sides for which the mutual form was measured to be faster: what it adds to sources, by
  /// atomics, grows with their number, and the one-sided form adds little to its evaluations of K(r). (Measured
  /// for 1 and 8, interpolated between them.)
  constexpr int cuda_mutual_most_right_hand_sides(int n_out)
  {
    return n_out == 1 ? 3 : 1;
  }

  /// About as many targets does an H100 compute at the same time: 132 multiprocessors of 1024 threads.
  constexpr double gpu_targets_at_once = 131072;

  /// Whether the mutual form is faster for n_rhs right-hand sides of n_points in n_boxes boxes.
  constexpr bool cuda_mutual_pays(std::size_t n_points, std::size_t n_boxes, int n_out, int n_rhs)
  {
    return n_boxes > 0 && n_rhs <= cuda_mutual_most_right_hand_sides(n_out) &&
           n_points >= n_boxes * static_cast<std::size_t>(cuda_mutual_least_points(n_out));
  }
}

namespace nearfield::detail
{
  /// What the form of a step depends on.
  struct form_case
  {
    std::string_view interaction; ///< its name
    bool has_way_back;            ///< whether it has a mutual form
    int n_out;
    bool has_one_set; ///< of points
    int n_rhs = 1;
    std::size_t points = 0, leaves = 0; ///< of the targets; 0: not known
    int real_bytes = 8;
    bool plans_groups = false; ///< in each call, for threads
    bool has_cutoff = false;   ///< whether one-sided kernels of a GPU can leave out far pairs
  };

  /// The form wanted or, if that is automatic, the faster one by cpu_mutual_least_points() or cuda_mutual_pays(); mutual
  /// on CPUs if the size of leaves is not known. Throws nearfield::error for form mutual where there is none.
  NEARFIELD_API pair_form choose_form(char const* function, pair_form wanted, backend where,
                                      form_case const& of);
}

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  inline form_case form_case_of(interaction_shape const& shape, bool has_one_set, int n_rhs)
  {
    form_case of{shape.name, shape.has_way_back, shape.n_out, has_one_set, n_rhs};
    of.has_cutoff = shape.has_cutoff;
    return of;
  }
  template <called_interaction K>
  form_case form_case_of(K const& k, bool has_one_set)
  {
    return form_case_of(shape_of(k), has_one_set, 1);
  }
}
