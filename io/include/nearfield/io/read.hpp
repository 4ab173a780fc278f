#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/io/point_set.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield
{
  /// What a file does not say about itself.
  struct read_options
  {
    /// 2 or 3; 0: as the file says. A file of three coordinates (PQR, LAMMPS) reads in 2D where all
    /// its z are equal; any other disagreement is an error.
    int dim = 0;
    /// The columns of a CSV or white-space file from left to right: x y z for positions, q or
    /// q1 q2 ... for inputs, phi or phi1 phi2 ..., gx gy gz for outputs, _ for a column to skip.
    /// Empty: the names of the file's header line; without one, x y [z] and inputs.
    /// With names given, the first row is skipped as a header if it has a name above each column
    /// that is read: a word that begins with a letter or _, other than NA, null, inf and the like.
    std::vector<std::string> columns = {};
    /// The LAMMPS atom style; empty: the one in the file's `Atoms # style` comment.
    std::string atom_style = {};
  };

  /// Reads the points of `path`, whose name says the format: .fma (text), .bfma (binary), .pqr,
  /// .data .lmp .lammps and data.* (LAMMPS), .csv .tsv .txt .dat .xyz (columns).
  ///
  /// Positions, inputs and outputs come in the file's order. Positions and inputs are finite. Texts
  /// are ASCII or UTF-8, and their lines end in LF, CR LF or CR. Numbers are decimal, an exponent
  /// may be Fortran's (1.0D+00). Cost: the file is read whole; memory is its size and 8 bytes a
  /// value.
  ///
  /// Throws error, in one line that names the file, the line (from 1) or byte (from 0), what was
  /// found and what was expected.
  NEARFIELD_API point_set read_points(std::filesystem::path const& path,
                                      read_options const& options = {});

  /// Whether read_points reads `path` as LAMMPS data, judging by its name: the one format with an
  /// atom style. The file need not exist.
  NEARFIELD_API bool has_atom_style(std::filesystem::path const& path);

  /// Reads FMA, text or binary as the first bytes say, version 1 (3D, one input) or 2. `name` stands
  /// for the file in messages. Source of the format: ScalFMM's FFmaGenericLoader.
  NEARFIELD_API point_set parse_fma(std::string_view content, std::string const& name,
                                    read_options const& options = {});

  /// Reads PQR: in each ATOM or HETATM line the last five fields are x y z q r; other lines, and the
  /// radii, are left out.
  NEARFIELD_API point_set parse_pqr(std::string_view content, std::string const& name,
                                    read_options const& options = {});

  /// Reads the Atoms section of a LAMMPS data file: positions, as written and not unwrapped, and
  /// the charge where the atom style has one.
  NEARFIELD_API point_set parse_lammps(std::string_view content, std::string const& name,
                                       read_options const& options = {});

  /// Reads columns divided by commas, semicolons or blanks. Lines that are blank or start with #
  /// are skipped; a first line without numbers is a header, whose names (also behind a #) serve
  /// where `options.columns` is empty. Without either, two columns are x y, three x y z, and what
  /// follows the coordinates are inputs: with options.dim = 2 the third column is the first input.
  NEARFIELD_API point_set parse_columns(std::string_view content, std::string const& name,
                                        read_options const& options = {});
}
