#include "foreign.hpp"

#include "text.hpp"

#include <cstdint>
#include <cstring>

namespace nearfield::detail::io
{
  namespace
  {
    struct foreign
    {
      char const* extensions;
      std::string_view magic; ///< empty: nothing to know it by
      char const* message;
    };

    using namespace std::string_view_literals;
    constexpr foreign formats[] = {
        {" .cif .mmcif ", ""sv,
         "CIF; convert it to extended XYZ, such as by ASE: "
         "ase.io.write('a.xyz', ase.io.read('FILE'))"},
        {" .gro ", ""sv, "GROMACS's .gro; convert it to .pqr (gmx editconf -mead) or extended XYZ"},
        {" .pdb .ent ", ""sv, "PDB, which has no charges; convert it to .pqr by PDB2PQR"},
        {" .mol2 .sdf .mol ", ""sv, "of molecules; convert it to .pqr or extended XYZ"},
        {" .lammpstrj .dump ", "ITEM: "sv,
         "a dump of LAMMPS; write data by write_data, or convert it to extended XYZ"},
        {" .xtc .trr .dcd .nc .netcdf ", "CDF\x01"sv,
         "a trajectory; convert a frame to .pqr or extended XYZ"},
        {" .ply ", "ply\n"sv, "PLY; convert it to columns x y z as .csv, such as by CloudCompare"},
        {"", "ply\r\n"sv, "PLY; convert it to columns x y z as .csv, such as by CloudCompare"},
        {" .pcd ", "# .PCD"sv, "PCD; convert it to columns x y z as .csv, such as by CloudCompare"},
        {" .las .laz ", "LASF"sv, "LAS; convert it to columns: pdal translate FILE a.csv"},
        {" .pts ", ""sv,
         "PTS; remove its first line, a number, and give --format csv --columns x,y,z,q (_ skips a "
         "column)"},
        {" .npz .zip ", "PK\x03\x04"sv,
         "NPZ, an archive of arrays; save one as .npy: np.save('a.npy', np.load('FILE')['x'])"},
        {" .h5 .hdf5 .hdf ", "\x89HDF\r\n\x1a\n"sv,
         "HDF5; save its columns as .npy: np.save('a.npy', np.column_stack([x, y, z, q]))"},
        {" .vtu .vtp .vtk .pvtu ", "# vtk DataFile"sv, "VTK; save its points as .csv in ParaView"},
        {"", "<VTKFile"sv, "VTK; save its points as .csv in ParaView"},
        {" .xls .xlsx .ods ", ""sv, "a spreadsheet; save it as .csv"},
        {" .parquet .feather ", ""sv, "a table; save it as .csv: pandas' to_csv('a.csv')"},
        {" .bz2 ", "BZh"sv, "compressed by bzip2; bunzip2 it"},
        {" .xz ",
         "\xfd"
         "7zXZ"sv,
         "compressed by xz; unxz it"},
        {" .zst ", "\x28\xb5\x2f\xfd"sv, "compressed by Zstandard; unzstd it"},
    };

    // A record of 256 bytes, between its length twice.
    bool is_gadget(std::string_view start)
    {
      if (start.size() < 264) return false;
      std::uint32_t first = 0, last = 0;
      std::memcpy(&first, start.data(), 4);
      std::memcpy(&last, start.data() + 260, 4);
      return first == last && (first == 256 || first == 65536);
    }
  }

  std::string foreign_format(std::filesystem::path const& path, std::string_view start)
  {
    auto const extension = lower(path.extension().string());
    for (auto const& each : formats)
    {
      bool const has_name =
          start.empty() &&
          std::string_view(each.extensions).find(" " + extension + " ") != std::string_view::npos;
      if (has_name || (!each.magic.empty() && start.starts_with(each.magic))) return each.message;
    }
    return is_gadget(start) ? "a snapshot of GADGET; save its columns as .npy, such as by pynbody: "
                              "np.save('a.npy', np.column_stack([s['pos'], s['mass']]))"
                            : "";
  }

  bool is_gzip(std::string_view start)
  {
    return start.starts_with("\x1f\x8b");
  }
}
