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

    constexpr std::size_t absent = static_cast<std::size_t>(-1);

    // The meaning of the fields of a row.
    struct column_map
    {
      std::vector<std::string> names;
      std::vector<std::size_t> positions, velocities, masses, inputs, outputs;
      std::vector<std::string> input_names, output_names;
    };

    // q -> 1, q3 -> 3; 0 for other names
    std::size_t number_of(std::string_view name, std::string_view prefix)
    {
      if (!name.starts_with(prefix)) return 0;
      name.remove_prefix(prefix.size());
      if (name.empty()) return 1;
      std::int64_t k = 0;
      bool const good = is_digit(name[0]) && name[0] != '0' &&
                        parse_number(name, k) == number_status::good &&
                        k <= static_cast<std::int64_t>(max_values_per_point);
      return good ? static_cast<std::size_t>(k) : 0;
    }

    bool is_output(std::string_view name)
    {
      return number_of(name, "phi") != 0 || number_of(name, "gx") != 0 ||
             number_of(name, "gy") != 0 || number_of(name, "gz") != 0 || name == "ax" ||
             name == "ay" || name == "az";
    }

    // x vx -> 0, y vy -> 1, z vz -> 2; absent for other names
    std::size_t axis_of(std::string_view name, std::string_view prefix)
    {
      if (!name.starts_with(prefix) || name.size() != prefix.size() + 1) return absent;
      return std::string_view("xyz").find(name.back()); // npos is `absent`
    }

    std::string const known_names =
        "x y z, vx vy vz, m, q or q1 q2 ..., phi or phi1 phi2 ..., gx gy gz, ax ay az, _ to skip";

    // `fail(found, expected)` throws
    template <class Fail>
    column_map map_of(std::vector<std::string> const& names, int dim, Fail const& fail)
    {
      if (names.size() > max_values_per_point)
        fail(count_of(names.size(), "column"), "at most " + std::to_string(max_values_per_point));
      column_map map;
      map.names = names;
      std::size_t axes[3] = {absent, absent, absent}, velocities[3] = {absent, absent, absent};
      std::vector<std::size_t> inputs;
      std::set<std::string_view> seen;
      for (std::size_t c = 0; c < names.size(); ++c)
      {
        auto const& name = names[c];
        if (!is_column_name(name)) fail("column " + in_quotes(name), known_names);
        if (name == "_") continue;
        if (!seen.insert(name).second)
          fail("column " + in_quotes(name) + " twice", "each name once");
        if (auto const axis = axis_of(name, ""); axis != absent)
          axes[axis] = c;
        else if (auto const component = axis_of(name, "v"); component != absent)
          velocities[component] = c;
        else if (name == "m")
          map.masses = {c};
        else if (number_of(name, "q") != 0)
          inputs.push_back(c);
        else
        {
          map.outputs.push_back(c);
          map.output_names.push_back(name);
        }
      }
      for (int axis = 0; axis < 2; ++axis)
        if (axes[axis] == absent)
          fail(std::string("no column ") + "xy"[axis], "columns x and y, and z in 3D");
      int const found = axes[2] == absent ? 2 : 3;
      if (dim != 0 && dim != found)
        fail("columns of dimension " + std::to_string(found),
             std::to_string(dim) + " as requested" +
                 (dim == 2 ? " (rename z to _ to skip it)" : ""));
      map.positions.assign(axes, axes + found);
      for (int axis = 0; axis < 3; ++axis)
        if (velocities[axis] != absent) map.velocities.push_back(velocities[axis]);
      if (!map.velocities.empty() &&
          (map.velocities.size() != map.positions.size() || map.velocities[0] != velocities[0] ||
           map.velocities[1] != velocities[1]))
        fail(count_of(map.velocities.size(), "column") + " of velocities",
             found == 2 ? "vx and vy, or none" : "vx, vy and vz, or none");

      std::stable_sort(inputs.begin(), inputs.end(),
                       [&](auto a, auto b)
                       { return number_of(names[a], "q") < number_of(names[b], "q"); });
      for (std::size_t k = 0; k < inputs.size(); ++k)
      {
        if (number_of(names[inputs[k]], "q") != k + 1)
          fail("column " + in_quotes(names[inputs[k]]),
               "inputs q, or q1 q2 ... without gaps or repeats");
        map.input_names.push_back(names[inputs[k]]);
      }
      map.inputs = inputs;
      return map;
    }

    // The columns of a file without names.
    std::vector<std::string> usual_names(std::size_t n, int dim)
    {
      std::vector<std::string> names{"x", "y", "z"};
      names.resize(dim != 0 ? static_cast<std::size_t>(dim) : n == 2 ? 2 : 3);
      auto const n_inputs = n > names.size() ? n - names.size() : 0;
      for (std::size_t k = 1; k <= n_inputs; ++k)
        names.push_back(n_inputs == 1 ? "q" : "q" + std::to_string(k));
      return names;
    }

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
        if (points_.positions.empty()) make_columns(); // no rows
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

      void make_columns()
      {
        points_.dim = static_cast<int>(map_->positions.size());
        points_.positions.resize(map_->positions.size());
        points_.velocities.resize(map_->velocities.size());
        points_.inputs.resize(map_->inputs.size());
        points_.outputs.resize(map_->outputs.size());
        points_.input_names = map_->input_names;
        points_.output_names = map_->output_names;
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
        make_columns();
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

  bool detail::io::is_column_name(std::string_view name)
  {
    return name == "_" || name == "m" || axis_of(name, "") != absent ||
           axis_of(name, "v") != absent || number_of(name, "q") != 0 || is_output(name);
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
