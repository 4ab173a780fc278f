#include "mpi/mpi_ranks.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include <sys/stat.h>

namespace nearfield::app
{
  namespace
  {
    // The first line that the other text does not have.
    std::string own_line(std::string const& text, std::string const& other)
    {
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);)
        if (('\n' + other).find('\n' + line + '\n') == std::string::npos) return "'" + line + "'";
      return "nothing more";
    }

    struct file_identity
    {
      std::uint64_t size = 0, inode = 0, seconds = 0, nanoseconds = 0;

      // zeros without a file
      explicit file_identity(std::filesystem::path const& path)
      {
        struct ::stat found = {};
        if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return;
        size = static_cast<std::uint64_t>(found.st_size);
        inode = found.st_ino;
        seconds = static_cast<std::uint64_t>(found.st_mtim.tv_sec);
        nanoseconds = static_cast<std::uint64_t>(found.st_mtim.tv_nsec);
      }
    };

    std::uint64_t checksum(std::filesystem::path const& path)
    {
      std::ifstream file(path, std::ios::binary);
      std::vector<char> block(1 << 20);
      std::uint64_t sum = 0;
      while (file)
      {
        std::fill(block.begin(), block.end(), '\0');
        file.read(block.data(), static_cast<std::streamsize>(block.size()));
        for (std::size_t i = 0; i < static_cast<std::size_t>(file.gcount()); i += sizeof sum)
        {
          std::uint64_t word = 0;
          std::memcpy(&word, &block[i], sizeof word);
          sum = (sum ^ word) * 0x9e3779b97f4a7c15; // odd: no bit is lost
          sum ^= sum >> 32;
        }
      }
      return sum;
    }

    // The first rank whose value is not that of rank 0; 0: none.
    std::size_t first_other(std::vector<std::uint64_t> const& values)
    {
      auto const other =
          std::ranges::find_if(values, [&](auto value) { return value != values[0]; });
      return other == values.end() ? 0 : static_cast<std::size_t>(other - values.begin());
    }

    // On all ranks.
    [[noreturn]] void refuse(std::string const& what)
    {
      throw agreed_error(0, what, error_kind::invalid_argument, 0);
    }

    [[noreturn]] void refuse_file(std::string const& path, std::size_t rank,
                                  std::string const& what)
    {
      refuse(path + ": rank " + std::to_string(rank) + " finds another file than rank 0: " + what +
             "; give every rank the same one");
    }
  }

  void mpi_ranks::require_same_options(std::string const& lines) const
  {
    auto const joined = gather_all<char>(lines);
    auto const lines_of = [&](int rank)
    {
      return std::string(joined.of(rank).begin(), joined.of(rank).end());
    };
    auto const first = lines_of(0);
    for (int rank = 1; rank < size(); ++rank)
      if (auto const other = lines_of(rank); other != first)
        refuse("mpirun: rank " + std::to_string(rank) + " was started with " +
               own_line(other, first) + ", rank 0 with " + own_line(first, other) +
               "; start all ranks with the same program and options");
  }

  // The same file, or a copy of it, which each rank then reads once more.
  void mpi_ranks::require_same_file(std::filesystem::path const& path) const
  {
    file_identity const mine(path);
    if (least(mine.inode) == 0) return; // its reader says why
    auto const sizes = gather(mine.size);
    if (auto const rank = first_other(sizes); rank > 0)
      refuse_file(path.string(), rank,
                  std::to_string(sizes[rank]) + " bytes, not " + std::to_string(sizes[0]));
    bool const is_one = first_other(gather(mine.inode)) == 0 &&
                        first_other(gather(mine.seconds)) == 0 &&
                        first_other(gather(mine.nanoseconds)) == 0;
    if (is_one) return;
    if (auto const rank = first_other(gather(checksum(path))); rank > 0)
      refuse_file(path.string(), rank, "other bytes");
  }
}
