#include "target.hpp"

// The first byte chooses the atom style: most inputs do not hit on a comment that names one.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  static char const* const styles[] = {"", "atomic", "charge", "full"};
  if (size == 0) return 0;
  nearfield::read_options const options{.dim = data[0] & 64 ? 2 : 0,
                                        .atom_style = styles[data[0] % 4]};
  return nearfield::fuzz::run(data + 1, size - 1,
                              [&](auto content, auto const& name)
                              { return nearfield::parse_lammps(content, name, options); });
}
