#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/cell.hpp>
#include <nearfield/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// \file
/// Files of points: what they hold, readers and writers.

namespace nearfield
{
  /// The points of a file, one column of `size()` values per coordinate, component of the velocity, input and
  /// output, in the order of the file.
  struct point_set
  {
    /// The cube (in 2D the square) given in a file: the points lie within `half_width` of `centre` along each
    /// axis. FMA files store this half width.
    struct bounding_box
    {
      std::vector<double> centre = {}; ///< dim coordinates, length^1
      double half_width = 0;           ///< length^1, positive

      friend bool operator==(bounding_box const&, bounding_box const&) = default;
    };

    /// 2 or 3
    int dim = 3;
    /// dim columns
    std::vector<std::vector<double>> positions = {};
    /// dim columns, or none
    std::vector<std::vector<double>> velocities = {};
    /// one per point, or none
    std::vector<double> masses = {};
    /// what interactions read of points, such as a softening length: those of read_options.parameters that the file
    /// has, one column each, or none
    std::vector<std::vector<double>> parameters = {};
    /// one name per column of parameters
    std::vector<std::string> parameter_names = {};
    /// charges, masses ...: one column each, or none
    std::vector<std::vector<double>> inputs = {};
    /// potentials, forces ...: one column each, or none
    std::vector<std::vector<double>> outputs = {};
    /// one name per column of inputs; empty: q, or q1 q2 ...
    std::vector<std::string> input_names = {};
    /// one name per column of outputs; empty: phi, or phi1 phi2 ...
    std::vector<std::string> output_names = {};
    /// the box, if the file has one
    std::optional<bounding_box> box = {};
    /// if read_options.types asks for them: one number per point, which counts the types as they first appear
    std::vector<index_type> types = {};
    /// what the file calls the types, by number
    std::vector<std::string> type_names = {};

    /// The number of points.
    [[nodiscard]] std::size_t size() const { return positions.empty() ? 0 : positions[0].size(); }

    friend bool operator==(point_set const&, point_set const&) = default;
  };

  /// Throws nearfield::error unless `points` has dim = 2 or 3 columns of positions, columns of one length,
  /// finite positions, velocities, masses, parameters and inputs, as many velocities as positions or none, names for
  /// all parameters, names for all or none of the inputs, the same for outputs, types of all points or none, each with a name, and, if it has a box, dim
  /// finite coordinates of its centre and a positive finite half width.
  NEARFIELD_API void check(point_set const& points);

  /// The column names for a file's header line: x y [z], then vx vy [vz] and m if there are velocities and masses,
  /// then parameters, inputs and outputs. Unnamed inputs are q, or q1 q2 ..., and unnamed outputs phi, or phi1 phi2 ....
  NEARFIELD_API std::vector<std::string> column_names(point_set const& points);

  /// What a reader has made of a file: the names in the file of the columns that became positions, velocities, masses,
  /// inputs and outputs, `column 3` where it has no name; and what is not in the points. Of a part of a file it is that
  /// of the file.
  struct file_report
  {
    /// The box of a simulation that a file gives: origin + s a + t b + u c, with s, t, u in [0, 1). Readers leave the
    /// points as they are; cell lists and trees take them with box():
    ///
    ///     nearfield::file_report report;
    ///     auto const salt = nearfield::read_points("salt.xyz", {}, &report);
    ///     auto const& [x, y, z] = std::tie(salt.positions[0], salt.positions[1], salt.positions[2]);
    ///     nearfield::cell_list const cells{nearfield::soa{x, y, z}, cutoff, {.cell = report.cell->box()}};
    struct periodic_cell
    {
      std::string from = {};                             ///< what the file calls it: Lattice
      std::array<double, 3> origin = {};                 ///< length^1
      std::array<std::array<double, 3>, 3> vectors = {}; ///< a, b and c, length^1
      std::optional<std::array<bool, 3>> periodic = {};  ///< of a, b and c; none: not in the file

      /// The lengths of a, b and c if they lie along x, y and z, 0 for one that the file calls open; none for other
      /// boxes, which are triclinic.
      [[nodiscard]] NEARFIELD_API std::optional<std::array<double, 3>> lengths() const;

      /// The box that points repeat in. If the file does not say along which vectors, as those of LAMMPS do not, it is
      /// along all that are not 0. Where a, b and c lie along x, y and z, components up to 1e-12 of the largest become 0.
      [[nodiscard]] NEARFIELD_API nearfield::cell<3> box() const;

