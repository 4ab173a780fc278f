#include "target.hpp"

// The first byte chooses the dimension asked for, whether names are given, and columns or XYZ.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  if (size == 0) return 0;
  nearfield::read_options options{.dim = data[0] % 4 < 2 ? 0 : data[0] % 4};
  if (data[0] & 16) options.columns = {"x", "_", "y", "q", "phi"};
  if (data[0] & 64) options.frame = data[0] & 128 ? -1 : 1;
  return nearfield::fuzz::run(data + 1, size - 1,
                              [&](auto content, auto const& name)
                              {
                                nearfield::file_report report;
                                return (data[0] & 32 ? nearfield::parse_xyz
                                                     : nearfield::parse_columns)(content, name,
                                                                                 options, &report);
                              });
}
