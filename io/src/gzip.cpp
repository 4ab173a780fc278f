#include "foreign.hpp"

#include "text.hpp"

#include <algorithm>

#ifdef NEARFIELD_WITH_ZLIB
#include <zlib.h>
#endif

namespace nearfield::detail::io
{
#ifdef NEARFIELD_WITH_ZLIB
  std::string inflated(std::string_view content, std::string const& name)
  {
    ::z_stream stream{};
    int const with_head = 16 + MAX_WBITS;
    if (::inflateInit2(&stream, with_head) != Z_OK) throw std::bad_alloc();
    struct guard
    {
      ::z_stream& of;
      ~guard() { ::inflateEnd(&of); }
    } const end{stream};
    constexpr std::size_t most = 1 << 30; // zlib counts in 32 bits
    std::string out;
    auto rest = content;
    auto const fail = [&](char const* found)
    {
      fail_at_byte(name, content.size() - rest.size(), found, "what gzip has compressed");
    };
    int status = Z_OK;
    while (status != Z_STREAM_END || !rest.empty())
    {
      // files that are joined are one; what else follows, such as zeros of a tape, is an error
      if (status == Z_STREAM_END && ::inflateReset(&stream) != Z_OK) fail("a damaged file");
      std::size_t const had = out.size(), piece = std::clamp<std::size_t>(had, 1 << 16, most);
      out.resize(had + piece);
      auto const offered = std::min(rest.size(), most);
      // which zlib does not write to
      stream.next_in = reinterpret_cast<::Bytef*>(const_cast<char*>(rest.data()));
      stream.avail_in = static_cast<::uInt>(offered);
      stream.next_out = reinterpret_cast<::Bytef*>(out.data() + had);
      stream.avail_out = static_cast<::uInt>(piece);
      status = ::inflate(&stream, Z_NO_FLUSH);
      rest.remove_prefix(offered - stream.avail_in);
      out.resize(had + piece - stream.avail_out);
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      if (status == Z_BUF_ERROR) fail("the end of the file");
      if (status != Z_OK && status != Z_STREAM_END) fail("a damaged file");
    }
    return out;
  }
#else
  std::string inflated(std::string_view, std::string const& name)
  {
    throw error(
        printable(name) +
        ": found a file that gzip has compressed, expected another: this nearfield was built "
        "without zlib; gunzip it");
  }
#endif
}
