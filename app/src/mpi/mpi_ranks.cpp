#include "mpi/mpi_ranks.hpp"

#include "launch.hpp"
#include "merged.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace nearfield::app
{
  int mpi_ranks::on_this_machine() const
  {
    MPI_Comm machine;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    int n = 1;
    MPI_Comm_size(machine, &n);
    MPI_Comm_free(&machine);
    return n;
  }

  void mpi_ranks::attempt(std::function<void()> const& f) const
  {
    library::attempt(
        [&]
        {
          try
          {
            f();
          }
          catch (std::bad_alloc const&)
          {
            throw error("this needs more memory than there is; give fewer points, or more ranks");
          }
        });
  }

  void mpi_ranks::rethrow(error const& e, std::string const& before) const
  {
    if (auto const* const agreed = dynamic_cast<agreed_error const*>(&e))
      throw agreed_error(agreed->rank(), before + agreed->said(), e.kind(), e.code());
    throw; // of this rank alone, and ends all
  }

  void mpi_ranks::exchange(std::vector<std::vector<point_key>>& keys) const
  {
    std::vector<point_key> leaving;
    std::vector<std::size_t> offsets{0};
    attempt(
        [&]
        {
          std::size_t n = 0;
          for (auto const& of_rank : keys) n += of_rank.size();
          leaving.reserve(n);
          for (auto& of_rank : keys)
          {
            leaving.insert(leaving.end(), of_rank.begin(), of_rank.end());
            offsets.push_back(leaving.size());
            of_rank = {};
          }
          keys.resize(1);
        });
    auto const arrived = exchange<point_key>(leaving, offsets).values;
    leaving = {};
    attempt([&] { keys[0].assign(arrived.begin(), arrived.end()); });
  }

  std::vector<std::string> mpi_ranks::united(std::vector<std::string> names) const
  {
    std::string lines, for_all;
    for (auto const& name : names) lines += name + "\n";
    std::vector<std::size_t> offsets{0};
    for (int r = 0; r < size(); ++r)
    {
      for_all += lines;
      offsets.push_back(for_all.size());
    }
    auto const arrived = exchange<char>(for_all, offsets).values;
    names = {};
    std::string name;
    for (char const c : arrived)
      if (c != '\n')
        name += c;
      else if (auto const next = std::exchange(name, {});
               std::ranges::find(names, next) == names.end())
        names.push_back(next);
    return names;
  }

  void mpi_ranks::pass_to_first(std::function<void(byte_sink const&)> const& write,
                                byte_sink const& take) const
  {
    constexpr int tag = 0;
    constexpr std::size_t most = 1 << 24; // bytes of a message; one without bytes is the last
    attempt(
        [&]
        {
          if (is_first()) write(take);
        });
    std::exception_ptr failure; // the others are waited for all the same
    auto const go_on = [&](auto const& f)
    {
      if (!failure) try
        {
          f();
        }
        catch (...)
        {
          failure = std::current_exception();
        }
    };
    if (!is_first())
    {
      auto const send = [&](std::string_view bytes)
      {
        for (std::size_t i = 0; i < bytes.size(); i += most)
          MPI_Send(bytes.data() + i, static_cast<int>(std::min(most, bytes.size() - i)), MPI_BYTE,
                   0, tag, MPI_COMM_WORLD);
      };
      go_on([&] { write(send); });
      MPI_Send(nullptr, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    }
    std::vector<char> piece(is_first() ? most : 0);
    for (int r = 1; r < size() && is_first(); ++r)
      for (int n = 1; n > 0;)
      {
        MPI_Status status;
        MPI_Recv(piece.data(), static_cast<int>(most), MPI_BYTE, r, tag, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &n);
        go_on([&] { take({piece.data(), static_cast<std::size_t>(n)}); });
      }
    agree(failure);
  }

  void mpi_ranks::abort(std::string const& message) const
  {
    print_error(message);
    MPI_Abort(MPI_COMM_WORLD, failed);
    std::_Exit(failed); // MPI need not
  }
}
