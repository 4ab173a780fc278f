#include "build.hpp"
#include "commands.hpp"
#include "interactions.hpp"
#include "machine.hpp"
#include "task_step.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device.hpp>

#include <iostream>

namespace nearfield::app
{
  namespace
  {
    // The instruction sets that are built in and run here, such as "sse2 avx2".
    std::string available_isa_names()
    {
      std::string names;
      for (isa const which : available_isas())
        names += (names.empty() ? "" : " ") + std::string(nearfield::name_of(which));
      return names;
    }

    std::string built_isas()
    {
      std::string names = build.isas;
      for (char& c : names)
        if (c == ';') c = ' ';
      return names.empty() ? "scalar" : "scalar " + names;
    }
  }

  void print_version()
  {
    std::cout << "nearfield " << build.version << " (" << build.commit << ", " << built_isas()
              << ")\n";
  }

  namespace
  {
    void print_gpus()
    {
      std::string const problem = cuda_problem();
      if (!problem.empty()) std::cout << "GPUs          none: " << problem << "\n";
      int number = 0;
      for (gpu const& device : gpus())
      {
        double const gib = static_cast<double>(device.memory_bytes) / (1 << 30);
        std::cout << (number == 0 ? "GPUs          " : "              ") << number << ": "
                  << device.name << ", " << number_text(gib, std::chars_format::fixed, 1)
                  << " GiB, compute capability " << device.major << "." << device.minor << "\n";
        ++number;
      }
    }

    std::string tasks()
    {
      if (!starpu_is_built_in) return starpu_name();
      return starpu_name() + (starpu_has_cuda() ? ", with CUDA" : ", without CUDA");
    }
  }

  exit_status info()
  {
    auto const chosen = selected_isa(); // throws before anything is printed
    std::cout << "version       " << build.version << ", commit " << build.commit << "\n"
              << "build         " << build.compiler << ", " << build.build_type << "\n"
              << "built for     " << built_isas() << "\n"
              << "runs here     " << available_isa_names()
              << "; chosen: " << nearfield::name_of(chosen) << "\n"
              << "devices       " << cpu_name() << ", " << cpu_count() << " logical processors\n";
    print_gpus();
    std::cout << "tasks         " << tasks() << "\n";
    if (auto const limit = starpu_worker_limit(); !limit.empty())
      std::cout << "              " << limit << "\n";
    std::cout << "interactions  name, dimension, inputs -> outputs, parameters\n";
    nearfield::detail::builtin_interactions::for_each(
        []<class K>()
        {
          std::cout << "              " << K::name << ", " << K::dim << "D, " << K::n_in << " -> "
                    << K::n_out;
          for (std::string const& parameter : parameters_of<K>()) std::cout << ", " << parameter;
          std::cout << "\n";
        });
    return success;
  }
}
