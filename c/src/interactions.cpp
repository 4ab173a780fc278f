#include "calls.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

using namespace nearfield;

namespace nearfield::c
{
  namespace
  {
    /// A literal, which ends in 0, or none.
    char const* text(std::string_view literal)
    {
      return literal.empty() ? "" : literal.data();
    }

    /// Element `index` of `all`. Throws nearfield::error, which names the argument, if there is none.
    template <class T>
    T const& one_of(std::span<T const> all, int32_t index, char const* argument)
    {
      if (index < 0 || static_cast<std::size_t>(index) >= all.size())
        throw error(std::string(argument) + " is " + std::to_string(index) + "; there are " +
                    std::to_string(all.size()) + ", from 0 on");
      return all[static_cast<std::size_t>(index)];
    }

    interaction_info const& info_of(int32_t index)
    {
      return one_of(interaction_infos(), index, "index");
    }
  }
}

int32_t nf_interaction_count(void)
{
  return static_cast<int32_t>(interaction_infos().size());
}

nf_status nf_interaction_info_get(int32_t index, nf_interaction_info* info)
{
  return c::guarded(
      [&]
      {
        nf_interaction_info& to = c::filled(info, "info");
        interaction_info const& of = c::info_of(index);
        to.name = c::text(of.name);
        to.group = c::text(of.group);
        to.formula = c::text(of.formula);
        to.source = c::text(of.source);
        to.inputs = c::text(of.inputs);
        to.outputs = c::text(of.outputs);
        to.dim = of.dim;
        to.n_in = of.n_in;
        to.n_out = of.n_out;
        to.n_point_parameters = static_cast<int32_t>(of.point_parameters.size());
        to.n_parameters = static_cast<int32_t>(of.parameters.size());
        to.flops = of.flops;
        to.has_mutual = of.has_mutual;
        to.is_built = of.is_built;
      });
}

nf_status nf_parameter_info_get(int32_t index, int32_t parameter, nf_parameter_info* info)
{
  return c::guarded(
      [&]
      {
        parameter_info const& of = c::one_of(c::info_of(index).parameters, parameter, "parameter");
        c::given(info, "info") = {c::text(of.name), c::text(of.unit), of.by_default,
                                  static_cast<int32_t>(of.range)};
      });
}

nf_status nf_point_parameter_info_get(int32_t index, int32_t column, nf_parameter_info* info)
{
  return c::guarded(
      [&]
      {
        point_parameter const& of = c::one_of(c::info_of(index).point_parameters, column, "column");
        c::given(info, "info") = {c::text(of.name), c::text(of.unit), 0,
                                  static_cast<int32_t>(of.range)};
      });
}

nf_status nf_interaction_create(char const* name, int32_t dim, int32_t n_parameters,
                                char const* const* names, double const* values,
                                nf_interaction** interaction)
{
  return c::create(interaction, "interaction",
                   [&]
                   {
                     std::vector<std::pair<std::string_view, double>> parameters;
                     for (std::size_t p = 0; p < c::count_of(n_parameters, "n_parameters"); ++p)
                       parameters.emplace_back(
                           &c::given((&c::given(names, "names"))[p], "a name of a parameter"),
                           (&c::given(values, "values"))[p]);
                     return new nf_interaction{
                         any_interaction(&c::given(name, "name"), dim, parameters)};
                   });
}

nf_status nf_interaction_cutoff(nf_interaction const* interaction, double* cutoff)
{
  return c::guarded(
      [&] { c::given(cutoff, "cutoff") = c::given(interaction, "interaction").k.erased().cutoff; });
}

void nf_interaction_destroy(nf_interaction* interaction)
{
  delete interaction;
}
