#include "files.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/io/npy.hpp>

#include <cstdlib>
#include <limits>

using namespace nearfield;
using namespace nearfield::test;

TEST(npy, header_says_type_order_and_shape_in_whole_lines_of_64_bytes)
{
  for (auto const& [shape, text] : std::vector<std::pair<std::vector<std::uint64_t>, std::string>>{
           {{}, "()"},
           {{0}, "(0,)"},
           {{7}, "(7,)"},
           {{54680000, 2}, "(54680000, 2)"},
           {{1, 2, std::numeric_limits<std::uint64_t>::max()}, "(1, 2, 18446744073709551615)"}})
  {
    auto const header = format_npy_header(shape);
    EXPECT_TRUE(header.starts_with(std::string("\x93NUMPY\x01\x00", 8)));
    EXPECT_EQ(header.size() % 64, 0u);
    auto const length = std::size_t(static_cast<unsigned char>(header[8])) +
                        256 * std::size_t(static_cast<unsigned char>(header[9]));
    EXPECT_EQ(header.size(), 10 + length);
    EXPECT_TRUE(header.ends_with('\n'));
    EXPECT_TRUE(header.substr(10).starts_with(
        "{'descr': '<i8', 'fortran_order': False, 'shape': " + text + ", }"))
        << header;
  }
}

TEST(npy, values_are_little_endian)
{
  std::string bytes;
  append_npy(bytes, 0x0102030405060708);
  append_npy(bytes, -1);
  EXPECT_EQ(bytes, "\x08\x07\x06\x05\x04\x03\x02\x01\xff\xff\xff\xff\xff\xff\xff\xff");
}

TEST(npy, too_many_dimensions)
{
  EXPECT_THROW((void)format_npy_header(std::vector<std::uint64_t>(33, 1)), error);
}

TEST(npy, numpy_reads_it)
{
  if (std::system("python3 -c 'import numpy' 2> /dev/null") != 0)
    GTEST_SKIP() << "python3 has no numpy";
  temporary_folder const folder;
  std::string bytes = format_npy_header({3, 2});
  for (int value = 0; value < 6; ++value) append_npy(bytes, value - 1);
  write_text(folder / "a.npy", bytes);
  std::string const check = "import numpy; a = numpy.load('" + (folder / "a.npy").string() +
                            "'); assert a.dtype == 'int64'; "
                            "assert a.tolist() == [[-1, 0], [1, 2], [3, 4]]";
  EXPECT_EQ(std::system(("python3 -c \"" + check + "\"").c_str()), 0);
}
