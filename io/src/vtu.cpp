#include <nearfield/io/points.hpp>

#include "text.hpp"
#include "write.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace nearfield
{
  namespace
  {
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

    template <class T>
    constexpr char const* type_name();
    template <>
    constexpr char const* type_name<float>()
    {
      return "Float32";
    }
    template <>
    constexpr char const* type_name<double>()
    {
      return "Float64";
    }
    template <>
    constexpr char const* type_name<std::int64_t>()
    {
      return "Int64";
    }
    template <>
    constexpr char const* type_name<std::uint8_t>()
    {
      return "UInt8";
    }

    // Uncompressed inline data: the number of bytes as UInt64, then the bytes, as one base64 string.
    template <class T>
    void append_array(std::string& out, std::string_view name, int components,
                      std::vector<T> const& values)
    {
      out += "        <DataArray type=\"" + std::string(type_name<T>()) + "\" Name=\"" +
             escaped(name) + "\" NumberOfComponents=\"" + std::to_string(components) +
             "\" format=\"binary\">";
      std::uint64_t const size = values.size() * sizeof(T);
      std::string bytes(sizeof size + size, '\0');
      std::memcpy(bytes.data(), &size, sizeof size);
      if (size != 0) std::memcpy(bytes.data() + sizeof size, values.data(), size);
      append_base64(out, bytes);
      out += "</DataArray>\n";
    }

    // What a viewer shows first: of fields with that many components one of the outputs, else one of the inputs.
    std::string shown_first(point_set const& points, int n_components)
    {
      std::size_t const end = detail::io::all_columns(points).size(),
                        outputs = end - points.outputs.size(),
                        inputs = outputs - points.inputs.size();
      std::string name;
      int best = -1;
      auto column = points.positions.size();
      for (auto const& field : detail::io::fields_of(points))
      {
        int const rank = int(column >= inputs) + int(column >= outputs);
        column += field.columns.size();
        if (field.n_components() != n_components || rank <= best) continue;
        best = rank;
        name = field.name;
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

    template <class Real>
    void append_points(std::string& out, point_set const& points)
    {
      auto const n = points.size();
      auto const dim = static_cast<std::size_t>(points.dim);
      std::vector<Real> xyz(3 * n);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t a = 0; a < dim; ++a)
          xyz[3 * i + a] = static_cast<Real>(points.positions[a][i]);
      out += "      <Points>\n";
      append_array(out, "Points", 3, xyz);
      out += "      </Points>\n      " + start_of_point_data("PointData", points);

      for (auto const& field : detail::io::fields_of(points))
      {
        std::vector<Real> values;
        values.reserve(n * static_cast<std::size_t>(field.n_components()));
        for (std::size_t i = 0; i < n; ++i)
          for (int c = 0; c < field.n_components(); ++c)
            values.push_back(static_cast<Real>(field(i, c)));
        append_array(out, field.name, field.n_components(), values);
      }
      out += "      </PointData>\n";
    }

    void append_vertices(std::string& out, std::size_t n)
    {
      constexpr std::uint8_t vertex = 1; // VTK_VERTEX
      std::vector<std::int64_t> connectivity(n), offsets(n);
      for (std::size_t i = 0; i < n; ++i)
      {
        connectivity[i] = static_cast<std::int64_t>(i);
        offsets[i] = static_cast<std::int64_t>(i + 1);
      }
      out += "      <Cells>\n";
      append_array(out, "connectivity", 1, connectivity);
      append_array(out, "offsets", 1, offsets);
      append_array(out, "types", 1, std::vector<std::uint8_t>(n, vertex));
      out += "      </Cells>\n";
    }
  }

  std::string format_pvtu(point_set const& points, std::vector<std::string> const& pieces,
                          write_options const& options)
  {
    char const* const type = options.precision == file_precision::f32 ? "Float32" : "Float64";
    auto const array = [&](std::string_view name, int components)
    {
      return "      <PDataArray type=\"" + std::string(type) + "\" Name=\"" + escaped(name) +
             "\" NumberOfComponents=\"" + std::to_string(components) + "\"/>\n";
    };
    std::string out = "<?xml version=\"1.0\"?>\n"
                      "<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" "
                      "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
                      "  <PUnstructuredGrid GhostLevel=\"0\">\n    <PPoints>\n" +
                      array("Points", 3) + "    </PPoints>\n    " +
                      start_of_point_data("PPointData", points);
    for (auto const& field : detail::io::fields_of(points))
      out += array(field.name, field.n_components());
    out += "    </PPointData>\n";
    for (auto const& piece : pieces) out += "    <Piece Source=\"" + escaped(piece) + "\"/>\n";
    return out + "  </PUnstructuredGrid>\n</VTKFile>\n";
  }

  std::string format_vtu(point_set const& points, write_options const& options)
  {
    detail::io::check_writable(points, options);
    auto const n = std::to_string(points.size());
    std::string out = "<?xml version=\"1.0\"?>\n"
                      "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                      "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
                      "  <UnstructuredGrid>\n"
                      "    <Piece NumberOfPoints=\"" +
                      n + "\" NumberOfCells=\"" + n + "\">\n";
    if (options.precision == file_precision::f32)
      append_points<float>(out, points);
    else
      append_points<double>(out, points);
    append_vertices(out, points.size());
    out += "    </Piece>\n  </UnstructuredGrid>\n</VTKFile>\n";
    return out;
  }

  std::string format_pvd(std::vector<pvd_entry> const& entries)
  {
    std::string out = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n"
                      "  <Collection>\n";
    for (pvd_entry const& entry : entries)
      out += "    <DataSet timestep=\"" + detail::number_text(entry.time) +
             "\" part=\"0\" file=\"" + escaped(entry.file) + "\"/>\n";
    return out + "  </Collection>\n</VTKFile>\n";
  }
}
