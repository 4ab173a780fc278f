#pragma once

#include "task.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/kernel_of.hpp>

#include <starpu.h>

#include <cstddef>
#include <span>
#include <string>

/// \file
/// The buffers of a P2P task as what they are: x, q and out of targets and sources.

namespace nearfield::starpu::detail
{
  /// The roles of the buffers of a task on arrays, in their order, by what it computes.
  struct p2p_roles
  {
    enum side
    {
      targets, ///< also the sources, if there is no role of those
      sources
    };
    enum kind
    {
      x,
      q,
      out
    };
    struct role
    {
      char const* name;
      side of;
      kind what;
    };

    /// out_i += sum_{j != i} K(x_i - x_j) q_j, with one evaluation per pair if K has a mutual form
    static constexpr role inner[] = {{"x", targets, x}, {"q", targets, q}, {"out", targets, out}};
    /// out_i += sum_j K(x_i - y_j) q_j, targets x and sources y
    static constexpr role outer[] = {
        {"x", targets, x}, {"y", sources, x}, {"q", sources, q}, {"out", targets, out}};
    /// Both directions of outer with one evaluation per pair, x_out_i += sum_j K(x_i - y_j) y_q_j and
    /// y_out_j += sum_i K(y_j - x_i) x_q_i
    static constexpr role outer_mutual[] = {{"x", targets, x},       {"y", sources, x},
                                            {"x_q", targets, q},     {"y_q", sources, q},
                                            {"x_out", targets, out}, {"y_out", sources, out}};
  };

  /// The buffers of a task, role by role. Either all roles are *packed*, one buffer with columns one after the other, or all
  /// have a buffer per column.
  struct p2p_form
  {
    char const* task;
    std::span<p2p_roles::role const> roles;
    /// of outputs; STARPU_W: the task overwrites them
    starpu_data_access_mode output =
        static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE);
  };

  /// The two sides of a task.
  template <class T>
  class p2p_sides
  {
  public:
    struct side
    {
      index_type n = 0;                 ///< points
      int n_rhs = 0;                    ///< of q and out; 0: there is no such role
      inline_vector<T*, 16> columns[3]; ///< by p2p_roles::kind; q and out for all right-hand sides

      /// Null: the side has none.
      [[nodiscard]] T* const* operator[](p2p_roles::kind of) const
      {
        return columns[of].size() > 0 ? columns[of].data() : nullptr;
      }
    };

    /// The sides of a task that has not started, or with the buffers that it runs with. Throws nearfield::error if the
    /// number of buffers fits neither packed roles nor columns; for data that are neither vector nor variable, and elements
    /// of another size than a real; for sizes that do not match, in x a whole number of points; for inputs not accessed as
    /// STARPU_R, and outputs not accessed as STARPU_RW or STARPU_REDUX (STARPU_W if the task overwrites them); for
    /// outputs that share memory with another role; and if the numbers of right-hand sides differ.
    p2p_sides(p2p_form const& form, kernel_shape const& k, starpu_task* task,
              void** buffers = nullptr);
    /// The sides of a task that is not yet submitted, from the handles of each role. Also throws nearfield::error for null
    /// handles, and for a role with too many or too few.
    p2p_sides(p2p_form const& form, kernel_shape const& k,
              std::span<column_handles const* const> handles);

    [[nodiscard]] bool is_one() const { return is_one_; }
    [[nodiscard]] side const& targets() const { return sides_[0]; }
    [[nodiscard]] side const& sources() const { return sides_[is_one_ ? 0 : 1]; }
    [[nodiscard]] int n_rhs() const { return n_rhs_; }
    /// Directed pairs, times the number of right-hand sides.
    [[nodiscard]] double pairs() const;

    void add_buffers_to(task& to) const;

  private:
    /// A StarPU vector, or a variable of any number of bytes.
    struct buffer
    {
      starpu_data_descr data;
      void* first = nullptr; ///< in the memory where the task runs
      std::size_t bytes = 0;
      std::size_t element_size = 0; ///< 0: a variable
    };
    using role = p2p_roles::role;

    void add(starpu_data_descr const& data, void* interface);
    void read(std::span<column_handles const* const> handles);
    void choose_layout();
    [[nodiscard]] index_type count_points(role const& of, std::span<buffer const> buffers) const;
    [[nodiscard]] int count_rhs(role const& of, std::span<buffer const> buffers) const;
    void check_access(role const& of, buffer const& one) const;
    [[nodiscard]] std::size_t values_in(role const& of, buffer const& one) const;
    /// Of all right-hand sides, as far as their number is known.
    [[nodiscard]] std::size_t n_columns(role const& of) const
    {
      return static_cast<std::size_t>(width_[of.what] * (of.what == p2p_roles::x ? 1 : n_rhs_));
    }
    [[noreturn]] void fail(std::string const& what) const;

    p2p_form form_;
    int width_[3]; ///< columns, by p2p_roles::kind, of a right-hand side
    inline_vector<buffer, 16> buffers_;
    side sides_[2];
    bool is_one_ = true, is_packed_ = true;
    int n_rhs_ = 1;
  };
}
