#pragma once

#include "search_result.hpp"

#include <nearfield/core/numbers.hpp>
#include <nearfield/io/points.hpp>

#include <concepts>
#include <cstdint>
#include <string>

namespace nearfield::app
{
  /// The lines of a list, CSV or NPY, which go to the file block by block.
  class list_lines
  {
  public:
    /// `n_shifts`: numbers of the image of a pair.
    list_lines(byte_sink const& put, bool csv, list_kind kind, std::size_t width, int n_shifts)
        : put_(put), is_csv_(csv), has_rows_(kind == list_kind::count || kind == list_kind::table),
          width_(width), n_shifts_(static_cast<std::size_t>(n_shifts))
    {
      bytes_.reserve(size + reserve);
    }

    void header(search_result const& whole)
    {
      if (!is_csv_)
      {
        bytes_ += !has_rows_   ? format_npy_header({whole.pairs, 2 + n_shifts_})
                  : width_ > 0 ? format_npy_header({whole.points, width_ + 1})
                               : format_npy_header({whole.points});
        return;
      }
      bytes_ += has_rows_ ? "i,count" : "i,j";
      for (std::size_t a = 0; a < n_shifts_; ++a) (bytes() += ",s") += "xyz"[a];
      for (std::size_t k = 0; k < width_; ++k) nearfield::detail::append_number(bytes() += ",j", k);
      end();
    }
    /// Of a half or a full list; image(a) is asked for along each axis if images are.
    void pair(std::uint64_t i, std::uint64_t j, auto const& image)
    {
      begin(i);
      value(j);
      for (std::size_t a = 0; a < n_shifts_; ++a) value(image(a));
      end();
    }
    /// Of the others: padded to the width of a table.
    void row(std::uint64_t i, std::uint64_t count, auto const& neighbours)
    {
      begin(i);
      value(count);
      for (auto const j : neighbours) value(j);
      for (std::size_t k = neighbours.size(); k < width_; ++k) nothing();
      end();
    }
    void flush()
    {
      put_(bytes_);
      bytes_.clear();
    }

  private:
    void begin(std::uint64_t i)
    {
      if (is_csv_)
        nearfield::detail::append_number(bytes(), i);
      else if (!has_rows_)
        value(i);
    }
    void value(std::integral auto j)
    {
      if (is_csv_)
        nearfield::detail::append_number(bytes() += ',', j);
      else
        append_npy(bytes(), static_cast<std::int64_t>(j));
    }
    void nothing()
    {
      if (is_csv_)
        bytes() += ',';
      else
        append_npy(bytes(), -1);
    }
    void end()
    {
      if (is_csv_) bytes() += '\n';
    }
    std::string& bytes()
    {
      if (bytes_.size() >= size) flush();
      return bytes_;
    }

    static constexpr std::size_t size = 1 << 20, reserve = 1 << 10;
    byte_sink const& put_;
    bool is_csv_, has_rows_;
    std::size_t width_, n_shifts_;
    std::string bytes_;
  };
}
