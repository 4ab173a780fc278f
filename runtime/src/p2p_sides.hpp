#pragma once

#include "p2p_buffers.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/kernel_of.hpp>

#include <cstddef>
#include <string>

/// \file
/// The buffers of a P2P task as what they are: x, q and out of targets and sources.

namespace nearfield::starpu::detail
{
  /// What a P2P task on arrays computes, with its buffers by role.
  enum class array_form
  {
    /// x, q, out: out_i += sum_{j != i} K(x_i - x_j) q_j, with one evaluation per pair if K has a mutual form
    inner,
    /// x, y, q, out: out_i += sum_j K(x_i - y_j) q_j, targets x and sources y
    outer,
    /// x, y, x_q, y_q, x_out, y_out: both directions of outer with one evaluation per pair,
    /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i
    outer_mutual
  };

  inline p2p_buffers::layout layout_of(array_form form, interaction_shape const& k)
  {
    switch (form)
    {
    case array_form::inner:
      return {.roles = 3, .coordinates = k.dim, .values = k.n_in + k.n_out};
    case array_form::outer:
      return {.roles = 4, .coordinates = 2 * k.dim, .values = k.n_in + k.n_out};
    default:
      return {.roles = 6, .coordinates = 2 * k.dim, .values = 2 * (k.n_in + k.n_out)};
    }
  }

  /// The points of one side of a task: coordinates and, if the task has them on this side, inputs and
  /// outputs.
  struct side
  {
    p2p_buffers::role x, q, out;
    int n_rhs = 1;
  };

  /// The two sides of a task, made from its buffers role by role.
  class sides
  {
  public:
    sides(array_form form, interaction_shape const& k, std::size_t size_of_real, p2p_buffers& from)
        : from_(from), k_(k), size_of_real_(size_of_real), is_one_(form == array_form::inner)
    {
      take_x(x_, "x");
      switch (form)
      {
      case array_form::inner:
        take_q(x_, "q");
        take_out(x_, "out");
        break;
      case array_form::outer:
        take_x(y_, "y");
        take_q(y_, "q");
        take_out(x_, "out");
        break;
      case array_form::outer_mutual:
        take_x(y_, "y");
        take_q(x_, "x_q");
        take_q(y_, "y_q");
        take_out(x_, "x_out");
        take_out(y_, "y_out");
        break;
      }
    }

    [[nodiscard]] bool is_one() const { return is_one_; }
    [[nodiscard]] side const& targets() const { return x_; }
    [[nodiscard]] side const& sources() const { return is_one_ ? x_ : y_; }

    /// The number of right-hand sides; 0 if a side has no points, since packed columns then do not tell.
    /// Throws nearfield::error if the numbers of both sides differ.
    [[nodiscard]] int n_rhs() const
    {
      side const &targets = this->targets(), &sources = this->sources();
      if (targets.x.size() == 0 || sources.x.size() == 0) return 0;
      if (targets.n_rhs != sources.n_rhs)
        throw error(std::string(from_.codelet()) + ": the targets have " +
                    std::to_string(targets.n_rhs) + " right-hand sides, the sources " +
                    std::to_string(sources.n_rhs) + "; give one output for each");
      return targets.n_rhs;
    }

    /// Directed pairs, times the number of right-hand sides.
    [[nodiscard]] double pairs() const
    {
      double const n = targets().x.size(), m = sources().x.size();
      double const of_one = is_one_ ? n * (n - 1) : sources().out ? 2 * n * m : n * m;
      return n_rhs() * of_one;
    }

  private:
    void take_x(side& to, char const* what)
    {
      to.x = from_.coordinates(what, k_.dim, size_of_real_);
    }
    void take_q(side& to, char const* what)
    {
      to.q = from_.values(what, k_.n_in, size_of_real_, to.x.size(), false);
      to.n_rhs = to.q.n_rhs();
    }
    void take_out(side& to, char const* what)
    {
      to.out = from_.values(what, k_.n_out, size_of_real_, to.x.size(), true);
      if (to.q && to.out.n_rhs() != to.n_rhs)
        throw error(std::string(from_.codelet()) + ": q has " + std::to_string(to.n_rhs) +
                    " right-hand sides, " + what + " has " + std::to_string(to.out.n_rhs()) +
                    "; give one output for each");
      to.n_rhs = to.out.n_rhs();
    }

    p2p_buffers& from_;
    interaction_shape const& k_;
    std::size_t size_of_real_;
    bool is_one_;
    side x_, y_;
  };

  /// The columns of one side, those of q and out for all right-hand sides.
  template <class T>
  struct side_columns
  {
    inline_vector<T const*, 16> x, q;
    inline_vector<T*, 16> out;

    side_columns(side const& of, interaction_shape const& k, int n_rhs)
    {
      for (int d = 0; d < k.dim; ++d) x.push_back(of.x.column<T const>(d));
      if (of.q)
        for (int i = 0; i < n_rhs * k.n_in; ++i) q.push_back(of.q.column<T const>(i));
      if (of.out)
        for (int o = 0; o < n_rhs * k.n_out; ++o) out.push_back(of.out.column<T>(o));
    }
    [[nodiscard]] T const* const* inputs() const { return q.size() > 0 ? q.data() : nullptr; }
    [[nodiscard]] T* const* outputs() const { return out.size() > 0 ? out.data() : nullptr; }
  };
}
