#include <nearfield/io/atomic_file.hpp>
#include <nearfield/io/points.hpp>

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

    // Those of the file.
    std::uint64_t n_points(point_set const& points, write_options const& options)
    {
      return options.part ? options.part->n_points : points.size();
    }

    // The box of a file: that of the set, or the cube around its points, rounded to the precision of the
    // file. If rounding moves points out of it, it is enlarged.
    template <class Real>
    bounding_box box_for(point_set const& points, write_options const& options)
    {
      bool const is_empty = n_points(points, options) == 0;
      auto const rounded = [](double x)
      {
        return static_cast<double>(static_cast<Real>(x));
      };
      bounding_box box;
      double needed = 0;
      for (std::size_t a = 0; a < points.positions.size(); ++a)
      {
        auto const& column = points.positions[a];
        double lower = 0, upper = 0;
        if (options.part && !is_empty)
        {
          lower = rounded(options.part->lower[a]);
          upper = rounded(options.part->upper[a]);
        }
        else if (!is_empty)
        {
          auto const [least, greatest] = std::minmax_element(column.begin(), column.end());
          lower = rounded(*least);
          upper = rounded(*greatest);
        }
        auto const centre = rounded(points.box ? points.box->centre[a] : lower / 2 + upper / 2);
        box.centre.push_back(centre);
        needed = std::max({needed, centre - lower, upper - centre});
      }
      if (points.box && (is_empty || std::is_same_v<Real, double>))
        box.half_width = points.box->half_width;
      else if (points.box)
        box.half_width = std::max(points.box->half_width, needed);
      else
        box.half_width = needed > 0 ? needed : 1;

      auto const largest = static_cast<double>(std::numeric_limits<Real>::max());
      if (!(box.half_width <= largest))
        throw error("point_set: found points too far apart for the box of an FMA file, expected a "
                    "half width that the precision can represent");
      // round up, so that no point falls outside
      auto half_width = static_cast<Real>(box.half_width);
      if (static_cast<double>(half_width) < box.half_width)
        half_width = std::nextafter(half_width, std::numeric_limits<Real>::infinity());
      box.half_width = static_cast<double>(half_width);
      return box;
    }

    template <class Real>
    void append_rows(std::string& out, point_set const& points, char delimiter)
    {
      auto const columns = all_columns(points);
      for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t c = 0; c < columns.size(); ++c)
        {
          detail::append_number(out, static_cast<Real>(columns[c][i]));
          out += c + 1 == columns.size() ? '\n' : delimiter;
        }
    }

    void check_columns_of_fma(point_set const& points)
    {
      if (!points.velocities.empty() || !points.masses.empty())
        throw error("point_set: found velocities or masses, which an FMA file cannot hold; write "
                    ".csv, .vtu or .xyz, or leave them out");
      auto const n = points.positions.size() + points.inputs.size() + points.outputs.size();
      if (n > max_values_per_point)
        throw error("point_set: found " + std::to_string(n) + " columns, expected at most " +
                    std::to_string(max_values_per_point) + " in an FMA file");
    }

    template <class Real>
    std::string fma_header(point_set const& points, write_options const& options)
    {
      auto const box = box_for<Real>(points, options);
      auto const n_inputs = points.inputs.size();
      auto const dim = points.positions.size();
      std::string out = std::to_string(sizeof(Real)) + " " +
                        std::to_string(dim + n_inputs + points.outputs.size()) + " " +
                        std::to_string(dim) + " " + std::to_string(n_inputs) + "\n" +
                        std::to_string(n_points(points, options)) + " ";
      detail::append_number(out, static_cast<Real>(box.half_width));
      for (double const c : box.centre)
      {
        out += ' ';
        detail::append_number(out, static_cast<Real>(c));
      }
      return out + '\n';
    }

    template <class Real>
    std::string fma(point_set const& points, write_options const& options)
    {
      std::string out;
      if (has_header(options)) out = fma_header<Real>(points, options);
      append_rows<Real>(out, points, ' ');
      return out;
    }

    template <class T>
    void append_bytes(std::string& out, T value)
    {
      char bytes[sizeof value];
      std::memcpy(bytes, &value, sizeof value);
      out.append(bytes, sizeof value);
    }

    template <class Real>
    std::string bfma(point_set const& points, write_options const& options)
    {
      auto const columns = all_columns(points);
      std::string out;
      out.reserve(24 + (4 + points.size() * columns.size()) * sizeof(Real));
      if (has_header(options))
      {
        auto const box = box_for<Real>(points, options);
        for (std::size_t const value :
             {sizeof(Real), columns.size(), points.positions.size(), points.inputs.size()})
          append_bytes(out, static_cast<std::uint32_t>(value));
        append_bytes(out, n_points(points, options));
        append_bytes(out, static_cast<Real>(box.half_width));
        for (double const c : box.centre) append_bytes(out, static_cast<Real>(c));
      }
      for (std::size_t i = 0; i < points.size(); ++i)
        for (auto const* column : columns) append_bytes(out, static_cast<Real>(column[i]));
      return out;
    }

    template <class Real>
    std::string csv(point_set const& points, write_options const& options)
    {
      std::string out;
      if (has_header(options))
      {
        for (auto const& name : column_names(points)) out += (out.empty() ? "" : ",") + name;
        out += '\n';
      }
      append_rows<Real>(out, points, ',');
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
    std::vector<field> fields;
    for (std::size_t c = dim; c < columns.size();)
    {
      field next{names[c], {columns[c]}};
      for (auto const& [prefix, name] : vectors)
      {
        std::size_t n = 0;
        while (n < dim && c + n < columns.size() && names[c + n] == std::string{prefix, "xyz"[n]})
          ++n;
        if (n == dim) next = {name, {columns.begin() + c, columns.begin() + c + n}};
      }
      c += next.columns.size();
      fields.push_back(std::move(next));
    }
    return fields;
  }

  bool detail::io::has_header(write_options const& options)
  {
    return !options.part || options.part->has_header;
  }

  void detail::io::check_writable(point_set const& points, write_options const& options)
  {
    check(points);
    if (options.precision == file_precision::f64) return;
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
    check_writable(points, options);
    check_columns_of_fma(points);
    return options.precision == file_precision::f32 ? fma<float>(points, options)
                                                    : fma<double>(points, options);
  }

  std::string format_bfma(point_set const& points, write_options const& options)
  {
    check_writable(points, options);
    check_columns_of_fma(points);
    return options.precision == file_precision::f32 ? bfma<float>(points, options)
                                                    : bfma<double>(points, options);
  }

  std::string format_csv(point_set const& points, write_options const& options)
  {
    check_writable(points, options);
    return options.precision == file_precision::f32 ? csv<float>(points, options)
                                                    : csv<double>(points, options);
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
    atomic_file file(path);
    file.write(format(points, options));
    file.commit();
  }
}
