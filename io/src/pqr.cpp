#include "text.hpp"

#include <optional>

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    // The residue number, before x, distinguishes a valid row from one with a missing or extra value:
    // 12, -3, 52A (with an insertion code), A1000 (joined with the chain).
    bool is_residue_number(std::string_view text)
    {
      if (!text.empty() && is_letter(text.front())) text.remove_prefix(1);
      if (!text.empty() && is_letter(text.back())) text.remove_suffix(1);
      std::int64_t value = 0;
      return parse_number(text, value) == number_status::good;
    }

    // The number of fields of a row. Joined fields, from PDB's narrow columns, count as two. The chain, a
    // letter before the residue number, may be missing in some rows of a file.
    struct shape
    {
      std::size_t n_fields;
      bool has_chain;

      explicit shape(std::vector<std::string_view> const& fields)
          : n_fields(fields.size()), has_chain(false)
      {
        if (fields[0].size() > 4 && is_digit(fields[0].back())) ++n_fields;
        auto const residue = fields.size() - 6;
        bool const joined = is_letter(fields[residue].front());
        if (joined) ++n_fields;
        auto const chain = fields[residue - 1];
        has_chain = joined || (chain.size() == 1 && is_letter(chain[0]));
      }

      [[nodiscard]] bool agrees_with(shape const& other) const
      {
        return n_fields == other.n_fields || (has_chain && n_fields == other.n_fields + 1) ||
               (other.has_chain && n_fields + 1 == other.n_fields);
      }
    };
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
    line_cursor lines(without_mark(content, name));
    std::string_view line;
    std::vector<std::string_view> fields;
    std::optional<shape> first;
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
      shape const here(fields);
      if (!first) first = here;
      if (!here.agrees_with(*first))
        fail_at_line(name, where.line, count_of(n, "field"),
                     std::to_string(first->n_fields) +
                         " as in the first ATOM line, or one more or fewer with the chain");
      coordinates.add(fields[n - 5], fields[n - 4], fields[n - 3], where);
      points.inputs[0].push_back(read_finite(fields[n - 2], where, "the charge"));
      read_finite(fields[n - 1], where, "the radius");
    }
    if (points.size() == 0)
      fail_at_line(name, lines.line() + 1, "the end of the file", "an ATOM or HETATM line");
    return points;
  }
}
