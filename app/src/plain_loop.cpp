#include "plain_loop.hpp"

namespace nearfield::app
{
  namespace
  {
    template <isa... BuiltIn, class T>
    void run(plain_job<T> const& job)
    {
      isa const which = selected_isa();
      ((which == BuiltIn ? plain_loop<BuiltIn>(job) : void()), ...);
    }
  }

  void run_plain_loop(plain_job<float> const& job)
  {
    run<NEARFIELD_PLAIN_LOOPS>(job);
  }
  void run_plain_loop(plain_job<double> const& job)
  {
    run<NEARFIELD_PLAIN_LOOPS>(job);
  }
}
