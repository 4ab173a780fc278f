#include <nearfield/io/points.hpp>

#include "atomic_file.hpp"
#include "fma.hpp"
#include "text.hpp"
#include "write.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    // The box of a file: that of the set, or the cube around its points, rounded to the precision of the
    // file. If rounding moves points out of it, it is enlarged.
    point_set::bounding_box box_for(point_set const& points, write_options const& options)
    {
      bool const is_empty = n_points(points, options) == 0,
                 is_narrow = options.precision == write_options::f32;
      auto const rounded = [&](double x)
      {
        return is_narrow ? static_cast<double>(static_cast<float>(x)) : x;
      };
      point_set::bounding_box box;
      double needed = 0;
      for (std::size_t a = 0; a < points.positions.size(); ++a)
      {
        std::pair<double, double> ends{0, 0};
        if (options.part && !is_empty)
          ends = {options.part->lower[a], options.part->upper[a]};
        else if (!is_empty)
        {
          auto const& column = points.positions[a];
          auto const [least, greatest] = std::minmax_element(column.begin(), column.end());
          ends = {*least, *greatest};
        }
        auto const lower = rounded(ends.first), upper = rounded(ends.second);
        auto const centre = rounded(points.box ? points.box->centre[a] : lower / 2 + upper / 2);
        box.centre.push_back(centre);
        needed = std::max({needed, centre - lower, upper - centre});
      }
      box.half_width = !points.box              ? (needed > 0 ? needed : 1)
                       : is_narrow && !is_empty ? std::max(points.box->half_width, needed)
                                                : points.box->half_width;

      double const largest =
          is_narrow ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
      if (!(box.half_width <= largest))
        throw error("point_set: found points too far apart for the box of an FMA file, expected a "
                    "half width that the precision can represent");
      // round up, so that no point falls outside
      auto const nearest = rounded(box.half_width);
      box.half_width =
          nearest < box.half_width
              ? std::nextafter(static_cast<float>(nearest), std::numeric_limits<float>::infinity())
              : nearest;
      return box;
    }

    void check_columns_of_fma(point_set const& points)
    {
      if (!points.velocities.empty() || !points.masses.empty() || !points.parameters.empty())
        throw error("point_set: found velocities, masses or parameters, which an FMA file cannot "
                    "hold; write .csv, .vtu or .xyz, or leave them out");
      auto const n = points.positions.size() + points.inputs.size() + points.outputs.size();
      if (n > max_values_per_point)
        throw error("point_set: found " + std::to_string(n) + " columns, expected at most " +
                    std::to_string(max_values_per_point) + " in an FMA file");
    }

    std::string fma(point_set const& points, write_options const& options, bool is_binary)
    {
      check_writable(points, options);
      check_columns_of_fma(points);
      auto const columns = all_columns(points);
      std::string out;
      auto const append = [&](std::size_t n, std::vector<double const*> const& values)
      {
        if (is_binary)
          append_values(out, n, values, options.precision);
        else
          append_rows(out, n, values, ' ', options.precision);
      };
      if (has_header(options))
      {
        for (std::size_t const count : {size_of(options.precision), columns.size(),
                                        points.positions.size(), points.inputs.size()})
          if (is_binary)
            append_bytes(out, static_cast<std::uint32_t>(count));
          else
            out += (out.empty() ? "" : " ") + std::to_string(count);
        auto const n = n_points(points, options);
        if (is_binary)
          append_bytes(out, n);
        else
          out += '\n' + std::to_string(n) + ' ';
        auto const box = box_for(points, options);
        std::vector<double const*> lengths{&box.half_width};
        for (double const& c : box.centre) lengths.push_back(&c);
        append(1, lengths);
      }
      append(points.size(), columns);
      return out;
    }

    using formatter = std::string (*)(point_set const&, write_options const&);

    formatter formatter_for(std::filesystem::path const& path)
    {
      auto const extension = lower(path.extension().string());
      if (extension == ".fma") return format_fma;
      if (extension == ".bfma") return format_bfma;
      if (extension == ".csv") return format_csv;
      if (extension == ".vtu") return format_vtu;
      if (extension == ".xyz") return format_xyz;
      throw error(printable(path.string()) + ": found extension " + in_quotes(extension) +
                  ", expected .fma .bfma .csv .vtu .xyz");
    }
  }

  void detail::io::append_rows(std::string& out, std::size_t n,
                               std::vector<double const*> const& columns, char separator,
                               write_options::precision_type precision)
  {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < columns.size(); ++c)
      {
        double const value = columns[c] ? columns[c][i] : 0;
        if (precision == write_options::f32)
          detail::append_number(out, static_cast<float>(value));
        else
          detail::append_number(out, value);
        out += c + 1 == columns.size() ? '\n' : separator;
      }
  }

  void detail::io::append_values(std::string& out, std::size_t n,
                                 std::vector<double const*> const& columns,
                                 write_options::precision_type precision)
  {
    out.reserve(out.size() + n * columns.size() * size_of(precision));
    for (std::size_t i = 0; i < n; ++i)
      for (auto const* column : columns)
      {
        double const value = column ? column[i] : 0;
        if (precision == write_options::f32)
          append_bytes(out, static_cast<float>(value));
        else
          append_bytes(out, value);
      }
  }

  std::vector<double const*> detail::io::all_columns(point_set const& points)
  {
    std::vector<double const*> columns;
    auto const append = [&](std::vector<std::vector<double>> const& group)
    {
      for (auto const& column : group) columns.push_back(column.data());
    };
    append(points.positions);
    append(points.velocities);
    if (!points.masses.empty()) columns.push_back(points.masses.data());
    append(points.parameters);
    append(points.inputs);
    append(points.outputs);
    return columns;
  }

  std::vector<detail::io::field> detail::io::fields_of(point_set const& points)
  {
    static constexpr std::pair<char, char const*> vectors[] = {
        {'v', "velocity"}, {'g', "gradient"}, {'a', "acceleration"}};
    auto const names = column_names(points);
    auto const columns = all_columns(points);
    auto const dim = points.positions.size();
    auto const vector = [&](char const* name, std::size_t first)
    {
      field found{name, {columns.begin() + first, columns.begin() + first + dim}};
      found.columns.resize(3);
      return found;
    };
    std::vector<field> fields{vector("pos", 0)};
    for (std::size_t c = dim; c < columns.size();)
    {
      field next{names[c], {columns[c]}};
      for (auto const& [prefix, name] : vectors)
      {
        std::size_t n = 0;
        while (n < dim && c + n < columns.size() && names[c + n] == std::string{prefix, "xyz"[n]})
          ++n;
        if (n == dim) next = vector(name, c);
      }
      c += next.columns.size() == 1 ? 1 : dim;
      fields.push_back(std::move(next));
    }
    return fields;
  }

  std::uint64_t detail::io::n_points(point_set const& points, write_options const& options)
  {
    return options.part ? options.part->n_points : points.size();
  }

  bool detail::io::has_header(write_options const& options)
  {
    return !options.part || options.part->has_header;
  }

  void detail::io::check_writable(point_set const& points, write_options const& options)
  {
    check(points);
    if (options.precision == write_options::f64) return;
    auto const names = column_names(points);
    auto const columns = all_columns(points);
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (std::size_t i = 0; i < points.size(); ++i)
        if (std::isfinite(columns[c][i]) &&
            std::abs(columns[c][i]) > std::numeric_limits<float>::max())
          throw error("point_set: found " + detail::number_text(columns[c][i]) + " for " +
                      names[c] + " at point " + std::to_string(i) +
                      ", expected values in the range of single precision; write f64");
  }

  std::string format_fma(point_set const& points, write_options const& options)
  {
    return fma(points, options, false);
  }

  std::string format_bfma(point_set const& points, write_options const& options)
  {
    return fma(points, options, true);
  }

  std::string format_csv(point_set const& points, write_options const& options)
  {
    check_writable(points, options);
    std::string out;
    if (has_header(options))
    {
      for (auto const& name : column_names(points)) out += (out.empty() ? "" : ",") + name;
      out += '\n';
    }
    append_rows(out, points.size(), all_columns(points), ',', options.precision);
    return out;
  }

  std::string format_points(std::filesystem::path const& path, point_set const& points,
                            write_options const& options)
  {
    return formatter_for(path)(points, options);
  }

  bool can_hold_velocities(std::filesystem::path const& path)
  {
    auto const format = formatter_for(path);
    return format != format_fma && format != format_bfma;
  }

  void check_writable_format(std::filesystem::path const& path)
  {
    formatter_for(path);
  }

  void write_points(std::filesystem::path const& path, point_set const& points,
                    write_options const& options)
  {
    auto const format = formatter_for(path);
    // opened first, so that an unwritable path fails before the work is done
    detail::atomic_file file(path);
    file.write(format(points, options));
    file.commit();
  }
}
