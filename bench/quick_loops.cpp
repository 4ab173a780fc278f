#include "quick.hpp"

namespace bench
{
  namespace
  {
    template <class T, class... K>
    plain_function<T> loop_of(int interaction, nearfield::detail::type_list<K...>)
    {
      plain_function<T> const all[] = {&plain_loop<K, T>...};
      return all[interaction];
    }
  }

  plain_function<float> plain_loop_f32(int interaction)
  {
    return loop_of<float>(interaction, quick_interactions{});
  }
  plain_function<double> plain_loop_f64(int interaction)
  {
    return loop_of<double>(interaction, quick_interactions{});
  }
}
