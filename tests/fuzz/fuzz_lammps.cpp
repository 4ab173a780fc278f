#include "target.hpp"

// The first byte chooses the atom style: most inputs do not hit on a comment that names one.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  static char const* const styles[] = {"",     "atomic", "charge", "full",
                                       "full", "atomic", "charge", "hybrid sphere charge"};
  if (size == 0) return 0;
  nearfield::read_options options{.dim = data[0] & 64 ? 2 : 0, .atom_style = styles[data[0] % 8]};
  if (data[0] & 128) options.columns = {"id", "type", "q", "x", "y", "z"};
  return nearfield::fuzz::run(data + 1, size - 1,
                              [&](auto content, auto const& name)
                              {
                                nearfield::file_report report;
                                return nearfield::parse_lammps(content, name, options, &report);
                              });
}
