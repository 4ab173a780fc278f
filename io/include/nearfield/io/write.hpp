#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/io/point_set.hpp>

#include <filesystem>
#include <string>

namespace nearfield
{
  /// The floating-point type whose values a file holds.
  enum class file_precision
  {
    f32,
    f64
  };

  /// How a file is written.
  struct write_options
  {
    file_precision precision = file_precision::f64; ///< of the numbers in the file
  };

  /// Writes `points` to `path` as its extension says: .fma (FMA v2 text), .bfma (FMA v2 binary),
  /// .csv, .vtu (ParaView).
  ///
  /// The file appears under its name only when it is complete (see atomic_file). Outputs may be
  /// nan, inf or -inf, which texts spell so and read_points reads back. Throws error where the
  /// points fail check(), a value does not fit the precision, the extension is another or the place
  /// cannot be written.
  NEARFIELD_API void write_points(std::filesystem::path const& path, point_set const& points,
                                  write_options const& options = {});

  /// What write_points writes to `path`: for who gives several files their names together. Throws
  /// error as it does, but for the place.
  NEARFIELD_API std::string format_points(std::filesystem::path const& path,
                                          point_set const& points,
                                          write_options const& options = {});

  /// Throws error, with the extensions that there are, unless write_points knows that of `path`: a
  /// long computation asks before it starts.
  NEARFIELD_API void check_writable_format(std::filesystem::path const& path);

  /// FMA v2 text: `sizeof_real nrec dim n_inputs`, then N, the half width and the dim coordinates of the
  /// centre, then a row of nrec = dim + inputs + outputs values a point, in shortest decimals that read
  /// back to the same value. The box is points.box, grown where rounding to f32 needs it; without one,
  /// the cube around the points.
  NEARFIELD_API std::string format_fma(point_set const& points, write_options const& options = {});

  /// FMA v2 binary: the same header and values, little-endian, without padding.
  NEARFIELD_API std::string format_bfma(point_set const& points, write_options const& options = {});

  /// CSV: a line with the names of the columns, then a row a point: positions, inputs, outputs, in
  /// shortest decimals that read back to the same value.
  NEARFIELD_API std::string format_csv(point_set const& points, write_options const& options = {});

  /// VTK's XML unstructured grid: a vertex cell a point, inputs and outputs as point data, inline
  /// base64. In 2D z is 0.
  NEARFIELD_API std::string format_vtu(point_set const& points, write_options const& options = {});
}
