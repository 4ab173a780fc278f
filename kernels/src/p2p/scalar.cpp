#include "builtins.hpp"

#include <nearfield/p2p/backend.hpp>

namespace nearfield::detail
{
  namespace
  {
    template <class... Ks>
    constexpr builtin_p2p make_builtins(type_list<Ks...>)
    {
      return {{scalar_kernels<Ks, float>()...}, {scalar_kernels<Ks, double>()...}};
    }
  }

  builtin_p2p const& scalar_builtins()
  {
    static constexpr builtin_p2p all = make_builtins(builtin_interactions{});
    return all;
  }
}