      friend bool operator==(periodic_cell const&, periodic_cell const&) = default;
    };

    std::string format = {};                  ///< such as `extended XYZ`
    std::vector<std::string> positions = {};  ///< names of columns
    std::vector<std::string> velocities = {}; ///< or `section Velocities`
    std::vector<std::string> masses = {};     ///< or `section Masses`
    std::vector<std::string> parameters = {}; ///< names of columns, of those that were asked for
    std::vector<std::string> inputs = {};     ///< names of columns
    std::vector<std::string> outputs = {};    ///< names of columns
    std::vector<std::string> types = {};      ///< the name of a column, if they were asked for
    std::vector<std::string> left_out = {};   ///< columns, sections, frames
    std::optional<periodic_cell> cell = {};   ///< if the file has one
    /// The file has momenta, and no masses that would make them velocities: the points have none.
    bool lacks_masses = false;
    /// The file has components of velocities or of momenta, and not one for each coordinate: the points have none.
    bool lacks_components = false;
    /// The file has masses of types, and --columns no type: the points have none.
    bool lacks_types = false;

    friend bool operator==(file_report const&, file_report const&) = default;
  };

  /// What the file itself does not say.
  struct read_options
  {
    /// One of the equal parts of a file, in its order, that several processes read together.
    struct file_part
    {
      std::uint64_t index = 0; ///< from 0
      std::uint64_t count = 1; ///< of parts
    };

    /// 2 or 3; 0: as the file says. A format with three coordinates (PQR, LAMMPS) can be read in 2D if all z
    /// are equal; any other mismatch is an error.
    int dim = 0;
    /// What has that dimension, for messages: the name of another file; empty: it is the caller's wish.
    std::string dim_of = {};
    /// The columns of a text file, an array or the Atoms section of LAMMPS from left to right: x y z for positions, vx
    /// vy vz for velocities, m for masses, q or q1 q2 ... for inputs, phi or phi1 phi2 ..., gx gy gz, ax ay az for
    /// outputs, id, mol and type for those of atoms, those of `parameters`, _ for a column to skip.
    /// Empty: the names of the file; without names, x y [z] and inputs.
    /// If given, a first row of text without numbers is skipped as a header. It must then have a name above each
    /// column that is read: a word that begins with a letter or _, other than NA, null, inf and the like.
    std::vector<std::string> columns = {};
    /// The LAMMPS atom style, such as `full` or `hybrid sphere charge`; empty: that of the comment `Atoms # style`.
    std::string atom_style = {};
    /// Of a file with several frames or models, the one that is read, from 0; -1 is the last. None: the file has one.
    std::optional<std::int64_t> frame = std::nullopt;
    /// The format, by the extension that its files have (`csv`, `lmp`, `xyz` ...); empty: as the name of the file says.
    std::string format = {};
    /// The part whose points read_points() returns; none: all. Its columns and its box are those of the file, even if
    /// it has no point, and messages are those of a reader of the whole file. Of columns of text, arrays and binary FMA
    /// the part alone is read, and the head of the file; of columns with an error, also what precedes it. Other formats
    /// are read whole.
    std::optional<file_part> part = std::nullopt;
    /// Whether the points get types: those of LAMMPS, with their labels, and of a column type, types, atom_type, species,
    /// element, symbol or symbols of text and XYZ. Throws for other formats, for a file without such a column, and for one
    /// with several.
    bool types = false;
    /// Names of parameters of points, such as eps, in lower case: the points get those that name a column, in any case and
    /// with a unit behind, or that `columns` names. Files without names, FMA and PQR have none.
    std::vector<std::string> parameters = {};
  };

