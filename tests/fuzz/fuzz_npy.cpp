#include "target.hpp"

// The first byte chooses the dimension asked for, and whether names are given.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  if (size == 0) return 0;
  nearfield::read_options options{.dim = data[0] % 4 < 2 ? 0 : data[0] % 4};
  if (data[0] & 16) options.columns = {"x", "_", "y", "q"};
  return nearfield::fuzz::run(data + 1, size - 1, [&](auto content, auto const& name)
                              { return nearfield::parse_npy(content, name, options); });
}
