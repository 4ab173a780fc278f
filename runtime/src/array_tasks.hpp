#pragma once

#include "p2p_codelet.hpp"
#include "p2p_sides.hpp"

#include <span>

namespace nearfield::starpu::detail
{
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
