#include "table.hpp"

#include <nearfield/p2p/backend.hpp>

namespace nearfield::detail
{
  namespace
  {
    template <class... Ks>
    constexpr p2p_table make_table(type_list<Ks...>)
    {
      return {{scalar_kernels<Ks, float>()...}, {scalar_kernels<Ks, double>()...}};
    }
  }

  p2p_table const& scalar_table()
  {
    static constexpr p2p_table table = make_table(builtin_interactions{});
    return table;
  }
}
