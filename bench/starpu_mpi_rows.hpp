#pragma once

#include "starpu_mpi_settings.hpp"
#include "timing.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <mpi.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace bench::mpi
{
  /// Rows of Google Benchmark's JSON, written by rank 0.
  class table
  {
  public:
    table(settings const& with, int ranks, int workers) : with_(with)
    {
      common_ =
          ", \"ranks\": " + std::to_string(ranks) + ", \"workers\": " + std::to_string(workers);
      prefix_ = std::string("starpu_mpi/") + (with.is_weak ? "weak" : "strong") +
                "/one_over_r/3d/f32/" + std::to_string(with.points) +
                (with.on_gpus ? "/gpus" : "") + (with.pins ? "_pinned" : "") +
                (with.one_process ? "/one_process:" : "/ranks:") + std::to_string(ranks) + "/";
      MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    }

    /// One call of f, in a series of so many that all ranks begin together: the time of the slowest rank, or the mean of
    /// ranks.
    template <class F>
    void time(std::string const& row, int series, bool is_mean, F const& f)
    {
      MPI_Barrier(MPI_COMM_WORLD);
      double const begin = seconds(), cpu_begin = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
      for (int i = 0; i < series; ++i) f();
      double const mine = (seconds() - begin) / series,
                   cpu = (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin) / series;
      double mean = 0, slowest = 0;
      int size = 1;
      MPI_Comm_size(MPI_COMM_WORLD, &size);
      MPI_Allreduce(&mine, &mean, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      mean /= size;
      times_.push_back({row, series, is_mean, cpu, mean, slowest});
    }
    /// A counter of all calls of a row; once is enough.
    void add(std::string const& row, std::string const& counter, double value)
    {
      counters_[row][counter] = value;
    }

    void write() const
    {
      if (rank_ > 0 || with_.out.empty()) return;
      std::ofstream out(with_.out);
      out << "{\n  \"context\": {\"executable\": \"starpu_mpi_bench\", \"commit\": "
             "\"" NEARFIELD_COMMIT "\", \"starpu\": \""
          << nearfield::starpu::version() << '"';
      for (std::string const& entry : with_.context)
        out << ", \"" << entry.substr(0, entry.find('=')) << "\": \""
            << entry.substr(entry.find('=') + 1) << '"';
      out << "},\n  \"benchmarks\": [";
      char const* separator = "\n";
      for (auto const& [row, series, is_mean, cpu, mean, slowest] : times_)
      {
        out << separator << R"(    {"name": ")" << prefix_ << row << R"(", "run_name": ")"
            << prefix_ << row << R"(", "run_type": "iteration", "iterations": )" << series
            << R"(, "real_time": )" << 1e3 * (is_mean ? mean : slowest)
            << ", \"cpu_time\": " << 1e3 * cpu << R"(, "time_unit": "ms")" << common_
            << ", \"mean_ms\": " << 1e3 * mean << ", \"slowest_ms\": " << 1e3 * slowest;
        if (auto const of = counters_.find(row); of != counters_.end())
          for (auto const& [counter, value] : of->second)
            out << ", \"" << counter << "\": " << std::to_string(value);
        out << '}';
        separator = ",\n";
      }
      out << "\n  ]\n}\n";
      if (!out.flush()) throw nearfield::error("cannot write " + with_.out);
    }

  private:
    settings const& with_;
    int rank_ = 0;
    std::string common_, prefix_;
    struct repetition
    {
      std::string row;
      int series;
      bool is_mean;
      double cpu;           ///< of all threads of rank 0
      double mean, slowest; ///< of ranks
    };
    std::vector<repetition> times_;
    std::map<std::string, std::map<std::string, double>> counters_;
  };
}
