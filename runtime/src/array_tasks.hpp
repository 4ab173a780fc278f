#pragma once

#include "p2p_buffers.hpp"
#include "p2p_codelet.hpp"

#include <span>

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

  /// The codelet of tasks on arrays.
  template <class T>
  class array_tasks : public p2p_codelet<T>
  {
  public:
    static array_tasks& of(array_form form, kernel_type<T> const& k, backend_set backends);

    array_tasks(codelet::description const& what, kernel_type<T> const& k, array_form form)
        : p2p_codelet<T>(what, k), form_(form)
    {}

    /// The number of directed pairs of a task with these handles, times that of right-hand sides. Throws
    /// nearfield::error for handles that the task would refuse.
    [[nodiscard]] double pairs(std::span<p2p_handles const> roles) const;

  private:
    void run(running_task const& task) const override;
    /// 0 if the task will throw.
    [[nodiscard]] double work_of(starpu_task* task) const noexcept override;

    array_form form_;
  };
}
