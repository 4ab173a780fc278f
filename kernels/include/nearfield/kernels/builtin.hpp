#pragma once

/// \file
/// The built-in interactions, and the only list of them, by groups. Instantiations, codelets and the command line
/// follow that list: a new interaction is a struct in the header of its group, and an entry in the list of that
/// group. A new group is a header and an entry in both lists
/// here; CMake reads the names of the groups from the headers included.

#include <nearfield/kernels/gaussian.hpp>
#include <nearfield/kernels/gravity.hpp>
#include <nearfield/kernels/helmholtz.hpp>
#include <nearfield/kernels/inverse_square.hpp>
#include <nearfield/kernels/laplace.hpp>
#include <nearfield/kernels/molecular.hpp>
#include <nearfield/kernels/screened.hpp>
#include <nearfield/kernels/sph.hpp>
#include <nearfield/kernels/stokes.hpp>
#include <nearfield/kernels/vortex.hpp>

#include <iterator>
#include <string_view>

namespace nearfield::detail
{
  /// The interactions of each group. A build has all groups, or those in its option NEARFIELD_KERNELS.
  using builtin_groups =
      type_list<laplace_interactions, gravity_interactions, gaussian_interactions,
                inverse_square_interactions, screened_interactions, helmholtz_interactions,
                stokes_interactions, vortex_interactions, molecular_interactions, sph_interactions>;
  /// The names of the groups.
  inline constexpr std::string_view builtin_group_names[] = {
      "laplace",   "gravity", "gaussian", "inverse_square", "screened",
      "helmholtz", "stokes",  "vortex",   "molecular",      "sph"};
  static_assert(std::size(builtin_group_names) == builtin_groups::size);

  /// The interactions that are compiled into the library for every instruction set and for CUDA.
  using builtin_interactions = flatten<builtin_groups>;

  /// An interaction of that list.
  template <class K>
  concept builtin_interaction = builtin_interactions::index_of<K>() >= 0;

  /// The name of a group.
  template <class Group>
  constexpr std::string_view name_of_group()
  {
    return builtin_group_names[builtin_groups::index_of<Group>()];
  }

  /// The number of interactions in the groups before one.
  template <class Group>
  constexpr int first_of_group()
  {
    int first = 0, at = 0;
    builtin_groups::for_each(
        [&]<class Other>()
        { first += at++ < builtin_groups::index_of<Group>() ? Other::size : 0; });
    return first;
  }

  /// The name of the group of entry `interaction` of builtin_interactions.
  constexpr std::string_view group_of(int interaction)
  {
    std::string_view name;
    builtin_groups::for_each(
        [&]<class Group>()
        { name = interaction >= first_of_group<Group>() ? name_of_group<Group>() : name; });
    return name;
  }
}
