#pragma once

#include "commands.hpp"
#include "launch.hpp"
#include "mpi/agreement.hpp"
#include "mpi/ranks.hpp"
#include "problem.hpp"
#include "taken.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

/// \file
/// What the commands that run over ranks have in common.

namespace nearfield::app
{
  /// Before StarPU starts: it would bind the first worker of each rank of a machine to the same core. Threads stay on
  /// the cores of their process.
  inline void leave_binding_to_the_launcher()
  {
    if (!std::getenv("STARPU_WORKERS_GETBIND")) ::setenv("STARPU_WORKERS_NOBIND", "1", 0);
  }

  /// What read(part) gives for the part of this rank, with its place in the file. Collective; throws agreed_error.
  template <class F>
  named_points read_part(ranks const& all, F const& read)
  {
    named_points mine;
    all.attempt(
        [&]
        {
          mine = read(file_part{static_cast<std::uint64_t>(all.rank()),
                                static_cast<std::uint64_t>(all.size())});
        });
    mine.first = all.sum_before(mine.points.size());
    auto const n_points = all.sum(mine.points.size());
    all.attempt([&] { refuse_no_rows(mine, n_points); });
    return mine;
  }

  /// As rounding_origins(), of the points of all ranks; zeros in double. Collective.
  template <class T>
  std::vector<double> rounding_origins(ranks const& all, executor& on, named_points const& targets,
                                       named_points const* sources,
                                       std::vector<double> const& period)
  {
    if (std::is_same_v<T, double>) return std::vector<double>(targets.points.positions.size());
    auto extents = extents_of(on, targets, sources);
    for (extent& each : extents) each = {all.least(each.lower), all.greatest(each.upper)};
    return rounding_origins(extents, period);
  }

  /// Calls f(ranks), which gives the exit status of all of them. What it throws is said once, and ends all. `written`:
  /// lines that all ranks must have.
  template <class F>
  exit_status on_all_ranks(std::string const& written, F const& f)
  {
    ranks const all;
    try
    {
      require_same_options(all, written);
      exit_status const status = f(all);
      all.wait_for_all(); // a launcher ends all ranks when one ends by another status
      return status;
    }
    catch (agreed_error const& failure)
    {
      if (all.is_first()) print_error(failure.said());
      all.wait_for_all();
      return failed;
    }
    catch (std::exception const& failure)
    {
      all.abort(failure.what());
    }
  }
}
