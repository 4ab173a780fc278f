#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  return nearfield::fuzz::run(data, size, [](auto content, auto const& name)
                              { return nearfield::parse_fma(content, name); });
}