  /// Reads the points of `path`. Its name, or options.format, gives the format: .fma (text), .bfma (binary), .pqr,
  /// .data .lmp .lammps and data.* (LAMMPS), .csv .tsv .txt .dat .xyz (columns), .npy (an array of NumPy). An .xyz
  /// whose first line is a number alone is (extended) XYZ. A file that gzip has compressed, with .gz behind its name or
  /// without, is read as what it holds, if zlib was there when nearfield was built.
  ///
  /// Names of columns mean the same in all formats, in any case and with a unit in brackets behind: x y z, also pos_x or
  /// Points:0; vx vy vz, also velocity_x; m mass masses; q charge charges initial_charges; q1 q2 ...; and, for the
  /// columns of one vector, pos position positions, velo vel velocity velocities, momenta momentum, which are divided
  /// by the masses. Other columns are left out. `report`, unless null, gets what was taken and left out.
  ///
  /// Points and columns are in the order of the file. Positions and inputs must be finite. Text files are
  /// ASCII or UTF-8, with lines ending in LF, CR LF or CR. Numbers are decimal and may have a Fortran exponent
  /// (1.0D+00). Memory: the size of the file, or of the part of it that is read, plus 8 bytes per value.
  ///
  /// Throws nearfield::error with one line that names the file, the line (from 1) or byte (from 0), what was
  /// found and what was expected.
  NEARFIELD_API point_set read_points(std::filesystem::path const& path,
                                      read_options const& options = {},
                                      file_report* report = nullptr);

  /// Whether a file of that name, or of that format if it is not empty, is one of LAMMPS data, which alone has an atom
  /// style. It need not exist.
  NEARFIELD_API bool has_atom_style(std::filesystem::path const& path,
                                    std::string const& format = {});

  /// Reads FMA of version 1 (3D, one input) or 2, text or binary according to the first bytes. `name` denotes
  /// the file in messages. Source of the format: ScalFMM's FFmaGenericLoader.
  NEARFIELD_API point_set parse_fma(std::string_view content, std::string const& name,
                                    read_options const& options = {},
                                    file_report* report = nullptr);

  /// Reads PQR: the last five fields of each ATOM or HETATM line are x y z q r; where numbers touch, x y z are the
  /// characters 31 to 54, as in PDB. Models, or sets of atoms between END lines, are frames. Radii are left out.
  NEARFIELD_API point_set parse_pqr(std::string_view content, std::string const& name,
                                    read_options const& options = {},
                                    file_report* report = nullptr);

  /// Reads a LAMMPS data file: positions as written, not unwrapped, and charges if the atom style has them; the section
  /// Velocities, and Masses as the masses of the atoms. The columns of the Atoms section are those of options.columns,
  /// of the atom style, or of a comment that names them (`Atoms # id mol type q x y z`).
  NEARFIELD_API point_set parse_lammps(std::string_view content, std::string const& name,
                                       read_options const& options = {},
                                       file_report* report = nullptr);

  /// Reads columns separated by commas, semicolons, tabs or blanks; values may be in double quotes. Blank lines and
  /// lines that start with #, //, % or ! are skipped, but one that starts with an error of a spreadsheet, such as `#N/A`
  /// or `#REF!`, is refused. A first line without numbers is a header, and so is a comment that names x, y and as many
  /// columns as there are; their names are used if `options.columns` is empty, otherwise those above the columns that
  /// are read must differ. Without either, two columns are x y, three or more are x y z and inputs; with options.dim = 2
  /// the third column is the first input.
  NEARFIELD_API point_set parse_columns(std::string_view content, std::string const& name,
                                        read_options const& options = {},
                                        file_report* report = nullptr);

  /// Reads one frame of XYZ: a line with the number of points, one with `Properties=name:type:count:...`, a row per
  /// point. Names are those of read_points(), with gradient for gx gy gz and acceleration for ax ay az. Without
  /// `Properties=` rows are a symbol or an atomic number, x, y and z. Names in `options.columns` come first. Source of
  /// the format: the extended XYZ of libAtoms and ASE.
  NEARFIELD_API point_set parse_xyz(std::string_view content, std::string const& name,
                                    read_options const& options = {},
                                    file_report* report = nullptr);

  /// Reads an array of NumPy: of shape (points, columns), in row or column-major order, or of records, whose fields have
  /// names; of f16, f32, f64 or integers, in either byte order. Columns without names are those that options.columns
  /// names; otherwise two are x y, three or more are x y z and inputs, and with options.dim = 2 the third is the first
  /// input. Source of the format: numpy.lib.format, versions 1 to 3.
  NEARFIELD_API point_set parse_npy(std::string_view content, std::string const& name,
                                    read_options const& options = {},
                                    file_report* report = nullptr);

  /// How a file is written.
  struct write_options
  {
    /// The floating-point type whose values a file holds.
    enum precision_type
    {
      f32,
      f64
    };

    /// What the points of a part do not say of the whole file, which several processes format, each its rows.
    struct whole_file
    {
      std::uint64_t n_points = 0;     ///< of all parts
      std::vector<double> lower = {}; ///< the least of each coordinate; empty without points
      std::vector<double> upper = {}; ///< the greatest
      bool has_header = false;        ///< this is the first part
    };

