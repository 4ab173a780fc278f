#pragma once

#include <nearfield/core/error.hpp>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace bench::mpi
{
  /// The options of starpu_mpi_bench, which its first lines explain.
  struct settings
  {
    bool is_weak = true;
    std::size_t points = 0;
    int one_process = 0, repetitions = 9;
    bool on_gpus = false, pins = false;
    std::string out;
    std::vector<std::string> context;
  };

  inline settings read(int argc, char** argv)
  {
    settings with;
    for (int i = 1; i < argc; ++i)
    {
      std::string_view const name = argv[i];
      if (name == "--gpus" || name == "--pinned")
      {
        with.on_gpus = true;
        with.pins |= name == "--pinned";
        continue;
      }
      if (i + 1 == argc)
        throw nearfield::error(std::string(name) + " lacks a value; the first lines of "
                                                   "bench/starpu_mpi_bench.cpp name the options");
      std::string const value = argv[++i];
      if (name == "--weak" || name == "--strong")
      {
        with.is_weak = name == "--weak";
        with.points = std::strtoull(value.c_str(), nullptr, 10);
      }
      else if (name == "--one-process")
        with.one_process = std::atoi(value.c_str());
      else if (name == "--repetitions")
        with.repetitions = std::atoi(value.c_str());
      else if (name == "--out")
        with.out = value;
      else if (name == "--context")
        with.context.push_back(value);
      else
        throw nearfield::error(
            "no option is named " + std::string(name) +
            "; take --weak, --strong, --one-process, --gpus, --pinned, --repetitions, --out, "
            "--context");
    }
    if (with.points == 0) throw nearfield::error("--weak or --strong: say how many points");
    return with;
  }
}
