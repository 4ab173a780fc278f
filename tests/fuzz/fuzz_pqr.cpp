#include "target.hpp"

// The first byte chooses the model.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  if (size == 0) return 0;
  nearfield::read_options options;
  if (data[0] & 1) options.frame = data[0] & 2 ? -1 : 1;
  return nearfield::fuzz::run(data + 1, size - 1,
                              [&](auto content, auto const& name)
                              {
                                nearfield::file_report report;
                                return nearfield::parse_pqr(content, name, options, &report);
                              });
}
