#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/starpu/handles.hpp>

#include <starpu.h>

#include <cstddef>
#include <span>

namespace nearfield::starpu::detail
{
  /// A buffer of a P2P task: a StarPU vector, or a variable of any number of bytes.
  struct p2p_buffer
  {
    starpu_data_handle_t handle = nullptr;
    starpu_data_access_mode mode = STARPU_R;
    void* first = nullptr; ///< in the memory where the task runs
    std::size_t bytes = 0;
    std::size_t element_size = 0; ///< 0: a variable
  };

  /// The handles of one role, for a task that is not yet submitted.
  struct p2p_handles
  {
    std::span<starpu_data_handle_t const> handles;
    bool is_output = false;

    [[nodiscard]] starpu_data_access_mode mode() const
    {
      return is_output ? static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE)
                       : STARPU_R;
    }
  };

  /// The buffers of a P2P task, taken role by role (x, q, out). Either all roles are *packed*, one buffer with
  /// columns one after the other, or all have a buffer per column.
  class p2p_buffers
  {
  public:
    /// The number of buffers that a task may have.
    struct layout
    {
      int roles = 0;           ///< if packed
      int coordinates = 0;     ///< columns of coordinates, on both sides
      int values = 0;          ///< columns of inputs and outputs per right-hand side, on both sides
      bool overwrites = false; ///< the task writes its outputs and does not add to them
    };

    /// The buffers of the task that this thread runs. Throws nearfield::error if their number fits neither
    /// packed roles nor columns, and for data that is neither vector nor variable.
    p2p_buffers(char const* codelet, layout const& expected, void** buffers)
        : p2p_buffers(codelet, expected, starpu_task_get_current(), buffers)
    {}
    /// The buffers of a task that has not started, or those that it runs with.
    p2p_buffers(char const* codelet, layout const& expected, starpu_task* task,
                void** buffers = nullptr);
    /// The buffers of a task that is not yet submitted. Also throws nearfield::error for null handles. A
    /// role with too many or too few handles is refused when it is taken.
    p2p_buffers(char const* codelet, layout const& expected, std::span<p2p_handles const> roles);
    p2p_buffers(p2p_buffers const&) = delete;
    p2p_buffers& operator=(p2p_buffers const&) = delete;

    /// A role: its points, and where its columns are.
    class role
    {
    public:
      role() = default;
      [[nodiscard]] index_type size() const { return n_; }
      /// the number of right-hand sides of inputs or outputs
      [[nodiscard]] int n_rhs() const { return n_rhs_; }
      template <class T>
      [[nodiscard]] T* column(int c) const
      {
        return is_packed_ ? static_cast<T*>(buffers_[0].first) + static_cast<std::size_t>(c) * n_
                          : static_cast<T*>(buffers_[c].first);
      }
      explicit operator bool() const { return !buffers_.empty(); }

    private:
      friend p2p_buffers;
      std::span<p2p_buffer const> buffers_;
      index_type n_ = 0;
      int n_rhs_ = 1;
      bool is_packed_ = true;
    };

    /// Takes the next role, coordinates. Throws nearfield::error for elements of another size than a real,
    /// columns of different lengths, and a size that is no whole number of points.
    role coordinates(char const* what, int n_columns, std::size_t size_of_real);
    /// Takes the next role, inputs or outputs of n points with n_columns per right-hand side. Throws
    /// nearfield::error for sizes that do not match, inputs not accessed as STARPU_R, outputs not accessed as
    /// STARPU_RW or STARPU_REDUX (STARPU_W if the task overwrites them), and outputs that share memory with another
    /// role.
    role values(char const* what, int n_columns, std::size_t size_of_real, index_type n,
                bool is_output);

    [[nodiscard]] char const* codelet() const { return codelet_; }

  private:
    void add(starpu_data_handle_t data, starpu_data_access_mode mode, void* interface);
    void choose_layout(layout const& expected);
    std::span<p2p_buffer const> take(char const* what, int n_columns, bool is_output);
    std::size_t values_in(char const* what, p2p_buffer const& buffer,
                          std::size_t size_of_real) const;
    void check_access(char const* what, p2p_buffer const& buffer, bool is_output) const;

    char const* codelet_;
    inline_vector<p2p_buffer, 16> buffers_;
    std::span<p2p_handles const> roles_;
    std::size_t next_ = 0, next_role_ = 0;
    bool is_packed_ = true;
    bool overwrites_ = false;
    int n_rhs_ = 1; ///< if not packed
  };
}
