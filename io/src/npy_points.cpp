#include "column_map.hpp"
#include "input_file.hpp"
#include "text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

static_assert(std::endian::native == std::endian::little, "arrays that are read are little-endian");

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    // What a file says of its array, and where the values begin.
    struct array_head
    {
      std::optional<std::size_t> sizeof_real;
      std::optional<bool> is_column_major;
      std::optional<std::vector<std::uint64_t>> shape;
      std::uint64_t begin = 0;

      [[nodiscard]] std::uint64_t rows() const { return (*shape)[0]; }
      [[nodiscard]] std::uint64_t columns() const { return (*shape)[1]; }
    };

    // The dictionary of a head: a literal of Python, with its keys in any order.
    class dictionary
    {
    public:
      dictionary(std::string_view text, std::size_t offset, std::string const& name)
          : text_(text), offset_(offset), name_(name)
      {}

      void read(array_head& head)
      {
        expect('{');
        while (!take('}'))
        {
          auto const at = place();
          auto const key = quoted();
          expect(':');
          if (key == "descr" && !head.sizeof_real)
            head.sizeof_real = read_type();
          else if (key == "fortran_order" && !head.is_column_major)
            head.is_column_major = read_truth();
          else if (key == "shape" && !head.shape)
            head.shape = read_shape();
          else
            fail_at_byte(name_, at, "key " + in_quotes(key),
                         "descr, fortran_order and shape, each once");
          if (take(',')) continue;
          expect('}');
          break;
        }
        if (next() != '\0')
          fail_at_byte(name_, place(), in_quotes(text_.substr(at_, 10)),
                       "the end of the head after the dictionary");
        if (!head.sizeof_real || !head.is_column_major || !head.shape)
          fail_at_byte(name_, place(), "the end of the dictionary",
                       "descr, fortran_order and shape");
      }

    private:
      [[nodiscard]] std::size_t place() const { return offset_ + at_; }

      // past blanks
      char next()
      {
        while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n')) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
      }
      bool take(char wanted)
      {
        if (next() != wanted) return false;
        ++at_;
        return true;
      }
      void expect(char wanted)
      {
        if (!take(wanted))
          fail_at_byte(name_, place(), in_quotes(text_.substr(at_, 10)),
                       in_quotes(std::string_view(&wanted, 1)) + " in the dictionary of the array");
      }

      std::string_view quoted()
      {
        char const quote = next() == '"' ? '"' : '\'';
        expect(quote);
        auto const length = std::min(text_.find(quote, at_), text_.size()) - at_;
        auto const text = text_.substr(at_, length);
        at_ += length;
        expect(quote);
        return text;
      }

      std::size_t read_type()
      {
        if (next() == '[')
          fail_at_byte(name_, place(), "an array of records",
                       "an array of numbers, '<f4' or '<f8'");
        auto const at = place();
        auto const type = quoted();
        if (type != "<f4" && type != "<f8")
          fail_at_byte(name_, at, "type " + in_quotes(type),
                       "'<f4' or '<f8', such as of numpy.float64");
        return type == "<f4" ? 4 : 8;
      }

      bool read_truth()
      {
        next();
        for (std::string_view const word : {"True", "False"})
          if (text_.substr(at_).starts_with(word))
          {
            at_ += word.size();
            return word == "True";
          }
        fail_at_byte(name_, place(), in_quotes(text_.substr(at_, 10)), "True or False");
      }

      std::vector<std::uint64_t> read_shape()
      {
        auto const at = place();
        std::vector<std::uint64_t> shape;
        expect('(');
        while (!take(')'))
        {
          next();
          auto const digits =
              std::min(text_.find_first_not_of("0123456789", at_), text_.size()) - at_;
          std::int64_t n = 0;
          if (parse_number(text_.substr(at_, digits), n) != number_status::good)
            fail_at_byte(name_, place(), in_quotes(text_.substr(at_, digits + 1)),
                         "a number of rows or columns");
          at_ += digits;
          shape.push_back(static_cast<std::uint64_t>(n));
          if (take(',')) continue;
          expect(')');
          break;
        }
        if (shape.size() != 2)
          fail_at_byte(name_, at, count_of(shape.size(), "dimension"),
                       "two: a row for each point, with its coordinates and inputs");
        return shape;
      }

      std::string_view text_;
      std::size_t offset_, at_ = 0;
      std::string const& name_;
    };

    constexpr std::size_t longest_head = 12 + 65535;

    // `content`: the file, or the first longest_head bytes of it.
    array_head read_head(std::string_view content, std::uint64_t file_size, std::string const& name)
    {
      using namespace std::string_view_literals;
      constexpr auto magic = "\x93NUMPY"sv;
      if (!content.starts_with(magic))
        fail_at_byte(name, 0, in_quotes(content.substr(0, magic.size())), "an array of NumPy");
      auto const byte = [&](std::size_t at)
      {
        return at < content.size() ? std::size_t(static_cast<unsigned char>(content[at])) : 0;
      };
      std::size_t const version = byte(6);
      if (version < 1 || version > 3)
        fail_at_byte(name, 6, "version " + std::to_string(version), "1 to 3");
      std::size_t const length_size = version == 1 ? 2 : 4, start = 8 + length_size;
      std::size_t length = 0;
      for (std::size_t b = 0; b < length_size; ++b) length |= byte(8 + b) << 8 * b;
      if (length > longest_head - start || start + length > content.size())
        fail_at_byte(name, 8, "a head of " + count_of(length, "byte"),
                     length > longest_head - start ? "at most 65535" : "one that ends in the file");
      array_head head;
      dictionary(content.substr(start, length), start, name).read(head);
      head.begin = start + length;
      std::uint64_t const room = file_size - head.begin,
                          of_row = head.columns() * *head.sizeof_real;
      if (head.columns() == 0 || head.columns() > max_values_per_point)
        fail_at_byte(name, start, count_of(head.columns(), "column"),
                     "1 to " + std::to_string(max_values_per_point));
      if (head.rows() > room / of_row || head.rows() * of_row != room)
        fail_at_byte(name, head.begin, count_of(room, "byte") + " of values",
                     std::to_string(head.rows()) + " rows of " + count_of(of_row, "byte"));
      return head;
    }

    column_map columns_of(array_head const& head, std::string const& name,
                          read_options const& options)
    {
      auto const fail = [&](std::string const& found, std::string const& expected)
      {
        throw error(printable(name) + (options.columns.empty() ? "" : ": columns (--columns)") +
                    ": found " + found + ", expected " + expected);
      };
      auto const n = static_cast<std::size_t>(head.columns());
      auto const names = options.columns.empty() ? usual_names(n, options.dim) : options.columns;
      if (names.size() != n)
        options.columns.empty()
            ? fail(count_of(n, "column"), "at least " + std::to_string(std::max(options.dim, 2)))
            : fail(count_of(names.size(), "name"), std::to_string(n) + ", one for each column");
      return map_of(names, options.dim, fail);
    }

    // The points [first, last); piece(begin, end) gives bytes of the file.
    template <class Real, class Piece>
    point_set read_values(array_head const& head, std::uint64_t first, std::uint64_t last,
                          std::string const& name, read_options const& options, Piece const& piece)
    {
      auto const map = columns_of(head, name, options);
      bool const is_column_major = *head.is_column_major;
      auto const stride = static_cast<std::size_t>(is_column_major ? 1 : head.columns());
      auto const place = [&](std::uint64_t row, std::uint64_t column)
      {
        return head.begin +
               (row * stride + column * (is_column_major ? head.rows() : 1)) * sizeof(Real);
      };
      auto const n = static_cast<std::size_t>(last - first);
      using bytes = decltype(piece(0, 0));
      bytes rows{};
      if (!is_column_major) rows = piece(place(first, 0), place(last, 0));
      std::size_t bad_row = n, bad_column = 0; // the first value that is not finite, row by row
      double bad = 0;
      auto const read = [&](std::vector<std::vector<double>>& columns,
                            std::vector<std::size_t> const& places, bool may_be_infinite)
      {
        for (std::size_t k = 0; k < places.size(); ++k)
        {
          std::size_t const column = places[k];
          bytes const own =
              is_column_major ? piece(place(first, column), place(last, column)) : bytes{};
          bytes const& from = is_column_major ? own : rows;
          columns[k].resize(n);
          for (std::size_t i = 0; i < n; ++i)
          {
            Real value;
            std::size_t const at = i * stride + (is_column_major ? 0 : column);
            std::memcpy(&value, from.data() + at * sizeof value, sizeof value);
            columns[k][i] = static_cast<double>(value);
            if (may_be_infinite || std::isfinite(value) || i > bad_row ||
                (i == bad_row && column > bad_column))
              continue;
            bad_row = i;
            bad_column = column;
            bad = columns[k][i];
          }
        }
      };
      auto points = empty_set(map);
      std::vector<std::vector<double>> masses(map.masses.size());
      read(points.positions, map.positions, false);
      read(points.velocities, map.velocities, false);
      read(masses, map.masses, false);
      read(points.inputs, map.inputs, false);
      read(points.outputs, map.outputs, true);
      if (!masses.empty()) points.masses = std::move(masses[0]);
      if (bad_row < n)
        fail_at_byte(name, place(first + bad_row, bad_column),
                     detail::number_text(bad) + " for " + map.names[bad_column] + " of point " +
                         std::to_string(first + bad_row),
                     "a finite number");
      return points;
    }

    template <class Piece>
    point_set read_points_of(array_head const& head, file_part const& part, std::string const& name,
                             read_options const& options, Piece const& piece)
    {
      check_dim(options);
      refuse_atom_style(options, name);
      auto const begin_of = [&](std::uint64_t i)
      {
        return part_begin(head.rows(), i, part.count);
      };
      std::uint64_t const first = begin_of(part.index), last = begin_of(part.index + 1);
      return *head.sizeof_real == 4 ? read_values<float>(head, first, last, name, options, piece)
                                    : read_values<double>(head, first, last, name, options, piece);
    }
  }

  point_set parse_npy(std::string_view content, std::string const& name,
                      read_options const& options)
  {
    auto const head = read_head(content, content.size(), name);
    return read_points_of(head, {0, 1}, name, options,
                          [&](std::uint64_t begin, std::uint64_t end)
                          { return content.substr(begin, static_cast<std::size_t>(end - begin)); });
  }

  point_set detail::io::parse_npy_part(input_file const& file, read_options const& options)
  {
    std::uint64_t const size = file.size();
    auto const head =
        read_head(file.piece(0, std::min<std::uint64_t>(size, longest_head)), size, file.name());
    return read_points_of(head, *options.part, file.name(), options,
                          [&](std::uint64_t begin, std::uint64_t end)
                          { return file.piece(begin, end); });
  }
}
