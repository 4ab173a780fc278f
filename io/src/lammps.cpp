#include "text.hpp"

#include <algorithm>
#include <compare>
#include <optional>

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    struct style_entry
    {
      std::string_view name;
      std::string_view columns;
    };

    // The columns of the Atoms section for each style, from LAMMPS's page on read_data; id, mol, type and
    // flag are integers. Styles without fixed columns (tdpd, template, hybrid) are left out.
    constexpr style_entry styles[] = {
        {"angle", "id mol type x y z"},
        {"atomic", "id type x y z"},
        {"body", "id type flag mass x y z"},
        {"bond", "id mol type x y z"},
        {"bpm/sphere", "id mol type diameter density x y z"},
        {"charge", "id type q x y z"},
        {"dipole", "id type q x y z mux muy muz"},
        {"dpd", "id type theta x y z"},
        {"edpd", "id type temperature cv x y z"},
        {"electron", "id type q spin radius x y z"},
        {"ellipsoid", "id type flag density x y z"},
        {"full", "id mol type q x y z"},
        {"line", "id mol type flag density x y z"},
        {"mdpd", "id type rho x y z"},
        {"meso", "id type rho energy cv x y z"},
        {"molecular", "id mol type x y z"},
        {"peri", "id type volume density x y z"},
        {"sph", "id type rho energy cv x y z"},
        {"sphere", "id type diameter density x y z"},
        {"spin", "id type x y z spx spy spz sp"},
        {"tri", "id mol type flag density x y z"},
    };

    struct atom_style
    {
      std::string name;
      std::vector<std::string_view> columns;
      std::vector<std::size_t> integers;
      std::size_t x = 0;
      std::optional<std::size_t> q;
    };

    atom_style find_style(std::string_view name, place const& where)
    {
      std::string known;
      for (auto const& entry : styles)
      {
        known += (known.empty() ? "" : " ") + std::string(entry.name);
        if (entry.name != name) continue;
        atom_style style;
        style.name = name;
        split(entry.columns, ' ', style.columns);
        for (std::size_t c = 0; c < style.columns.size(); ++c)
        {
          auto const column = style.columns[c];
          if (column == "x") style.x = c;
          if (column == "q") style.q = c;
          if (column == "id" || column == "mol" || column == "type" || column == "flag")
            style.integers.push_back(c);
        }
        return style;
      }
      if (name == "hybrid")
        fail_at_line(where.name, where.line, "atom style hybrid, whose columns are not in the file",
                     "a single style: " + known);
      fail_at_line(where.name, where.line, "atom style " + in_quotes(name), "one of: " + known);
    }

    // the text before and after the first #
    struct commented
    {
      std::string_view text;
      std::string_view comment;
    };

    commented without_comment(std::string_view line)
    {
      auto const hash = line.find('#');
      if (hash == std::string_view::npos) return {trimmed(line), {}};
      return {trimmed(line.substr(0, hash)), trimmed(line.substr(hash + 1))};
    }

    atom_style style_of(commented const& heading, place const& where, read_options const& options)
    {
      if (!options.atom_style.empty()) return find_style(options.atom_style, where);
      auto rest = heading.comment;
      auto style = take_field(rest);
      if (style.empty())
        fail_at_line(where.name, where.line, "an Atoms section without a style",
                     "a comment 'Atoms # full', or the option atom_style (--atom-style full)");
      if (style.ends_with(':')) style.remove_suffix(1);
      return find_style(style, where);
    }

    struct atom_id
    {
      std::int64_t id;
      std::size_t line;
      friend auto operator<=>(atom_id const&, atom_id const&) = default;
    };

    // LAMMPS allows all ids to be 0 if they are not used.
    void refuse_repeated(std::vector<atom_id>& ids, std::string const& name)
    {
      std::sort(ids.begin(), ids.end());
      auto const first = std::adjacent_find(ids.begin(), ids.end(),
                                            [](atom_id const& a, atom_id const& b)
                                            { return a.id == b.id && a.id != 0; });
      if (first != ids.end())
        fail_at_line(name, (first + 1)->line,
                     "atom id " + std::to_string(first->id) + ", already used on line " +
                         std::to_string(first->line),
                     "a unique id for each atom");
    }

    std::int64_t add_atom(point_set& points, three_coordinates& coordinates,
                          atom_style const& style, std::vector<std::string_view> const& fields,
                          place const& where)
    {
      auto const n = style.columns.size();
      if (fields.size() != n && fields.size() != n + 3)
        fail_at_line(where.name, where.line, count_of(fields.size(), "field"),
                     std::to_string(n) + " in atom style " + style.name +
                         ", or 3 more with image flags");
      auto const require_integer = [&](std::size_t c, std::string_view what)
      {
        std::int64_t value = 0;
        if (parse_number(fields[c], value) != number_status::good)
          fail_at_line(where.name, where.line, in_quotes(fields[c]) + " for " + std::string(what),
                       "an integer, in atom style " + style.name);
        return value;
      };
      for (auto const c : style.integers) require_integer(c, style.columns[c]);
      for (auto c = n; c < fields.size(); ++c) require_integer(c, "an image flag");
      coordinates.add(fields[style.x], fields[style.x + 1], fields[style.x + 2], where);
      if (style.q) points.inputs[0].push_back(read_finite(fields[*style.q], where, "the charge"));
      return require_integer(0, "id");
    }
  }

  point_set parse_lammps(std::string_view content, std::string const& name,
                         read_options const& options)
  {
    check_dim(options);
    refuse_columns(options, name);

    point_set points;
    three_coordinates coordinates(points, options);
    line_cursor lines(without_mark(content, name));
    std::string_view line;
    std::vector<std::string_view> fields;
    std::vector<atom_id> ids;
    std::optional<std::uint64_t> announced;
    std::optional<atom_style> style;
    bool in_header = true;
    bool in_atoms = false;

    if (!lines.next(line))
      fail_at_line(name, 1, "the end of the file", "a title, the first line of LAMMPS data");
    while (lines.next(line))
    {
      auto const [text, comment] = without_comment(line);
      if (text.empty()) continue;
      place const where{name, lines.line()};
      if (is_letter(text[0]))
      {
        in_header = false;
        in_atoms = text == "Atoms";
        if (!in_atoms) continue;
        if (style) fail_at_line(name, where.line, "a second Atoms section", "one");
        if (!announced)
          fail_at_line(name, where.line, "an Atoms section without a count before it",
                       "a header line '<count> atoms'");
        style = style_of({text, comment}, where, options);
        if (style->q)
        {
          points.inputs.resize(1);
          points.input_names = {"q"};
        }
      }
      else if (in_header)
      {
        split(text, ' ', fields);
        if (fields.size() != 2 || fields[1] != "atoms") continue;
        std::int64_t count = 0;
        if (parse_number(fields[0], count) != number_status::good || count < 0)
          fail_at_line(name, where.line, in_quotes(fields[0]), "the number of atoms");
        announced = static_cast<std::uint64_t>(count);
      }
      else if (in_atoms)
      {
        if (points.size() == announced)
          fail_at_line(name, where.line, "a row after the last atom",
                       "the " + count_of(*announced, "atom") + " of the header");
        split(text, ' ', fields);
        ids.push_back({add_atom(points, coordinates, *style, fields, where), where.line});
      }
    }
    auto const last = lines.line();
    if (!announced)
      fail_at_line(name, last, "the end of the file", "a header line '<count> atoms'");
    if (points.size() != *announced)
      fail_at_line(name, last,
                   style ? "the end of the file after " + count_of(points.size(), "atom")
                         : std::string("the end of the file without an Atoms section"),
                   "the " + count_of(*announced, "atom") + " of the header");
    refuse_repeated(ids, name);
    return points;
  }
}
