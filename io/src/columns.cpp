#include "columns.hpp"
#include "column_map.hpp"
#include "column_names.hpp"
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

    /// A line that may name columns.
    struct heading
    {
      std::string_view text;
      std::size_t line = 0;
    };

    class column_reader
    {
    public:
      /// `known`: the columns, if the format says them, and no header.
      column_reader(std::string const& name, read_options const& options,
                    column_map const* known = nullptr)
          : name_(name), options_(options), may_have_header_(!known)
      {
        if (known)
          map_ = *known;
        else if (!options.columns.empty())
          map_ = map_of(columns_given(options, name), options, {name, 0, place::columns});
      }

      /// Reads what precedes the first row of numbers, which tells what columns there are. Returns false if there is
      /// no such row; otherwise it is the next line.
      bool read_head(line_cursor& lines)
      {
        std::string_view line;
        for (auto next = lines; next.next(line); lines = next)
        {
          line_ = next.line();
          auto const row = trimmed(line);
          if (!is_row(line))
          {
            check_comment(row);
            comments_.push_back(
                {row.substr(std::min(row.find_first_not_of("#%!/"), row.size())), line_});
            continue;
          }
          split(row, delimiter_of(row), fields_);
          if (may_have_header_ && header_.text.empty() && !has_number(fields_))
          {
            header_ = {line, line_};
            continue;
          }
          if (may_have_header_ && is_count(row)) continue;
          start(line, next);
          return true;
        }
        return false;
      }

      /// Reads the rows of the rest of the file, or of a part of it.
      point_set read_rows(line_cursor lines)
      {
        if (!map_ && !header_.text.empty())
          use_names(fields_of_header(std::nullopt), header_.line); // no rows
        if (!map_) use_comment(std::nullopt);
        if (!map_) fail_at_line(name_, lines.line() + 1, "the end of the file", "rows of numbers");
        if (points_.positions.empty()) points_ = empty_set(*map_); // no rows
        auto const columns = columns_to_fill(*map_, points_);
        for (std::string_view line; lines.next(line);)
        {
          line_ = lines.line();
          auto const row = trimmed(line);
          if (is_row(line))
            add_row(line, columns);
          else
            check_comment(row);
        }
        types_.move_to(points_);
        return std::move(points_);
      }

      void describe(file_report* report) const
      {
        detail::io::describe(*map_, "columns of text", report);
        if (report) report->left_out.insert(report->left_out.end(), unused_.begin(), unused_.end());
      }

    private:
      [[nodiscard]] place where() const { return {name_, line_}; }

      // CloudCompare writes the number of points below the names.
      bool is_count(std::string_view row)
      {
        return fields_.size() == 1 && integer_in(row).value_or(-1) >= 0 &&
               std::any_of(comments_.begin(), comments_.end(),
                           [](heading const& comment) { return names_x_before_y(comment.text); });
      }

      // The first row 0,1,2,3 above rows of other numbers is what pandas writes for an array: the numbers of its columns.
      void refuse_numbers_for_names(line_cursor rows) const
      {
        for (std::size_t c = 0; c < fields_.size(); ++c)
          if (unquoted(fields_[c]) != std::to_string(c)) return;
        std::string_view row;
        do {
          if (!rows.next(row)) return;
        } while (!is_row(row));
        auto const below = fields_in(trimmed(row), delimiter_of(row));
        bool const are_whole = std::all_of(below.begin(), below.end(), [](auto field)
                                           { return integer_in(unquoted(field)).has_value(); });
        if (fields_.size() > 1 && !are_whole)
          where().fail("0 to " + std::to_string(fields_.size() - 1) +
                           " in a row, which may be names",
                       "names such as x y z q (or give --columns, if it is a point)");
      }

      // With names given: a first row without numbers is skipped; it must have a name of its own above each
      // column that is read. A row of equal words, such as "missing" in any language, is one of values.
      void check_header(std::vector<std::string_view> const& fields)
      {
        check_names_given(fields.size(), header_.line);
        std::set<std::string> seen;
        for (std::size_t c = 0; c < fields.size(); ++c)
        {
          if (map_->names[c] != "_" &&
              !(is_name(fields[c]) && seen.insert(lower(unquoted(fields[c]))).second))
            fail_at_line(name_, header_.line, in_quotes(fields[c]) + " for " + map_->names[c],
                         "a number, or a name of its own above each column");
          if (!unquoted(fields[c]).empty()) map_->titles[c] = unquoted(fields[c]);
        }
      }

      // `n`: the columns of the first line that has them.
      void check_names_given(std::size_t n, std::size_t line) const
      {
        auto const given = options_.columns.size();
        if (given != 0 && n != given)
          fail_at_line(name_, line, count_of(n, "column"),
                       std::to_string(given) +
                           ", as --columns names: one name for each, _ to skip");
      }

      void use_names(std::vector<std::string_view> const& names, std::size_t line)
      {
        map_ = map_named(names, line);
      }
      [[nodiscard]] column_map map_named(std::vector<std::string_view> const& names,
                                         std::size_t line) const
      {
        return map_of(columns_named(names), options_,
                      {name_, line, place::line, " (or give --columns)"});
      }

      // Names separated by tabs may contain blanks, or be empty; by n, the number of fields in a row, they are told
      // from those between blanks.
      [[nodiscard]] std::vector<std::string_view>
      fields_of_header(std::optional<std::size_t> n) const
      {
        auto const line = trimmed(header_.text);
        auto const names = fields_in(line, delimiter_of(line));
        if (names.size() == n || header_.text.find('\t') == header_.text.npos) return names;
        auto const between_tabs = fields_in(header_.text, '\t');
        return !n || between_tabs.size() == n || delimiter_of(line) == ' ' ? between_tabs : names;
      }

      // "# id x y z q" names columns too. Other comments that may speak of columns are reported.
      void use_comment(std::optional<std::size_t> n)
      {
        bool mentions = false;
        std::vector<heading> others;
        for (auto const& comment : comments_)
        {
          auto const names = names_in(comment.text, n, mentions);
          if (names.empty())
          {
            others.push_back(comment);
            if (mentions && !map_)
              fail_at_line(name_, comment.line, "a comment with names of columns, not one for each",
                           std::to_string(n.value_or(0)) +
                               " names, as many as the first row has fields (or give --columns)");
            continue;
          }
          if (map_ && map_named(names, comment.line).names != map_->names)
            fail_at_line(name_, comment.line, "another comment with names of columns",
                         "one (or give --columns)");
          if (!map_) use_names(names, comment.line);
        }
        for (auto const& comment : others)
          if (map_ ? lists_names(comment.text, n.value_or(0)) : has_known_name(comment.text))
            unused_.push_back("comment " + in_quotes(trimmed(comment.text)));
      }

      void check_comment(std::string_view row) const
      {
        if (is_spreadsheet_error(row))
          where().fail(in_quotes(row.substr(0, row.find_first_of(" ,;\t"))),
                       "a number, or a comment with a blank after its #");
      }

      // How the first row separates its fields: as the header does, or by tabs if one of them is empty, if that makes
      // as many fields as there are columns.
      void choose_delimiter(std::string_view line)
      {
        auto const row = trimmed(line);
        delimiter_ = delimiter_of(row);
        if (auto const of_header = delimiter_of(trimmed(header_.text));
            of_header != ' ' && row.find(of_header) != row.npos)
          delimiter_ = of_header;
        if (delimiter_ != ' ' || row.find('\t') == row.npos) return;
        auto const between_tabs = fields_in(line, '\t');
        auto const n = between_tabs.size();
        bool const has_tabs =
            !header_.text.empty() ? n == fields_in(header_.text, '\t').size()
            : map_                ? n == map_->names.size()
                   : n > 2 && std::count(between_tabs.begin() + 1, between_tabs.end() - 1, "") > 0;
        if (has_tabs) delimiter_ = '\t';
      }

      // `line` has the first row, and `rows` those below it.
      void start(std::string_view line, line_cursor const& rows)
      {
        choose_delimiter(line);
        split_row(line);
        auto const n = fields_.size();
        if (header_.text.empty())
          check_names_given(n, line_);
        else
        {
          auto names = fields_of_header(n);
          // R writes no name above those of the rows
          if (names.size() + 1 == n && fields_[0].starts_with('"')) names.insert(names.begin(), "");
          if (map_)
            check_header(names);
          else
            use_names(names, header_.line);
        }
        if (!map_) use_comment(n);
        if (!map_)
        {
          refuse_numbers_for_names(rows);
          auto const columns = usual_columns(n, options_.dim);
          if (n < columns.names.size())
            where().fail(
                count_of(n, "column"),
                std::string(options_.dim == 3 ? "at least x, y and z" : "at least x and y") +
                    (options_.dim_of.empty() ? "" : ", as in " + printable(options_.dim_of)));
          map_ = map_of(columns, options_, where());
        }
        points_ = empty_set(*map_);
      }

      void split_row(std::string_view line)
      {
        split(delimiter_ == '\t' ? line : trimmed(line), delimiter_, fields_);
      }

      void add_row(std::string_view line, std::vector<filled_column> const& columns)
      {
        split_row(line);
        if (fields_.size() != map_->names.size())
          where().fail(count_of(fields_.size(), "field"), std::to_string(map_->names.size()));
        auto const here = where();
        for (auto const& each : columns)
          each.to->push_back((each.may_be_infinite ? read_value : read_finite)(
              trimmed(unquoted(fields_[each.from])), here, map_->names[each.from]));
        for (auto const c : map_->types) types_.add(trimmed(unquoted(fields_[c])), here);
        if (!map_->are_momenta) return;
        for (auto& column : points_.velocities)
          column.back() = velocity_of(column.back(), points_.masses.back(), here);
      }

      std::string const& name_;
      read_options const& options_;
      bool may_have_header_;
      std::optional<column_map> map_;
      std::size_t line_ = 0; ///< the present one
      heading header_;
      std::vector<heading> comments_;   ///< before the first row
      std::vector<std::string> unused_; ///< those of them that may speak of columns
      char delimiter_ = ' ';
      std::vector<std::string_view> fields_;
      point_set points_;
      type_numbers types_;
    };

    constexpr std::uint64_t piece_size = 1 << 16;

    // `text` up to its last line end.
    std::string_view whole_lines(std::string_view text)
    {
      return text.substr(0, text.find_last_of("\r\n") + 1);
    }

    // The first start of a line from `place` on; `first` is one, and `size` counts as one.
    std::uint64_t line_start(input_file const& file, std::uint64_t first, std::uint64_t place,
                             std::uint64_t size)
    {
      if (place <= first) return first;
      std::string buffer;
      for (std::uint64_t from = place - 1; from + 1 < size;)
      {
        auto const text = file.piece(from, std::min(from + piece_size, size), buffer);
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
      std::string buffer;
      for (; begin < end; begin += piece_size)
        for (char const c : file.piece(begin, std::min(begin + piece_size, end), buffer))
        {
          n += c == '\r' || (c == '\n' && last != '\r');
          last = c;
        }
      return n;
    }
  }

  bool detail::io::is_row(std::string_view line)
  {
    line = trimmed(line);
    return !line.empty() && !line.starts_with('#') && !line.starts_with('%') &&
           !line.starts_with('!') && !line.starts_with("//");
  }

  point_set detail::io::parse_rows(std::string_view rows, std::size_t lines_before,
                                   std::string const& name, read_options const& options,
                                   column_map const& known, file_report* report)
  {
    column_reader reader(name, options, &known);
    line_cursor lines(rows, lines_before);
    reader.read_head(lines);
    auto points = reader.read_rows(lines);
    reader.describe(report);
    return points;
  }

  point_set detail::io::read_columns(input_file const& file, file_part const& part,
                                     read_options const& options, file_report* report)
  {
    check_options(options, file.name(), {.columns = true, .types = true});
    std::uint64_t const size = file.size();
    std::string head_buffer, rows_buffer;
    for (std::uint64_t n = file.is_in_memory() ? size : piece_size;; n *= 2)
    {
      auto const head = file.piece(0, std::min(n, size), head_buffer);
      bool const is_whole = n >= size;
      column_reader reader(file.name(), options);
      line_cursor lines(without_mark(is_whole ? head : whole_lines(head), file.name()));
      if (!reader.read_head(lines) && !is_whole) continue;
      auto const first_row = static_cast<std::uint64_t>(lines.rest().data() - head.data());
      auto const begin_of = [&](std::uint64_t i)
      {
        return line_start(file, first_row, first_row + part_begin(size - first_row, i, part.count),
                          size);
      };
      std::uint64_t const begin = begin_of(part.index);
      auto const rows = file.piece(begin, begin_of(part.index + 1), rows_buffer);
      try
      {
        column_reader of_part(reader);
        auto points = of_part.read_rows(line_cursor(rows, lines.line()));
        of_part.describe(report);
        return points;
      }
      catch (error const&) // which counts lines from the wrong one
      {
        if (begin == first_row) throw;
        auto const before = lines.line() + count_lines(file, first_row, begin);
        return reader.read_rows(line_cursor(rows, before));
      }
    }
  }

  point_set parse_columns(std::string_view content, std::string const& name,
                          read_options const& options, file_report* report)
  {
    return read_columns({content, name}, {}, options, report);
  }
}
