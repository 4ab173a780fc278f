#include "plain_loop.hpp"
#include "quick.hpp"

#include <nearfield/p2p/pair.hpp>

#include <cstddef>

namespace bench
{
  namespace
  {
    namespace nf = nearfield;

    template <class K, class T, bool Mutual, bool OneBox>
    void loop(plain_boxes<T> const& of)
    {
      K const k{};
      T const *x[K::dim], *y[K::dim], *x_q[K::n_in], *y_q[K::n_in];
      T *x_out[K::n_out], *y_out[K::n_out];
      for (int d = 0; d < K::dim; ++d) x[d] = of.x[d], y[d] = of.y[d];
      for (int c = 0; c < K::n_in; ++c) x_q[c] = of.x_q[c], y_q[c] = of.y_q[c];
      for (int o = 0; o < K::n_out; ++o)
      {
        x_out[o] = of.x_out[o];
        y_out[o] = Mutual ? of.y_out[o] : nullptr;
      }
      for (std::size_t i = 0; i < of.n; ++i)
      {
        nf::vec<T, K::dim> at;
        nf::vec<T, K::n_in> q_i;
        nf::vec<T, K::n_out> sum{};
        for (int d = 0; d < K::dim; ++d) at[d] = x[d][i];
        for (int c = 0; c < K::n_in; ++c) q_i[c] = x_q[c][i];
        auto const meet = [&](std::size_t begin, std::size_t end)
        {
          NEARFIELD_PLAIN_LOOP
          for (std::size_t j = begin; j < end; ++j)
          {
            nf::vec<T, K::dim> r;
            nf::vec<T, K::n_in> q;
            for (int d = 0; d < K::dim; ++d) r[d] = at[d] - y[d][j];
            for (int c = 0; c < K::n_in; ++c) q[c] = y_q[c][j];
            auto const map = nf::detail::evaluate(k, r);
            sum += map.to(q);
            if constexpr (Mutual)
            {
              auto const back = nf::detail::apply_back<K>(map, q_i);
              for (int o = 0; o < K::n_out; ++o) y_out[o][j] += back[o];
            }
          }
        };
        if constexpr (!OneBox)
          meet(0, of.n);
        else
        {
          if constexpr (!Mutual) meet(0, i);
          meet(i + 1, of.n);
        }
        for (int o = 0; o < K::n_out; ++o) x_out[o][i] += sum[o];
      }
    }

    template <class K, class T>
    void plain_loop(plain_boxes<T> const& of)
    {
      bool const is_one = of.x == of.y;
      if constexpr (nf::detail::has_way_back<K>)
        if (of.y_out) return is_one ? loop<K, T, true, true>(of) : loop<K, T, true, false>(of);
      is_one ? loop<K, T, false, true>(of) : loop<K, T, false, false>(of);
    }

    template <class T, class... K>
    plain_function<T> loop_of(int interaction, nf::detail::type_list<K...>)
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
