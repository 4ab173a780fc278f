#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/io/point_set.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield
{
  /// What the file itself does not say.
  struct read_options
  {
    /// 2 or 3; 0: as the file says. A format with three coordinates (PQR, LAMMPS) can be read in 2D if all z
    /// are equal; any other mismatch is an error.
    int dim = 0;
    /// The columns of a CSV or white-space file from left to right: x y z for positions, q or
    /// q1 q2 ... for inputs, phi or phi1 phi2 ..., gx gy gz for outputs, _ for a column to skip.
    /// Empty: the names of the file's header line; without one, x y [z] and inputs.
    /// If given, a first row without numbers is skipped as a header. It must then have a name above each
    /// column that is read: a word that begins with a letter or _, other than NA, null, inf and the like.
    std::vector<std::string> columns = {};
    /// The LAMMPS atom style; empty: that of the file's `Atoms # style` comment.
    std::string atom_style = {};
  };

  /// Reads the points of `path`. Its name gives the format: .fma (text), .bfma (binary), .pqr,
  /// .data .lmp .lammps and data.* (LAMMPS), .csv .tsv .txt .dat .xyz (columns).
  ///
  /// Points and columns are in the order of the file. Positions and inputs must be finite. Text files are
  /// ASCII or UTF-8, with lines ending in LF, CR LF or CR. Numbers are decimal and may have a Fortran exponent
  /// (1.0D+00). Memory: the size of the file, which is read whole, plus 8 bytes per value.
  ///
  /// Throws nearfield::error with one line that names the file, the line (from 1) or byte (from 0), what was
  /// found and what was expected.
  NEARFIELD_API point_set read_points(std::filesystem::path const& path,
                                      read_options const& options = {});

  /// Whether `path` has the name of a LAMMPS data file, the only format with an atom style. The file need
  /// not exist.
  NEARFIELD_API bool has_atom_style(std::filesystem::path const& path);

  /// Reads FMA of version 1 (3D, one input) or 2, text or binary according to the first bytes. `name` denotes
  /// the file in messages. Source of the format: ScalFMM's FFmaGenericLoader.
  NEARFIELD_API point_set parse_fma(std::string_view content, std::string const& name,
                                    read_options const& options = {});

  /// Reads PQR: the last five fields of each ATOM or HETATM line are x y z q r. Other lines and the radii are
  /// ignored.
  NEARFIELD_API point_set parse_pqr(std::string_view content, std::string const& name,
                                    read_options const& options = {});

  /// Reads the Atoms section of a LAMMPS data file: positions as written, not unwrapped, and charges if the
  /// atom style has them.
  NEARFIELD_API point_set parse_lammps(std::string_view content, std::string const& name,
                                       read_options const& options = {});

  /// Reads columns separated by commas, semicolons or blanks. Blank lines and lines that start with # are
  /// skipped. A first line without numbers is a header (also after a #); its names are used if
  /// `options.columns` is empty. Without either, two columns are x y, three or more are x y z and inputs;
  /// with options.dim = 2 the third column is the first input.
  NEARFIELD_API point_set parse_columns(std::string_view content, std::string const& name,
                                        read_options const& options = {});
}
