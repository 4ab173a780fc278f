#include "bounds.hpp"

#include <nearfield/kernels/builtin.hpp>

namespace baseline
{
  bound_function bound_of(int interaction, bool is_double)
  {
    using namespace nearfield::detail; // groups are listed by their bare names
    bound_function found = nullptr;
    type_list<NEARFIELD_GROUPS>::for_each(
        [&]<class Group>()
        {
          int const at = interaction - first_of_group<Group>();
          if (at >= 0 && at < Group::size) found = bounds_of<Group>()[2 * at + is_double];
        });
    return found;
  }
}
