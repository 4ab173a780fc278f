#include "build.hpp"
#include "commands.hpp"
#include "interactions.hpp"
#include "machine.hpp"
#include "task_step.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/kernels/any_interaction.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

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

    // The label, then the words of the text in lines of up to 80 characters, each below the first.
    void print_wrapped(std::string const& label, std::string const& text, std::size_t margin = 14)
    {
      constexpr std::size_t width = 80;
      std::string line = label + std::string(margin - std::min(margin, label.size()), ' ');
      std::istringstream words(text);
      bool is_first = true;
      for (std::string word; words >> word; is_first = false)
      {
        if (!is_first && line.size() + 1 + word.size() > width)
        {
          std::cout << line << "\n";
          line = std::string(margin, ' ') + word;
        }
        else
          line += (is_first ? "" : " ") + word;
      }
      std::cout << line << "\n";
    }

    // "2D, 3D"
    std::string dimensions_of(std::string_view name)
    {
      std::string text;
      for (interaction_info const& each : interaction_infos())
        if (each.name == name) text += (text.empty() ? "" : ", ") + std::to_string(each.dim) + "D";
      return text;
    }

    // The names, by groups and dimensions.
    void print_names()
    {
      print_wrapped("interactions", "'nearfield info NAME' says what one is; --interactions, all");
      std::vector<std::string_view> groups;
      for (interaction_info const& each : interaction_infos())
        if (groups.empty() || groups.back() != each.group) groups.push_back(each.group);
      for (auto const group : groups)
      {
        std::map<std::string, std::string> names; // by dimensions
        bool is_built = true;
        for (interaction_info const& each : interaction_infos())
        {
          if (each.group != group) continue;
          is_built = each.is_built;
          auto& of_dimensions = names[dimensions_of(each.name)];
          std::string const name(each.name);
          if ((of_dimensions + ",").find(" " + name + ",") == std::string::npos)
            of_dimensions += (of_dimensions.empty() ? " " : ", ") + name;
        }
        std::string label = "  " + std::string(group) + (is_built ? "" : "*");
        for (auto const& [dimensions, of_dimensions] : names)
          print_wrapped(std::exchange(label, ""), dimensions + ":" + of_dimensions, 18);
      }
    }

    // Its unit and range.
    template <class Parameter>
    std::string values_of(Parameter const& of)
    {
      constexpr std::array ranges{"", ", 0 or more", ", positive"};
      return ": " + std::string(of.unit) + ranges[static_cast<std::size_t>(of.range)];
    }

    // What is known of an interaction, which is described alike in each dimension.
    void print_details(interaction_info const& of)
    {
      std::cout << of.name << "\n";
      std::string sizes;
      for (interaction_info const& each : interaction_infos())
        if (each.name == of.name)
          sizes += (sizes.empty() ? "" : "; ") + std::to_string(each.dim) + "D, " +
                   std::to_string(each.n_in) + " -> " + std::to_string(each.n_out);
      print_wrapped("  group", std::string(of.group) + "; " + sizes +
                                   (of.is_built ? "" : "; this build leaves the group out"));
      print_wrapped("  K(r)", std::string(of.formula));
      print_wrapped("  inputs", std::string(of.inputs));
      print_wrapped("  outputs", std::string(of.outputs));
      std::string label = "  parameters";
      for (parameter_info const& each : of.parameters)
        print_wrapped(std::exchange(label, ""), std::string(each.name) + " = " +
                                                    number_text(each.by_default) + values_of(each));
      label = "  of points";
      for (auto const& each : of.point_parameters)
        print_wrapped(std::exchange(label, ""),
                      std::string(each.name) + values_of(each) + " (a column, or --point-param)");
      if (!of.source.empty()) print_wrapped("  source", std::string(of.source));
    }

    void print_details(info_options const& options)
    {
      std::vector<std::string_view> names(options.names.begin(), options.names.end());
      if (options.all_interactions)
        for (interaction_info const& each : interaction_infos())
          if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
      for (auto const name : names)
      {
        auto const found = std::ranges::find(interaction_infos(), name, &interaction_info::name);
        if (found == interaction_infos().end())
          static_cast<void>(interaction_of({std::string(name)}, 0)); // throws
        print_details(*found);
      }
    }
  }

  exit_status info(info_options const& options)
  {
    if (options.all_interactions || !options.names.empty())
    {
      print_details(options);
      return success;
    }
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
    print_names();
    return success;
  }
}
