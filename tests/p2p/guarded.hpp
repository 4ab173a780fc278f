#pragma once

#include <nearfield/core/soa.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace nearfield::test
{
  /// N columns between bands of NaN: a read outside a column makes the result NaN, and a write there is
  /// detected by `is_intact`. The columns are aligned only to the size of a value.
  template <class T, int N>
  class guarded
  {
  public:
    explicit guarded(std::size_t size, T fill = T(0)) : size_(size)
    {
      for (int c = 0; c < N; ++c)
      {
        columns_[c].assign(before(c) + size + band, sentinel());
        std::ranges::fill(column(c), fill);
      }
    }

    template <class Columns>
    static guarded copy_of(Columns const& columns, std::size_t size)
    {
      guarded result(size);
      for (int c = 0; c < N; ++c)
        for (std::size_t i = 0; i < size; ++i) result.column(c)[i] = columns[c][i];
      return result;
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::span<T> column(int c) { return {columns_[c].data() + before(c), size_}; }
    [[nodiscard]] std::span<T const> column(int c) const
    {
      return {columns_[c].data() + before(c), size_};
    }

    [[nodiscard]] soa<T, N> view() { return view<N>(0); }
    [[nodiscard]] soa<T const, N> view() const { return view<N>(0); }

    /// M columns from column `first` on.
    template <int M>
    [[nodiscard]] soa<T, M> view(int first)
    {
      std::array<T*, M> data;
      for (int c = 0; c < M; ++c) data[c] = column(first + c).data();
      return {data, size_};
    }
    template <int M>
    [[nodiscard]] soa<T const, M> view(int first) const
    {
      std::array<T const*, M> data;
      for (int c = 0; c < M; ++c) data[c] = column(first + c).data();
      return {data, size_};
    }

    /// Whether all values are equal.
    friend bool operator==(guarded const& a, guarded const& b)
    {
      bool same = true;
      for (int c = 0; c < N; ++c) same = same && std::ranges::equal(a.column(c), b.column(c));
      return same;
    }

    /// Whether no bit of the bands has changed.
    [[nodiscard]] bool is_intact() const
    {
      for (int c = 0; c < N; ++c)
        for (std::size_t i = 0; i < columns_[c].size(); ++i)
          if ((i < before(c) || i >= before(c) + size_) && bits(columns_[c][i]) != bits(sentinel()))
            return false;
      return true;
    }

  private:
    using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

    static constexpr std::size_t band = 48;
    static std::size_t before(int c) { return band + 1 + static_cast<std::size_t>(c); }
    static T sentinel() { return std::numeric_limits<T>::quiet_NaN(); }
    static word bits(T value) { return std::bit_cast<word>(value); }

    std::size_t size_;
    std::array<std::vector<T>, N> columns_;
  };

  /// The end of an array that is adjacent to an inaccessible page.
  enum class fence
  {
    before,
    after
  };

  /// A column that begins right after, or ends right before, an inaccessible page.
  template <class T>
  class fenced
  {
  public:
    fenced(std::size_t size, fence side, T fill) : size_(size)
    {
      std::size_t const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
      std::size_t const inside = (size * sizeof(T) + page - 1) / page * page;
      length_ = inside + 2 * page;
      void* const at = mmap(nullptr, length_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (at == MAP_FAILED) throw std::bad_alloc();
      memory_ = static_cast<std::byte*>(at);
      if (inside > 0 && mprotect(memory_ + page, inside, PROT_READ | PROT_WRITE) != 0)
        throw std::bad_alloc();
      std::size_t const gap = side == fence::after ? inside - size * sizeof(T) : 0;
      data_ = reinterpret_cast<T*>(memory_ + page + gap);
      for (std::size_t i = 0; i < size; ++i) data_[i] = fill;
    }
    fenced(fenced const&) = delete;
    fenced& operator=(fenced const&) = delete;
    ~fenced() { munmap(memory_, length_); }

    [[nodiscard]] T* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }

  private:
    std::size_t size_;
    std::size_t length_;
    std::byte* memory_;
    T* data_;
  };

  /// N columns that begin, or end, so.
  template <class T, int N>
  class fenced_columns
  {
  public:
    fenced_columns(std::size_t size, fence side, T fill) : size_(size)
    {
      for (auto& column : columns_) column = std::make_unique<fenced<T>>(size, side, fill);
    }

    [[nodiscard]] soa<T, N> view() const
    {
      std::array<T*, N> data;
      for (int c = 0; c < N; ++c) data[c] = columns_[c]->data();
      return {data, size_};
    }

  private:
    std::size_t size_;
    std::array<std::unique_ptr<fenced<T>>, N> columns_;
  };
}
