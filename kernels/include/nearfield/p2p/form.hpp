#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/interaction.hpp>
#include <nearfield/core/where.hpp>

#include <cstddef>
#include <string_view>

namespace nearfield::detail
{
  /// What the form of a step depends on.
  struct form_case
  {
    std::string_view interaction; ///< its name
    bool has_way_back;            ///< whether it has a mutual form
    int n_out;
    bool has_one_set; ///< of points
    int n_rhs = 1;
    std::size_t points = 0, leaves = 0; ///< of the targets, on a GPU
  };

  /// The form wanted or, if that is automatic, the faster one of those there are: on CPUs mutual, on a GPU as
  /// cuda_mutual_pays() says. Throws nearfield::error for form mutual where there is none.
  NEARFIELD_API pair_form choose_form(char const* function, pair_form wanted, backend where,
                                      form_case const& of);
}

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  template <class K>
  form_case form_case_of(bool has_one_set)
  {
    return {K::name, has_way_back<K>, K::n_out, has_one_set};
  }
}
