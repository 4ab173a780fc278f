#pragma once

#include <nearfield/core/where.hpp>

#include <algorithm>
#include <functional>

namespace nearfield::test
{
  /// The last part first, on this thread, as if there were n of them.
  class backwards : public executor
  {
  public:
    explicit backwards(int n) : n_(n) {}
    [[nodiscard]] int workers() const override { return n_; }
    void run(int n, std::function<void(int)> const& f) override
    {
      most_parts = std::max(most_parts, n);
      while (n-- > 0) f(n);
    }
    int most_parts = 0; ///< of a run so far

  private:
    int n_;
  };
}
