#pragma once

#include <nearfield/p2p/backend.hpp>

#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace nearfield::test
{
  /// A back-end that tests run on, chosen at run time.
  struct tested_backend
  {
    std::string name;
    std::variant<scalar_backend, simd_backend> where;

    /// f(back-end)
    template <class F>
    void run(F&& f) const
    {
      std::visit(std::forward<F>(f), where);
    }

    friend std::ostream& operator<<(std::ostream& out, tested_backend const& b)
    {
      return out << b.name;
    }
  };

  /// Every back-end that is built in and that this machine can run: the line to extend for a new one.
  inline std::vector<tested_backend> tested_backends()
  {
    std::vector<tested_backend> all{{"scalar", scalar}};
    for (isa const which : available_isas())
      if (which != isa::scalar)
        all.push_back({"simd " + std::string(name_of(which)), simd_backend{which}});
    return all;
  }
}
