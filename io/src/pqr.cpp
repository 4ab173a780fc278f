#include "text.hpp"

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    // The residue number stands before x. It tells a row with a missing or an extra value from a
    // good one: 12, -3, 52A (an insertion code), A1000 (a chain that ran into it).
    bool is_residue_number(std::string_view text)
    {
      if (!text.empty() && is_letter(text.front())) text.remove_prefix(1);
      if (!text.empty() && is_letter(text.back())) text.remove_suffix(1);
      std::int64_t value = 0;
      return parse_number(text, value) == number_status::good;
    }

    // Fields that ran into each other, because PDB's columns are narrow, count as two.
    std::size_t count_fields(std::vector<std::string_view> const& fields)
    {
      auto n = fields.size();
      if (fields[0].size() > 4 && is_digit(fields[0].back())) ++n;
      if (is_letter(fields[fields.size() - 6].front())) ++n;
      return n;
    }
  }

  point_set parse_pqr(std::string_view content, std::string const& name,
                      read_options const& options)
  {
    check_dim(options);
    refuse_columns(options, name);
    refuse_atom_style(options, name);

    point_set points;
    points.inputs.resize(1);
    points.input_names = {"q"};
    three_coordinates coordinates(points, options);
    line_cursor lines(without_mark(content));
    std::string_view line;
    std::vector<std::string_view> fields;
    std::size_t n_fields = 0;
    while (lines.next(line))
    {
      line = trimmed(line);
      if (!line.starts_with("ATOM") && !line.starts_with("HETATM")) continue;
      place const where{name, lines.line()};
      split(line, ' ', fields);
      auto const n = fields.size();
      if (n < 9)
        fail_at_line(name, where.line, count_of(n, "field"),
                     "an ATOM or HETATM line that ends in residue number, x, y, z, charge, radius");
      if (!is_residue_number(fields[n - 6]))
        fail_at_line(name, where.line, in_quotes(fields[n - 6]) + " before x",
                     "a residue number and the five fields x y z charge radius");
      if (points.size() == 0) n_fields = count_fields(fields);
      if (count_fields(fields) != n_fields)
        fail_at_line(name, where.line, count_of(n, "field"),
                     std::to_string(n_fields) + " as in the first ATOM line");
      coordinates.add(fields[n - 5], fields[n - 4], fields[n - 3], where);
      points.inputs[0].push_back(read_finite(fields[n - 2], where, "the charge"));
      read_finite(fields[n - 1], where, "the radius");
    }
    if (points.size() == 0)
      fail_at_line(name, lines.line() + 1, "the end of the file", "an ATOM or HETATM line");
    return points;
  }
}
