#pragma once

#include <nearfield/core/boxes.hpp>

#include <cstddef>

namespace nearfield
{
  /// How far apart the values of a column of a job are, in values.
  struct p2p_strides
  {
    std::ptrdiff_t target_x = 1;   ///< of p2p_job::target_x
    std::ptrdiff_t target_q = 1;   ///< of p2p_job::target_q
    std::ptrdiff_t target_out = 1; ///< of p2p_job::target_out
    std::ptrdiff_t source_x = 1;   ///< of p2p_job::source_x
    std::ptrdiff_t source_q = 1;   ///< of p2p_job::source_q
    std::ptrdiff_t source_out = 1; ///< of p2p_job::source_out
  };

  /// The work of one call of a compiled P2P kernel: the target boxes [first_box, last_box) of a list. Columns
  /// are pointers: of positions, column d of a set of sources is number set * dim + d; of inputs and
  /// outputs, which follow one another right-hand side by right-hand side, column i of a right-hand side is
  /// number (set * n_rhs + rhs) * n_in + i, and (set * n_rhs + rhs) * n_out + i.
  ///
  /// Only the sources of `own[b]` may coincide with targets of box b, and are tested for it, unless
  /// ranges_may_coincide. All pointers must stay valid during the call; nothing outside the named
  /// points is read or written.
  template <class T>
  struct p2p_job : list_view
  {
    T const* const* target_x = nullptr; ///< dim columns
    T* const* target_out = nullptr;     ///< n_out columns for each right-hand side, added to
    T const* const* source_x = nullptr; ///< dim columns for each set
    T const* const* source_q = nullptr; ///< n_in columns for each set and right-hand side

    // mutual kernels only: the sources receive too
    T const* const* target_q = nullptr; ///< n_in columns for each right-hand side
    T* const* source_out = nullptr; ///< n_out columns for each set and right-hand side, added to

    /// of all columns of a kind; null: the values of each column follow one another
    p2p_strides const* strides = nullptr;

    /// right-hand sides: K(r) is evaluated once for as many of them as a pass serves (rhs_columns)
    int n_rhs = 1;

    index_type first_box = 0; ///< the first target box
    index_type last_box = 0;  ///< one past the last
    index_type first_target =
        0; ///< targets before it in each box are left out, a multiple of targets_at_once

    /// own[b] are the targets of box b themselves: i = j is skipped, and a mutual kernel takes each
    /// pair once
    bool own_is_self = false;
    /// look for pairs at distance zero (detail::tests_for_zero of the interaction)
    bool tests_for_zero = true;
    /// look for them in the ranges too: points have moved since they were sorted into boxes
    bool ranges_may_coincide = false;
  };

  /// A kernel compiled for one interaction, one precision and one instruction set; k points to the
  /// interaction.
  template <class T>
  using p2p_function = void (*)(void const* k, p2p_job<T> const& job) noexcept;

  /// The kernels of one interaction, precision and instruction set.
  template <class T>
  struct p2p_kernels
  {
    /// adds to the targets
    p2p_function<T> one_sided = nullptr;
    /// adds to both sides, with one evaluation per pair; null if K(-r) is not known
    p2p_function<T> mutual = nullptr;
  };
}
