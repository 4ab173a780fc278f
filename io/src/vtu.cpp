#include <nearfield/io/points.hpp>

#include "text.hpp"
#include "write.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    void append_base64(std::string& out, std::string_view bytes)
    {
      static constexpr char digits[] =
          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      for (std::size_t i = 0; i < bytes.size(); i += 3)
      {
        auto const n = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k)
          group = group << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k)
          out += k <= n ? digits[group >> (18 - 6 * k) & 63] : '=';
      }
    }

    std::string escaped(std::string_view name)
    {
      std::string out;
      for (char const c : name) switch (c)
        {
        case '&':
          out += "&amp;";
          break;
        case '<':
          out += "&lt;";
          break;
        case '"':
          out += "&quot;";
          break;
        default:
          out += c;
        }
      return out;
    }

    char const* type_name(write_options::precision_type precision)
    {
      return precision == write_options::f32 ? "Float32" : "Float64";
    }

    std::string attributes(std::string_view type, std::string_view name, std::size_t components)
    {
      return "DataArray type=\"" + std::string(type) + "\" Name=\"" + escaped(name) +
             "\" NumberOfComponents=\"" + std::to_string(components) + "\"";
    }

    // Uncompressed inline data: the number of bytes as UInt64, then the bytes, as one base64 string.
    template <class Append>
    void append_array(std::string& out, std::string_view type, std::string_view name,
                      std::size_t components, std::uint64_t size, Append const& append_content)
    {
      out += "        <" + attributes(type, name, components) + " format=\"binary\">";
      std::string bytes;
      bytes.reserve(sizeof size + size);
      append_bytes(bytes, size);
      append_content(bytes);
      append_base64(out, bytes);
      out += "</DataArray>\n";
    }

    // What a viewer shows first: of fields with that many components one of the outputs, else one of the inputs.
    std::string shown_first(point_set const& points, std::size_t n_components)
    {
      std::size_t const n = all_columns(points).size(), outputs = n - points.outputs.size(),
                        inputs = outputs - points.inputs.size();
      std::string name;
      int best = -1;
      std::size_t column = 0;
      for (auto const& each : fields_of(points))
      {
        int const rank = column == 0 ? -1 : int(column >= inputs) + int(column >= outputs);
        column += each.columns.size() == 1 ? 1 : points.positions.size();
        if (each.columns.size() != n_components || rank <= best) continue;
        best = rank;
        name = each.name;
      }
      return name;
    }

    // <PointData> or <PPointData>, which names them.
    std::string start_of_point_data(char const* element, point_set const& points)
    {
      std::string tag = std::string("<") + element;
      auto const add = [&](char const* attribute, std::string const& name)
      {
        if (!name.empty()) tag += std::string(" ") + attribute + "=\"" + escaped(name) + "\"";
      };
      add("Scalars", shown_first(points, 1));
      add("Vectors", shown_first(points, 3));
      return tag + ">\n";
    }

    void append_points(std::string& out, point_set const& points,
                       write_options::precision_type precision)
    {
      auto const append = [&](std::string_view name, field const& each)
      {
        auto const size = points.size() * each.columns.size() * size_of(precision);
        append_array(out, type_name(precision), name, each.columns.size(), size,
                     [&](std::string& bytes)
                     { append_values(bytes, points.size(), each.columns, precision); });
      };
      auto const fields = fields_of(points);
      out += "      <Points>\n";
      append("Points", fields[0]);
      out += "      </Points>\n      " + start_of_point_data("PointData", points);
      for (std::size_t f = 1; f < fields.size(); ++f) append(fields[f].name, fields[f]);
      out += "      </PointData>\n";
    }

    // A vertex for each point.
    void append_vertices(std::string& out, std::size_t n)
    {
      auto const append_from = [&](char const* name, std::int64_t first)
      {
        append_array(out, "Int64", name, 1, n * sizeof first,
                     [&](std::string& bytes)
                     {
                       for (std::size_t i = 0; i < n; ++i)
                         append_bytes(bytes, first + static_cast<std::int64_t>(i));
                     });
      };
      out += "      <Cells>\n";
      append_from("connectivity", 0);
      append_from("offsets", 1);
      append_array(out, "UInt8", "types", 1, n,
                   [&](std::string& bytes) { bytes.append(n, '\x01'); }); // VTK_VERTEX
      out += "      </Cells>\n";
    }

    // The begin of a file of the grid, all of it or its pieces.
    std::string start_of_file(std::string const& grid, char const* attribute = "")
    {
      return "<?xml version=\"1.0\"?>\n<VTKFile type=\"" + grid +
             "\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <" + grid +
             attribute + ">\n";
    }
  }

  std::string format_pvtu(point_set const& points, std::vector<std::string> const& pieces,
                          write_options const& options)
  {
    auto const array = [&](std::string_view name, std::size_t components)
    {
      return "      <P" + attributes(type_name(options.precision), name, components) + "/>\n";
    };
    std::string out = start_of_file("PUnstructuredGrid", " GhostLevel=\"0\"") + "    <PPoints>\n" +
                      array("Points", 3) + "    </PPoints>\n    " +
                      start_of_point_data("PPointData", points);
    auto const fields = fields_of(points);
    for (std::size_t f = 1; f < fields.size(); ++f)
      out += array(fields[f].name, fields[f].columns.size());
    out += "    </PPointData>\n";
    for (auto const& piece : pieces) out += "    <Piece Source=\"" + escaped(piece) + "\"/>\n";
    return out + "  </PUnstructuredGrid>\n</VTKFile>\n";
  }

  std::string format_vtu(point_set const& points, write_options const& options)
  {
    check_writable(points, options);
    auto const n = std::to_string(points.size());
    std::string out = start_of_file("UnstructuredGrid") + "    <Piece NumberOfPoints=\"" + n +
                      "\" NumberOfCells=\"" + n + "\">\n";
    append_points(out, points, options.precision);
    append_vertices(out, points.size());
    out += "    </Piece>\n  </UnstructuredGrid>\n</VTKFile>\n";
    return out;
  }

  std::string format_pvd(std::vector<std::pair<double, std::string>> const& entries)
  {
    std::string out = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n"
                      "  <Collection>\n";
    for (auto const& [time, file] : entries)
      out += "    <DataSet timestep=\"" + detail::number_text(time) + "\" part=\"0\" file=\"" +
             escaped(file) + "\"/>\n";
    return out + "  </Collection>\n</VTKFile>\n";
  }
}