    precision_type precision = f64; ///< precision of the numbers
    /// The points are some rows of this file, and format_points() returns these: one part after the other they are the
    /// file. Not for .vtu, see format_pvtu(). None: the points are those of the file.
    std::optional<whole_file> part = std::nullopt;
  };

  /// Writes `points` to `path` in the format of its extension: .fma (FMA v2 text), .bfma (FMA v2 binary),
  /// .csv, .vtu (ParaView), .xyz (extended XYZ).
  ///
  /// The file appears under its name only when it is complete. Outputs may be nan, inf or
  /// -inf; text files spell them so, and read_points reads them back. Throws nearfield::error if the points
  /// fail check(), a value or the box of an FMA file exceeds the range of the precision, an FMA file would have
  /// more than 4096 columns, or velocities, masses or parameters, the extension is unknown, or the file cannot be written.
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

  /// Whether files of that name can hold velocities, masses and parameters: those of the FMA formats cannot. Throws
  /// nearfield::error unless write_points knows the extension.
  NEARFIELD_API bool can_hold_velocities(std::filesystem::path const& path);

  /// FMA v2 text: a line `sizeof_real nrec dim n_inputs`; a line with N, the half width and the dim
  /// coordinates of the centre; a line per point of nrec = dim + inputs + outputs values, in the shortest
  /// decimals that read back to the same value. The box is points.box, enlarged if rounding to f32 requires
  /// it, or the cube around the points if there is none.
  NEARFIELD_API std::string format_fma(point_set const& points, write_options const& options = {});

  /// FMA v2 binary: the same header and values, little-endian, without padding.
  NEARFIELD_API std::string format_bfma(point_set const& points, write_options const& options = {});

  /// CSV: a line with the column names, then a row per point, as column_names() orders them, in
  /// the shortest decimals that read back to the same value.
  NEARFIELD_API std::string format_csv(point_set const& points, write_options const& options = {});

  /// VTK XML unstructured grid: one vertex cell per point; all other columns are point data; inline base64. In
  /// 2D z is 0. Columns that are the components of a vector are one array of three components: velocities,
  /// `velocity`; gx gy [gz], `gradient`; ax ay [az], `acceleration`. The active scalar and vector, which a viewer shows
  /// first, are the first outputs, or inputs, that are one.
  NEARFIELD_API std::string format_vtu(point_set const& points, write_options const& options = {});

  /// Extended XYZ: the number of points; a line `Properties=pos:R:3:...`; a row per point, separated by blanks, in
  /// the shortest decimals that read back to the same value. The columns are those of VTU, with the names velo and
  /// mass for velocities and masses; vectors have three components.
  NEARFIELD_API std::string format_xyz(point_set const& points, write_options const& options = {});

  /// The .pvtu file by which ParaView opens files of format_vtu() as one. They have the columns of `points`, which may
  /// be those of any of them, and the same precision. `pieces`: their names, relative to the directory of this one.
  NEARFIELD_API std::string format_pvtu(point_set const& points,
                                        std::vector<std::string> const& pieces,
                                        write_options const& options = {});

  /// A PVD collection: ParaView opens it as the files in the order of their times. Each entry is a time, which is finite,
  /// and the name of a file, relative to the collection's directory.
  NEARFIELD_API std::string format_pvd(std::vector<std::pair<double, std::string>> const& entries);

  /// NumPy .npy files of integers, written sequentially: the header, then the values row by row.
  ///
  ///     std::ofstream file("pairs.npy", std::ios::binary);
  ///     std::string bytes = nearfield::format_npy_header({n, 2});
  ///     for (std::size_t p = 0; p < n; ++p)
  ///     {
  ///       nearfield::append_npy(bytes, i[p]);
  ///       nearfield::append_npy(bytes, j[p]);
  ///     }
  ///     file << bytes;
  ///
  /// The header of an array of int64, little-endian, row-major, of the given shape. Version 1.0 of the format,
  /// padded so that the values start at a multiple of 64 bytes. Throws nearfield::error for more than 32
  /// dimensions, NumPy's limit. Source of the format: numpy.lib.format.
  NEARFIELD_API std::string format_npy_header(std::vector<std::uint64_t> const& shape);

  /// Appends one value.
  NEARFIELD_API void append_npy(std::string& bytes, std::int64_t value);
}
