#pragma once

#include "rounding.hpp"

#include "core/src/cuda/staging.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace nearfield::app
{
  /// Copies columns between the host and the first GPU, with a few threads, on the default stream.
  class gpu_bus
  {
  public:
    /// Subtracts the origin and rounds to T on the way; returns what values are like around `centre`. Empty: zeros.
    template <class T>
    std::vector<value_range> upload(std::vector<std::vector<double>> const& from,
                                    std::span<double const> origin, std::span<double const> centre,
                                    std::span<T* const> to)
    {
      std::vector<value_range> ranges(from.size());
      std::mutex mutex;
      std::vector<nearfield::detail::staged_column> columns;
      for (std::size_t c = 0; c < from.size(); ++c)
        columns.push_back(
            {to[c], from[c].size(), sizeof(T), [&, c](void* piece, std::size_t first, std::size_t n)
             {
               auto const found =
                   round_values(std::span<double const>(from[c]).subspan(first, n),
                                origin.empty() ? 0 : origin[c], centre.empty() ? 0 : centre[c],
                                static_cast<T*>(piece));
               std::lock_guard const lock(mutex);
               ranges[c].add(found);
             }});
      staging_->upload(threads_, columns, nullptr);
      return ranges;
    }

    /// Into columns that have their size.
    template <class T>
    void download(std::span<T const* const> from, std::vector<std::vector<double>>& to)
    {
      std::vector<nearfield::detail::staged_column> columns;
      for (std::size_t c = 0; c < to.size(); ++c)
        columns.push_back({const_cast<T*>(from[c]), to[c].size(), sizeof(T),
                           [&to, c](void* piece, std::size_t first, std::size_t n)
                           {
                             std::copy_n(static_cast<T const*>(piece), n,
                                         to[c].begin() + static_cast<std::ptrdiff_t>(first));
                           }});
      staging_->download(threads_, columns, nullptr);
    }

    /// Gives the columns n values each; the threads touch new memory first.
    void resize(std::vector<std::vector<double>>& columns, std::size_t n)
    {
      threads_.run(static_cast<int>(columns.size()),
                   [&](int c)
                   {
                     auto& column = columns[static_cast<std::size_t>(c)];
                     column.reserve(n);
                     nearfield::detail::use_huge_pages(column.data(), n * sizeof(double));
                     column.resize(n);
                   });
    }

  private:
    threads threads_{8}; // enough to keep the bus busy
    std::unique_ptr<nearfield::detail::staging> staging_ =
        nearfield::detail::staging::make(threads_.workers());
  };
}
