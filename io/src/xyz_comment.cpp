#include "xyz_comment.hpp"

#include "column_names.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nearfield::detail::io
{
  namespace
  {
    // Removes the first of the pairs key=value; a value with blanks is in "", {} or []. The value is empty if a word has
    // none. Blanks around = are prose (`a cubic lattice = 4`) but before such a value or behind Properties.
    std::pair<std::string, std::string_view> take_pair(std::string_view& rest)
    {
      rest = trimmed(rest);
      auto const end = std::min(rest.find_first_of("= \t"), rest.size());
      auto const key = lower(unquoted(rest.substr(0, end)));
      rest.remove_prefix(end);
      auto const behind = trimmed(rest);
      if (!behind.starts_with('=')) return {key, {}};
      auto const after = trimmed(behind.substr(1));
      bool const has_blanks = after.data() != rest.data() + 1;
      rest = after;
      if (has_blanks && key != "properties" && after.find_first_of("\"{[") != 0) return {key, {}};
      char const open = rest.empty() ? ' ' : rest[0];
      char const close = open == '"' ? '"' : open == '{' ? '}' : open == '[' ? ']' : ' ';
      if (close != ' ') rest.remove_prefix(1);
      auto const length =
          std::min(close == ' ' ? rest.find_first_of(" \t") : rest.find(close), rest.size());
      auto const value = rest.substr(0, length);
      rest.remove_prefix(std::min(length + (close == ' ' ? 0 : 1), rest.size()));
      return {key, value};
    }

    // Whether programs write a box under the key, such as i-PI under CELL(abcABC):
    bool is_of_box(std::string_view key, bool has_value)
    {
      for (std::string_view const each :
           {"lattice", "pbc", "cell", "box", "boxsize", "box_size", "unitcell", "unit_cell", "vec1",
            "vec2", "vec3", "celldisp", "origin"})
        if (key == each) return has_value || each == "lattice" || each == "pbc";
      return key.starts_with("cell(") || key.starts_with("cell{");
    }

    class comment_reader
    {
    public:
      comment_reader(std::string const& name, std::size_t line) : name_(name), line_(line) {}

      void add_properties(std::string_view properties, named_columns& columns) const
      {
        std::vector<std::string_view> words;
        split(properties, ':', words);
        std::optional<std::size_t> numbers; // Z:I:1, atomic ones, which QUIP writes beside pos:R:3
        bool has_vector = false;
        for (std::size_t w = 0; w < words.size(); w += 3)
        {
          std::int64_t count = 0;
          if (w + 2 >= words.size() || parse_number(words[w + 2], count) != number_status::good ||
              count < 1 ||
              count > static_cast<std::int64_t>(max_values_per_point - columns.names.size()))
            fail_at_line(name_, line_, "Properties=" + in_quotes(properties),
                         "name:type:count for each property, such as pos:R:3");
          if (words[w] == "Z" && lower(words[w + 1]) == "i") numbers = columns.names.size();
          for (auto& column : known_names(words[w], static_cast<std::size_t>(count)))
          {
            has_vector |= count > 1 && column == "x";
            columns.names.push_back(std::move(column));
            columns.titles.emplace_back(words[w]);
          }
        }
        if (has_vector && numbers) columns.names[*numbers] = "_";
      }

      // Numbers between blanks or commas.
      template <std::size_t n>
      std::array<double, n> numbers(char const* key, std::string_view text) const
      {
        return values<double, n>(key, text, count_of(n, "finite number"),
                                 [](std::string_view word, double& value) {
                                   return parse_number(word, value) == number_status::good &&
                                          std::isfinite(value);
                                 });
      }

      std::array<bool, 3> truths(std::string_view text) const
      {
        return values<bool, 3>("pbc", text, "T or F three times",
                               [](std::string_view word, bool& value)
                               {
                                 auto const name = lower(unquoted(word));
                                 value = name == "t" || name == "true" || name == "1";
                                 return value || name == "f" || name == "false" || name == "0";
                               });
      }

    private:
      template <class T, std::size_t n, class Read>
      std::array<T, n> values(std::string const& key, std::string_view text,
                              std::string const& expected, Read const& read) const
      {
        std::string blanks(text);
        for (char& c : blanks)
          if (c == ',' || c == '[' || c == ']') c = ' ';
        std::vector<std::string_view> words;
        split(blanks, ' ', words);
        std::array<T, n> found{};
        bool good = words.size() == n;
        for (std::size_t k = 0; good && k < n; ++k) good = read(words[k], found[k]);
        if (!good)
          fail_at_line(name_, line_, key + "=" + in_quotes(text),
                       expected + " between \"\", {} or one pair of []");
        return found;
      }

      std::string const& name_;
      std::size_t line_;
    };
  }

  xyz_comment read_xyz_comment(std::string_view comment, std::string const& name, std::size_t line)
  {
    comment_reader const reader(name, line);
    xyz_comment result;
    std::optional<std::array<bool, 3>> periodic;
    std::array<double, 3> origin{};
    for (auto rest = trimmed(comment); !rest.empty(); rest = trimmed(rest))
    {
      auto const [key, value] = take_pair(rest);
      bool const is_read = (key == "lattice" || key == "origin" || key == "pbc") && !value.empty();
      if (!is_read && is_of_box(key, !value.empty()))
        result.left_out.push_back(printable(key) + " of its comment");
      if (value.empty()) continue;
      if (key == "properties")
      {
        if (std::exchange(result.has_properties, true))
          fail_at_line(name, line, "Properties= twice", "each property of the rows once");
        reader.add_properties(value, result.columns);
      }
      else if (key == "lattice")
      {
        if (result.cell) fail_at_line(name, line, "Lattice= twice", "one box");
        auto const v = reader.numbers<9>("Lattice", value);
        result.cell = periodic_cell{
            .from = "Lattice",
            .vectors = {{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {v[6], v[7], v[8]}}}};
      }
      else if (key == "origin")
        origin = reader.numbers<3>("Origin", value);
      else if (key == "pbc")
        periodic = reader.truths(value);
    }
    if (!result.has_properties) result.columns = {{"_", "x", "y", "z"}, {"symbol", "x", "y", "z"}};
    if (result.cell)
    {
      result.cell->origin = origin;
      result.cell->periodic = periodic;
    }
    else if (periodic && std::find(periodic->begin(), periodic->end(), true) != periodic->end())
      result.left_out.emplace_back("pbc of its comment");
    return result;
  }
}
