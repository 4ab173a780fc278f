#include "fma.hpp"
#include "input_file.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nearfield
{
  namespace detail::io
  {
    complaint check_header(fma_header const& header, read_options const& options)
    {
      if (header.sizeof_real != 4 && header.sizeof_real != 8)
        return {"sizeof_real = " + std::to_string(header.sizeof_real), "4 or 8"};
      if (header.n_values > max_values_per_point)
        return {std::to_string(header.n_values) + " values a record",
                "at most " + std::to_string(max_values_per_point)};
      if (header.dim != 2 && header.dim != 3)
        return {"dimension " + std::to_string(header.dim), "2 or 3"};
      if (options.dim != 0 && header.dim != static_cast<std::uint64_t>(options.dim))
        return {"dimension " + std::to_string(header.dim), wanted(options)};
      if (header.n_inputs > header.n_values || header.dim + header.n_inputs > header.n_values)
        return {count_of(header.n_values, "value") + " a record",
                "at least " + std::to_string(header.dim) + " coordinates and " +
                    count_of(header.n_inputs, "input")};
      return {};
    }

    column_map map_of(fma_header const& header)
    {
      column_map map;
      for (std::size_t k = 0; k < header.n_values; ++k)
      {
        auto const input = k - header.dim, output = input - header.n_inputs;
        bool const is_position = k < header.dim, is_input = !is_position && input < header.n_inputs;
        (is_position ? map.positions : is_input ? map.inputs : map.outputs).push_back(k);
        map.names.push_back(is_position ? std::string(1, "xyz"[k])
                            : is_input  ? "input " + std::to_string(input + 1)
                                        : "output " + std::to_string(output + 1));
      }
      map.titles = map.names;
      return map;
    }

    namespace
    {
      // The values of a text as one stream. Line breaks count as blanks, but are tracked: messages
      // give the line, and records must not straddle lines.
      class token_stream
      {
      public:
        explicit token_stream(std::string_view content) : lines_(content) {}

        /// the next value, false at the end of the text
        bool next(std::string_view& token)
        {
          for (;;)
          {
            token = take_field(rest_);
            if (!token.empty())
            {
              starts_line_ = fresh_;
              fresh_ = false;
              return true;
            }
            if (!lines_.next(rest_)) return false;
            fresh_ = true;
          }
        }

        /// whether nothing but blanks is left on the line
        [[nodiscard]] bool ends_line() const { return trimmed(rest_).empty(); }
        [[nodiscard]] bool starts_line() const { return starts_line_; }
        [[nodiscard]] std::size_t line() const { return std::max<std::size_t>(lines_.line(), 1); }

      private:
        line_cursor lines_;
        std::string_view rest_;
        bool fresh_ = true;
        bool starts_line_ = false;
      };

      class fma_text_reader
      {
      public:
        fma_text_reader(std::string_view content, std::string const& name,
                        read_options const& options)
            : tokens_(content), size_(content.size()), name_(name)
        {
          read_first_line(options);
          read_second_line();
        }

        [[nodiscard]] fma_header const& header() const { return header_; }

        point_set points()
        {
          auto const map = map_of(header_);
          auto points = empty_set(map);
          points.box = box_;
          auto const columns = columns_to_fill(map, points);
          for (auto const& column : columns) column.to->resize(n_points_);

          for (std::size_t i = 0; i < n_points_; ++i)
          {
            bool whole_lines = false;
            std::size_t start = 0;
            for (std::size_t k = 0; k < header_.n_values; ++k)
            {
              std::string_view token;
              if (!tokens_.next(token))
                fail("the end of the file after " +
                         (k == 0 ? count_of(i, "point")
                                 : count_of(k, "value") + " of point " + std::to_string(i)),
                     count_of(n_points_, "point") + " of " + count_of(header_.n_values, "value"));
              if (k == 0)
              {
                whole_lines = tokens_.starts_line();
                start = tokens_.line();
              }
              double& value = (*columns[k].to)[i];
              bool const is_finite = !columns[k].may_be_infinite;
              if (read(token, value) != number_status::good || (is_finite && !std::isfinite(value)))
                parse(token, map.names[k] + " of point " + std::to_string(i), is_finite);
            }
            // A line may hold several records, and a record several lines. In any other case a row has a
            // value too few or too many, which would shift all that follow.
            if (tokens_.line() != start && !(whole_lines && tokens_.ends_line()))
              fail_at_line(name_, start,
                           "a record of " + count_of(header_.n_values, "value") +
                               " that ends inside line " + std::to_string(tokens_.line()),
                           std::to_string(header_.n_values) + " values in each row");
          }
          std::string_view token;
          if (tokens_.next(token))
            fail(in_quotes(token) + " after the last record",
                 "the end of the file after " + count_of(n_points_, "point") + " of " +
                     count_of(header_.n_values, "value"));
          return points;
        }

      private:
        [[noreturn]] void fail(std::string const& found, std::string const& expected) const
        {
          fail_at_line(name_, tokens_.line(), found, expected);
        }

        std::string_view take(std::string const& expected)
        {
          std::string_view token;
          if (!tokens_.next(token)) fail("the end of the file", expected);
          return token;
        }

        std::uint64_t take_count(std::string const& expected)
        {
          auto const token = take(expected);
          auto const value = integer_in(token).value_or(-1);
          if (value < 0) fail(in_quotes(token), expected);
          return static_cast<std::uint64_t>(value);
        }

        void read_first_line(read_options const& options)
        {
          static char const* const names[] = {"sizeof_real (4 or 8)",
                                              "the number of values a record",
                                              "the dimension (2 or 3)", "the number of inputs"};
          std::uint64_t values[4] = {};
          std::size_t n = 0;
          do values[n] = take_count(names[n]);
          while (++n < 4 && !tokens_.ends_line());
          if ((n != 2 && n != 4) || !tokens_.ends_line())
            fail(n == 4 ? "more than 4 values" : count_of(n, "value"),
                 "2 (version 1) or 4 (version 2) on the first line of FMA");
          header_ = {values[0], values[1], n == 4 ? values[2] : 3, n == 4 ? values[3] : 1};
          auto const wrong = check_header(header_, options);
          if (!wrong.found.empty()) fail(wrong.found, wrong.expected);
        }

        void read_second_line()
        {
          n_points_ = take_count("the number of points");
          // a value takes at least a digit and a blank: check the count before allocating
          auto const most = (size_ + 1) / (2 * header_.n_values);
          if (n_points_ > most)
            fail(count_of(n_points_, "point") + " announced",
                 "at most " + std::to_string(most) + " in " + count_of(size_, "byte"));
          auto const take_finite = [&](std::string const& what)
          {
            return parse(take(what), what, true);
          };
          box_.half_width = take_finite("the half width");
          if (!(box_.half_width > 0))
            fail("half width " + number_text(box_.half_width), "a positive length");
          for (std::uint64_t c = 0; c < header_.dim; ++c)
            box_.centre.push_back(take_finite(std::string("the centre's ") + "xyz"[c]));
        }

        // A value in the precision of the file.
        number_status read(std::string_view token, double& value) const
        {
          if (header_.sizeof_real == 8) return parse_number(token, value);
          float narrow = 0;
          auto const status = parse_number(token, narrow);
          value = static_cast<double>(narrow);
          return status;
        }

        double parse(std::string_view token, std::string const& what, bool is_finite) const
        {
          double value = 0;
          auto const status = read(token, value);
          if (status == number_status::good && (!is_finite || std::isfinite(value))) return value;
          fail(in_quotes(token) + " for " + what,
               status == number_status::out_of_range
                   ? "a number in the range of a real of " + count_of(header_.sizeof_real, "byte")
               : status == number_status::good ? "a finite number"
                                               : "a number");
        }

        token_stream tokens_;
        std::size_t size_;
        std::string const& name_;
        fma_header header_;
        std::uint64_t n_points_ = 0;
        point_set::bounding_box box_;
      };
    }
  }

  point_set parse_fma(std::string_view content, std::string const& name,
                      read_options const& options, file_report* report)
  {
    using namespace detail::io;
    if (is_binary_fma(content)) return read_fma_binary({content, name}, {}, options, report);
    check_options(options, name, {});
    fma_text_reader reader(without_mark(content, name), name, options);
    describe(map_of(reader.header()), "FMA, text", report);
    return reader.points();
  }
}
