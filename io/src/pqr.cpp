#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

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
      return integer_in(text).has_value();
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

    bool are_numbers(std::span<std::string_view const> fields)
    {
      return std::all_of(fields.begin(), fields.end(),
                         [](std::string_view field)
                         {
                           double value = 0;
                           return parse_number(field, value) == number_status::good;
                         });
    }

    // x, y, z, charge and radius of a row that has them where PDB has its numbers: the characters 31 to 54, then 55 to 62
    // and on. False for other rows.
    bool read_fixed(std::string_view line, std::vector<std::string_view>& values)
    {
      if (line.size() < 56 || line[34] != '.' || line[42] != '.' || line[50] != '.') return false;
      auto behind = fields_in(line.substr(54), ' ');
      if (behind.size() == 1 && line.size() > 62) // touching, too
        behind = {trimmed(line.substr(54, 8)), trimmed(line.substr(62))};
      if (behind.size() < 2 || (behind.size() > 2 && are_numbers({&behind[2], 1}))) return false;
      std::vector<std::string_view> const found{trimmed(line.substr(30, 8)),
                                                trimmed(line.substr(38, 8)),
                                                trimmed(line.substr(46, 8)), behind[0], behind[1]};
      if (!are_numbers(found)) return false;
      values = found;
      return true;
    }

    // Whether a row has occupancy and temperature factor where PDB has them, and no charge and radius: each has two
    // decimals, and the first is in [0, 1].
    bool is_of_pdb(std::string_view line)
    {
      if (line.size() < 66 || line[57] != '.' || line[63] != '.' || line[34] != '.' ||
          !(line.size() == 66 || is_blank(line[66])))
        return false;
      auto const occupancy = trimmed(line.substr(54, 6)), factor = trimmed(line.substr(60, 6));
      double value = 0;
      return are_numbers({&factor, 1}) && occupancy.find(' ') == occupancy.npos &&
             parse_number(occupancy, value) == number_status::good && value >= 0 && value <= 1;
    }

    // Of CRYST1: a along x, b in the plane of x and y.
    std::optional<file_report::periodic_cell> cell_of(std::string_view line, place const& where)
    {
      auto fields = fields_in(line, ' ');
      // lengths of 9 and angles of 7 characters may touch
      if (line.size() >= 54 && line[11] == '.' && line[20] == '.' && line[29] == '.')
        fields = {line.substr(0, 6),           trimmed(line.substr(6, 9)),
                  trimmed(line.substr(15, 9)), trimmed(line.substr(24, 9)),
                  trimmed(line.substr(33, 7)), trimmed(line.substr(40, 7)),
                  trimmed(line.substr(47, 7))};
      if (fields.size() < 7)
        where.fail(count_of(fields.size(), "field"), "CRYST1, three lengths and three angles");
      double v[6];
      for (std::size_t k = 0; k < 6; ++k) v[k] = read_finite(fields[k + 1], where, "the box");
      if (v[0] == 1 && v[1] == 1 && v[2] == 1)
        return std::nullopt; // PDB's way to say that there is none
      auto const cosine = [&](double angle)
      {
        return angle == 90 ? 0 : std::cos(angle * std::numbers::pi / 180);
      };
      double const cos_a = cosine(v[3]), cos_b = cosine(v[4]), cos_c = cosine(v[5]),
                   sin_c = std::sqrt(1 - cos_c * cos_c), y = (cos_a - cos_b * cos_c) / sin_c;
      file_report::periodic_cell cell{.from = "CRYST1"};
      cell.vectors = {{{v[0], 0, 0},
                       {v[1] * cos_c, v[1] * sin_c, 0},
                       {v[2] * cos_b, v[2] * y, v[2] * std::sqrt(1 - cos_b * cos_b - y * y)}}};
      return cell;
    }

    bool is_atom(std::string_view line)
    {
      auto const start = lower(line.substr(0, 6));
      return start.starts_with("atom") || start == "hetatm";
    }

    // Whether atoms below the line are of the next model.
    bool ends_model(std::string_view line)
    {
      return line.starts_with("MODEL") || line.starts_with("END"); // also ENDMDL
    }

    std::size_t count_models(line_cursor lines)
    {
      std::size_t n = 0;
      bool is_new = true;
      for (std::string_view line; lines.next(line);)
      {
        line = trimmed(line);
        if (ends_model(line)) is_new = true;
        if (!is_atom(line)) continue;
        n += is_new;
        is_new = false;
      }
      return n;
    }
  }

  point_set parse_pqr(std::string_view content, std::string const& name,
                      read_options const& options, file_report* report)
  {
    check_options(options, name, {.frames = true});
    point_set points;
    points.inputs.resize(1);
    points.input_names = {"q"};
    points.positions.resize(3);
    line_cursor lines(without_mark(content, name));
    std::size_t const n_models = count_models(lines),
                      chosen = check_frame(options, n_models, name, "model");
    std::string_view line;
    std::vector<std::string_view> fields;
    std::optional<shape> first;
    std::optional<file_report::periodic_cell> cell;
    std::size_t model = 0; // counted from 1
    bool is_new = true, are_of_pdb = true;
    std::size_t first_line = 0;
    while (lines.next(line))
    {
      place const where{name, lines.line()};
      std::string_view const row = trimmed(line);
      // trajectories have a box for each model, before it; other files one for all
      bool const is_of_later = model > chosen && (model > chosen + 1 || is_new);
      if (row.starts_with("CRYST1") && !is_of_later) cell = cell_of(row, where);
      if (ends_model(row)) is_new = true;
      if (!is_atom(row)) continue;
      model += is_new;
      is_new = false;
      if (model != chosen + 1) continue;
      if (first_line == 0) first_line = where.number;
      are_of_pdb = are_of_pdb && is_of_pdb(line);
      split(row, ' ', fields);
      auto const n = fields.size();
      bool const has_residue = n >= 9 && is_residue_number(fields[n - 6]);
      bool const is_free = has_residue && are_numbers(std::span(fields).last(5));
      if (is_free || !read_fixed(line, fields))
      {
        if (n < 9)
          where.fail(count_of(n, "field"),
                     "an ATOM or HETATM line that ends in residue number, x, y, z, charge, radius");
        if (!has_residue)
          where.fail(in_quotes(fields[n - 6]) + " before x",
                     "a residue number and the five fields x y z charge radius");
        shape const here(fields);
        if (!first) first = here;
        if (!here.agrees_with(*first))
          where.fail(count_of(n, "field"),
                     std::to_string(first->n_fields) +
                         " as in the first ATOM line, or one more or fewer with the chain");
        fields.erase(fields.begin(), fields.end() - 5);
      }
      add_point(points, fields[0], fields[1], fields[2], options, where);
      points.inputs[0].push_back(read_finite(fields[3], where, "the charge"));
      read_finite(fields[4], where, "the radius");
    }
    if (points.size() == 0)
      fail_at_line(name, lines.line() + 1, "the end of the file", "an ATOM or HETATM line");
    if (are_of_pdb)
      fail_at_line(name, first_line, "rows of PDB, with occupancy and temperature factor",
                   "charge and radius: convert it to .pqr by PDB2PQR");
    make_planar(points, options);
    if (!report) return points;
    *report = {.format = "PQR",
               .positions = {"x", "y", "z"},
               .inputs = {"charge"},
               .left_out = {"radius"},
               .cell = cell};
    leave_out_frames(n_models, "model", *report);
    return points;
  }
}
