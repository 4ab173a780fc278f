#pragma once

#include <nearfield/core/config.hpp>

#include <starpu.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace nearfield::starpu
{
  /// A StarPU vector handle that unregisters itself. Columns are stored one after the other: with n points,
  /// value (i, column) is element column * n + i. Making one throws nearfield::error for 2^32 values or
  /// more, or if StarPU is not running.
  class NEARFIELD_API handle
  {
  public:
    handle() = default;
    /// of(data, n, arbiter)
    template <class T>
    handle(T* data, std::size_t n, starpu_arbiter_t arbiter = nullptr)
        : handle(of(data, n, arbiter))
    {}

    /// n values in the caller's memory, which must outlive the handle; tasks work on it in place. Outputs
    /// of mutual tasks (p2p_tasks::insert_outer_mutual) should share an arbiter, which must outlive the
    /// handles.
    template <class T>
    static handle of(T* data, std::size_t n, starpu_arbiter_t arbiter = nullptr)
    {
      handle made(STARPU_MAIN_RAM, data, n, n, sizeof(T));
      if (arbiter) starpu_data_assign_arbiter(made, arbiter);
      return made;
    }

    /// n values that a task must write before others read them or add to them. If StarPU has GPU workers,
    /// it allocates the values where they are first written, and aborts if they are read before. Without
    /// GPUs they are allocated here, as zeros, because StarPU retries for ever if the data of a task do not
    /// fit into memory; throws nearfield::error.
    /// `room`, if it is more than n, is the number of values to allocate memory for. StarPU keeps freed memory by its
    /// size, so with GPU workers new data take the memory of data that had as much room.
    template <class T>
    static handle of_size(std::size_t n, std::size_t room = 0)
    {
      return of_bytes(n, std::max(n, room), sizeof(T));
    }

    /// Data without values (StarPU's void interface), for the order of tasks alone: those that read it may run at once;
    /// one that writes it runs after all that were submitted before it, and before all that follow. It is no x, q or out
    /// of a task. Throws nearfield::error if StarPU is not running.
    static handle of_order();

    /// Takes the data of `other`, which is empty afterwards.
    handle(handle&& other) noexcept
        : memory_(std::move(other.memory_)), data_(std::exchange(other.data_, nullptr))
    {}
    /// Exchanges data with `other`.
    handle& operator=(handle&& other) noexcept
    {
      std::swap(memory_, other.memory_);
      std::swap(data_, other.data_);
      return *this;
    }
    /// Waits for the tasks that use the data and updates the caller's memory. Does nothing if StarPU has
    /// already been stopped. StarPU aborts the process if a worker calls it, in a codelet or a callback.
    ~handle();

    /// StarPU's handle; null if this one is empty.
    [[nodiscard]] starpu_data_handle_t get() const { return data_; }
    /// StarPU's handle; null if this one is empty.
    operator starpu_data_handle_t() const { return data_; } // NOLINT(google-explicit-constructor)
    /// Whether it holds data.
    explicit operator bool() const { return data_ != nullptr; }

  private:
    using owned_memory = std::unique_ptr<void, decltype(&std::free)>;

    handle(int home, void const* data, std::size_t n, std::size_t room, std::size_t element_size);
    static handle of_bytes(std::size_t n, std::size_t room, std::size_t element_size);

    owned_memory memory_{nullptr, &std::free}; ///< allocated by of_size()
    starpu_data_handle_t data_ = nullptr;
  };

  namespace detail
  {
    /// A vector that allocates memory only beyond N elements, since every task makes several.
    template <class T, std::size_t N>
      requires std::is_trivially_copyable_v<T>
    class inline_vector
    {
    public:
      inline_vector() = default;
      template <class Iterator>
      inline_vector(Iterator first, Iterator last)
      {
        for (; first != last; ++first) push_back(*first);
      }

      void push_back(T const& value)
      {
        if (size_ < N)
          first_[size_] = value;
        else
        {
          if (size_ == N) all_.assign(first_, first_ + N);
          all_.push_back(value);
        }
        ++size_;
      }
      void clear() { size_ = 0; }

      [[nodiscard]] std::size_t size() const { return size_; }
      [[nodiscard]] T const* data() const { return size_ > N ? all_.data() : first_; }
      T const& operator[](std::size_t k) const { return data()[k]; }
      [[nodiscard]] T const* begin() const { return data(); }
      [[nodiscard]] T const* end() const { return data() + size_; }

    private:
      T first_[N]{};
      std::vector<T> all_; ///< used for more than N
      std::size_t size_ = 0;
    };

    /// The x, q or out of a P2P task: one packed handle, or one handle per column.
    class column_handles
    {
    public:
      column_handles() = delete; ///< so that the compiler refuses a task without its x, q or out
      /// A packed handle.
      template <std::convertible_to<starpu_data_handle_t> Handle>
      column_handles(Handle const& packed) // NOLINT(google-explicit-constructor)
      {
        handles_.push_back(packed);
      }
      /// One handle per column, in order: all columns of the first right-hand side, then those of the next.
      column_handles(std::initializer_list<starpu_data_handle_t> columns)
          : handles_(columns.begin(), columns.end())
      {}
      /// The same from a range, such as a std::vector<nearfield::starpu::handle>.
      template <std::ranges::input_range Columns>
        requires std::convertible_to<std::ranges::range_reference_t<Columns const&>,
                                     starpu_data_handle_t>
      column_handles(Columns const& columns) // NOLINT(google-explicit-constructor)
          : handles_(std::ranges::begin(columns), std::ranges::end(columns))
      {}

      /// The handles.
      [[nodiscard]] std::span<starpu_data_handle_t const> get() const
      {
        return {handles_.begin(), handles_.end()};
      }

    private:
      inline_vector<starpu_data_handle_t, 8> handles_;
    };

    /// The first member of the arguments of a task. No handle converts to it, so that x, q and out, which are of one
    /// type, are given by name: `{.x = hx, .q = hq, .out = hphi}`.
    enum class by_name
    {
    };
  }

  /// The points of a box that are targets and sources. For n points, x has dim columns of n values, q has n_in
  /// and out n_out columns; with k right-hand sides, q and out have k times as many.
  ///
  ///     nearfield::starpu::box_handles const box{.x = {hx, hy, hz}, .q = {hq}, .out = {hphi}};
  ///
  /// Each is one packed handle, whose columns lie one after the other (`.x = hx`), or one handle per column, as above
  /// or in a range, such as a std::vector<nearfield::starpu::handle>: all columns of the first right-hand side, then
  /// those of the next. All arguments of a task must be of the same kind.
  struct box_handles
  {
    /// The points of a box that are targets only.
    struct targets
    {
      detail::by_name name_x_and_out = {}; ///< not to be given
      detail::column_handles x;            ///< positions, read
      detail::column_handles out;          ///< outputs, added to
    };

    /// The points of a box that are sources only.
    struct sources
    {
      detail::by_name name_x_and_q = {}; ///< not to be given
      detail::column_handles x;          ///< positions, read
      detail::column_handles q;          ///< inputs, read
    };

    detail::by_name name_x_q_and_out = {}; ///< not to be given
    detail::column_handles x;              ///< positions, read
    detail::column_handles q;              ///< inputs, read
    detail::column_handles out;            ///< outputs, added to
  };
}
