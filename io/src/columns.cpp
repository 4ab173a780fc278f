#include "column_map.hpp"
#include "input_file.hpp"
#include "text.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    char delimiter_of(std::string_view line)
    {
      for (char const delimiter : {',', ';'})
        if (line.find(delimiter) != std::string_view::npos) return delimiter;
      return ' ';
    }

    bool has_number(std::vector<std::string_view> const& fields)
    {
      return std::any_of(fields.begin(), fields.end(),
                         [](std::string_view field)
                         {
                           double value = 0;
                           return parse_number(field, value) != number_status::not_a_number;
                         });
    }

    std::string_view unquoted(std::string_view text)
    {
      bool const quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
      return quoted ? text.substr(1, text.size() - 2) : text;
    }

    // Whether `field` can be the header of a column whose name is given by the caller. A missing or
    // unreadable value must not pass for one: its row would be lost silently.
    bool is_name(std::string_view field)
    {
      field = unquoted(field);
      if (field.empty() || !(is_letter(field[0]) || field[0] == '_')) return false;
      auto const word = lower(field);
      for (auto const* missing : {"na", "n/a", "nan", "nil", "none", "null", "missing", "undef",
                                  "undefined", "inf", "infinity", "true", "false"})
        if (word == missing) return false;
      // E+05, a number that has lost its digits before the exponent
      bool const is_exponent = word.size() > 2 && (word[0] == 'e' || word[0] == 'd') &&
                               (word[1] == '+' || word[1] == '-') &&
                               word.find_first_not_of("0123456789", 2) == word.npos;
      return !is_exponent;
    }

    // What a spreadsheet writes in place of a value that it cannot compute, which is no comment.
    bool is_spreadsheet_error(std::string_view row)
    {
      for (auto const* start : {"#N/A", "#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"})
        if (row.starts_with(start)) return true;
      return false;
    }

    class column_reader
    {
    public:
      column_reader(std::string const& name, read_options const& options)
          : name_(name), options_(options)
      {
        if (!options.columns.empty())
          map_ = map_of(options.columns, options.dim,
                        [&](std::string const& found, std::string const& expected)
                        {
                          throw error(printable(name_) + ": columns (--columns): found " + found +
                                      ", expected " + expected);
                        });
      }

      /// Reads what precedes the first row of numbers, which tells what columns there are. Returns false if there is
      /// no such row; otherwise it is the next line.
      bool read_head(line_cursor& lines)
      {
        std::string_view line;
        bool is_first = true;
        for (auto next = lines; next.next(line); lines = next)
        {
          line_ = next.line();
          auto const row = trimmed(line);
          if (row.empty()) continue;
          if (row[0] == '#')
          {
            check_comment(row);
            if (is_first && !map_) read_commented_names(row);
            continue;
          }
          if (is_first)
          {
            is_first = false;
            split(row, delimiter_of(row), fields_);
            if (!has_number(fields_))
            {
              if (map_)
                check_header(line);
              else
                use_names(fields_);
              continue;
            }
          }
          start(row);
          return true;
        }
        return false;
      }

      /// Reads the rows of the rest of the file, or of a part of it.
      point_set read_rows(line_cursor lines)
      {
        if (!map_) fail_at_line(name_, lines.line() + 1, "the end of the file", "rows of numbers");
        if (points_.positions.empty()) points_ = empty_set(*map_); // no rows
        for (std::string_view line; lines.next(line);)
        {
          line_ = lines.line();
          auto const row = trimmed(line);
          if (row.empty()) continue;
          if (row[0] == '#')
            check_comment(row);
          else
            add_row(row);
        }
        return std::move(points_);
      }

    private:
      // With names given: a first row without numbers is skipped; it must have a name of its own above each
      // column that is read. A row of equal words, such as "missing" in any language, is one of values.
      void check_header(std::string_view line)
      {
        // names separated by tabs may contain blanks, or be empty
        if (fields_.size() != map_->names.size() && line.find('\t') != std::string_view::npos)
          split(line, '\t', fields_);
        check_count();
        std::set<std::string> seen;
        for (std::size_t c = 0; c < fields_.size(); ++c)
          if (map_->names[c] != "_" &&
              !(is_name(fields_[c]) && seen.insert(lower(unquoted(fields_[c]))).second))
            fail_at_line(name_, line_, in_quotes(fields_[c]) + " for " + map_->names[c],
                         "a number, or a name of its own above each column");
      }

      void check_count()
      {
        if (fields_.size() != map_->names.size())
          fail_at_line(name_, line_, count_of(fields_.size(), "field"),
                       std::to_string(map_->names.size()));
      }

      void use_names(std::vector<std::string_view> const& names)
      {
        map_ = map_of(std::vector<std::string>(names.begin(), names.end()), options_.dim,
                      [&](std::string const& found, std::string const& expected)
                      { fail_at_line(name_, line_, found, expected + " (or give --columns)"); });
      }

      // "# x y z q" is a header too; other comments are ignored
      void read_commented_names(std::string_view line)
      {
        line = trimmed(line.substr(1));
        if (line.empty()) return;
        split(line, delimiter_of(line), fields_);
        if (std::all_of(fields_.begin(), fields_.end(), is_column_name)) use_names(fields_);
      }

      void check_comment(std::string_view row) const
      {
        if (is_spreadsheet_error(row))
          fail_at_line(name_, line_, in_quotes(row.substr(0, row.find_first_of(" ,;\t"))),
                       "a number, or a comment with a blank after its #");
      }

      // `row` is the first.
      void start(std::string_view row)
      {
        delimiter_ = delimiter_of(row);
        if (!map_)
        {
          split(row, delimiter_, fields_);
          auto const names = usual_names(fields_.size(), options_.dim);
          if (fields_.size() < names.size())
            fail_at_line(name_, line_, count_of(fields_.size(), "field"),
                         "at least " + std::to_string(names.size()) + " coordinates");
          map_ = map_of(names, options_.dim,
                        [&](std::string const& found, std::string const& expected)
                        { fail_at_line(name_, line_, found, expected); });
        }
        points_ = empty_set(*map_);
      }

      void add_row(std::string_view line)
      {
        split(line, delimiter_, fields_);
        check_count();
        place const where{name_, line_};
        for (std::size_t a = 0; a < map_->positions.size(); ++a)
          points_.positions[a].push_back(read_finite(fields_[map_->positions[a]], where,
                                                     std::string_view("xyz").substr(a, 1)));
        for (std::size_t a = 0; a < map_->velocities.size(); ++a)
          points_.velocities[a].push_back(
              read_finite(fields_[map_->velocities[a]], where, map_->names[map_->velocities[a]]));
        for (std::size_t const c : map_->masses)
          points_.masses.push_back(read_finite(fields_[c], where, "m"));
        for (std::size_t k = 0; k < map_->inputs.size(); ++k)
          points_.inputs[k].push_back(
              read_finite(fields_[map_->inputs[k]], where, map_->input_names[k]));
        for (std::size_t k = 0; k < map_->outputs.size(); ++k)
          points_.outputs[k].push_back(
              read_value(fields_[map_->outputs[k]], where, map_->output_names[k]));
      }

      std::string const& name_;
      read_options const& options_;
      std::optional<column_map> map_;
      std::size_t line_ = 0; ///< the present one
      char delimiter_ = ' ';
      std::vector<std::string_view> fields_;
      point_set points_;
    };

    constexpr std::uint64_t piece_size = 1 << 16;

    // `text` up to its last line end; not up to a CR at its own end, after which an LF may follow.
    std::string_view whole_lines(std::string_view text)
    {
      if (text.ends_with('\r')) text.remove_suffix(1);
      return text.substr(0, text.find_last_of("\r\n") + 1);
    }

    // The first start of a line from `place` on; `first` is one, and `size` counts as one.
    std::uint64_t line_start(input_file const& file, std::uint64_t first, std::uint64_t place,
                             std::uint64_t size)
    {
      if (place <= first) return first;
      for (std::uint64_t from = place - 1; from + 1 < size;)
      {
        std::string const text = file.piece(from, std::min(from + piece_size, size));
        for (std::size_t k = 1; k < text.size(); ++k)
          if (text[k - 1] == '\n' || (text[k - 1] == '\r' && text[k] != '\n')) return from + k;
        from += text.size() - 1;
      }
      return size;
    }

    // The number of line ends in bytes [begin, end), which does not begin between CR and LF.
    std::size_t count_lines(input_file const& file, std::uint64_t begin, std::uint64_t end)
    {
      std::size_t n = 0;
      char last = 0;
      for (; begin < end; begin += piece_size)
        for (char const c : file.piece(begin, std::min(begin + piece_size, end)))
        {
          n += c == '\r' || (c == '\n' && last != '\r');
          last = c;
        }
      return n;
    }
  }

  point_set parse_columns(std::string_view content, std::string const& name,
                          read_options const& options)
  {
    check_dim(options);
    refuse_atom_style(options, name);
    column_reader reader(name, options);
    line_cursor lines(without_mark(content, name));
    reader.read_head(lines);
    return reader.read_rows(lines);
  }

  point_set detail::io::parse_columns_part(input_file const& file, read_options const& options)
  {
    check_dim(options);
    refuse_atom_style(options, file.name());
    std::uint64_t const size = file.size();
    for (std::uint64_t n = piece_size;; n *= 2)
    {
      std::string const head = file.piece(0, std::min(n, size));
      bool const is_whole = n >= size;
      column_reader reader(file.name(), options);
      line_cursor lines(
          without_mark(is_whole ? std::string_view(head) : whole_lines(head), file.name()));
      if (!reader.read_head(lines) && !is_whole) continue;
      auto const rows = static_cast<std::uint64_t>(lines.rest().data() - head.data());
      auto const begin_of = [&](std::uint64_t i)
      {
        return line_start(file, rows, rows + part_begin(size - rows, i, options.part->count), size);
      };
      std::uint64_t const begin = begin_of(options.part->index);
      std::string const part = file.piece(begin, begin_of(options.part->index + 1));
      try
      {
        return column_reader(reader).read_rows(line_cursor(part, lines.line()));
      }
      catch (error const&) // which counts lines from the wrong one
      {
        auto const before = lines.line() + count_lines(file, rows, begin);
        return reader.read_rows(line_cursor(part, before));
      }
    }
  }
}
