#include "build.hpp"
#include "commands.hpp"
#include "interactions.hpp"
#include "machine.hpp"
#include "task_step.hpp"

#include <nearfield/p2p/isa.hpp>

#include <iostream>

namespace nearfield::app
{
  namespace
  {
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

  exit_status info()
  {
    std::cout << "version       " << build.version << ", commit " << build.commit << "\n"
              << "build         " << build.compiler << ", " << build.build_type << "\n"
              << "built for     " << built_isas() << "\n"
              << "runs here     " << available_isa_names()
              << "; chosen: " << nearfield::name_of(selected_isa()) << "\n"
              << "devices       " << cpu_name() << ", " << cpu_count() << " logical processors\n"
              << "tasks         " << starpu_name() << "\n"
              << "interactions  name, dimension, inputs -> outputs, parameters\n";
    builtin_interactions::for_each(
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
