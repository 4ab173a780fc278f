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
    file_precision precision = file_precision::f64; ///< precision of the numbers
  };

  /// Writes `points` to `path` in the format of its extension: .fma (FMA v2 text), .bfma (FMA v2 binary),
  /// .csv, .vtu (ParaView).
  ///
  /// The file appears under its name only when it is complete (see atomic_file). Outputs may be nan, inf or
  /// -inf; text files spell them so, and read_points reads them back. Throws nearfield::error if the points
  /// fail check(), a value or the box of an FMA file exceeds the range of the precision, an FMA file would have
  /// more than 4096 columns, the extension is unknown, or the file cannot be written.
  NEARFIELD_API void write_points(std::filesystem::path const& path, point_set const& points,
                                  write_options const& options = {});

  /// The bytes that write_points writes to `path`, for programs that commit several files together. Throws as
  /// write_points does, except that nothing is written.
  NEARFIELD_API std::string format_points(std::filesystem::path const& path,
                                          point_set const& points,
                                          write_options const& options = {});

  /// Throws nearfield::error unless write_points knows the extension of `path`. For checks before a long
  /// computation.
  NEARFIELD_API void check_writable_format(std::filesystem::path const& path);

  /// FMA v2 text: a line `sizeof_real nrec dim n_inputs`; a line with N, the half width and the dim
  /// coordinates of the centre; a line per point of nrec = dim + inputs + outputs values, in the shortest
  /// decimals that read back to the same value. The box is points.box, enlarged if rounding to f32 requires
  /// it, or the cube around the points if there is none.
  NEARFIELD_API std::string format_fma(point_set const& points, write_options const& options = {});

  /// FMA v2 binary: the same header and values, little-endian, without padding.
  NEARFIELD_API std::string format_bfma(point_set const& points, write_options const& options = {});

  /// CSV: a line with the column names, then a row per point: positions, inputs, outputs, in the shortest
  /// decimals that read back to the same value.
  NEARFIELD_API std::string format_csv(point_set const& points, write_options const& options = {});

  /// VTK XML unstructured grid: one vertex cell per point; inputs and outputs are point data; inline base64. In
  /// 2D z is 0.
  NEARFIELD_API std::string format_vtu(point_set const& points, write_options const& options = {});
}
