#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/starpu/column_handles.hpp>

#include <starpu.h>

#include <cstddef>
#include <span>

namespace nearfield::starpu::detail
{
  /// Data that one P2P task accesses: a StarPU vector, or a variable of any number of bytes.
  struct p2p_buffer
  {
    starpu_data_handle_t handle = nullptr;
    starpu_data_access_mode mode = STARPU_R;
    void* first = nullptr; ///< where the task runs
    std::size_t bytes = 0;
    std::size_t element_size = 0; ///< 0: a variable, whose elements have no size
  };

  /// What a task to be is given for one role.
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

  /// The buffers of a P2P task, taken one role (x, q, out) after the other. A role is either *packed*, one buffer
  /// whose columns stand one after the other, or *columns*, a buffer for each; all roles of a task alike.
  class p2p_buffers
  {
  public:
    /// How many buffers there are of each kind.
    struct layout
    {
      int roles = 0;       ///< packed: one each
      int coordinates = 0; ///< columns of coordinates, of all sides
      int values = 0;      ///< columns of inputs and outputs, for each right-hand side
    };

    /// Those of the task that this thread runs. Throws error for a number of buffers that is neither that of
    /// packed roles nor that of columns, and for data that is neither vector nor variable.
    p2p_buffers(char const* codelet, layout const& expected, void** buffers);
    /// Those of a task that has not begun.
    p2p_buffers(char const* codelet, layout const& expected, starpu_task* task);
    /// Those of a task to be. Throws error for null handles too. A role that has more or fewer
    /// handles than the others ask for is refused when it is taken.
    p2p_buffers(char const* codelet, layout const& expected, std::span<p2p_handles const> roles);
    p2p_buffers(p2p_buffers const&) = delete;
    p2p_buffers& operator=(p2p_buffers const&) = delete;

    /// A role: its points, and where its columns are.
    class role
    {
    public:
      role() = default;
      [[nodiscard]] index_type size() const { return n_; }
      /// how many columns there are for each that was asked for
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

    /// The next role: coordinates. Throws error for elements of another size than that of a real, for columns
    /// of different lengths, and for no whole number of points.
    role coordinates(char const* what, int n_columns, std::size_t size_of_real);
    /// The next role: inputs, or outputs, of n points; n_columns for each right-hand side. Throws error for sizes
    /// that do not fit, for inputs that the task does not read, for outputs that it does not both read and write
    /// (or reduce), and for outputs whose memory is that of another role too.
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
    int n_rhs_ = 1; ///< of columns
  };
}
