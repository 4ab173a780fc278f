#pragma once

#include "near_field_cases.hpp"

#include <nearfield/starpu/handles.hpp>

#include <vector>

namespace nearfield::test
{
  /// A user's points, in the user's arrays and handles: one per column.
  template <class K, class T>
  struct own_columns
  {
    points<T, K::dim> x;
    points<T, K::n_in> q;
    points<T, K::n_out> out;
    std::vector<starpu::handle> hx, hq, hout;

    explicit own_columns(std::size_t n, std::uint64_t seed = 1, starpu_arbiter_t arbiter = nullptr)
        : x(make_points<T, K::dim>(cloud::uniform, n, seed)), q(make_inputs<T, K::n_in>(n, seed)),
          out(make_columns<T, K::n_out>(n, T(1))), hx(handles_of(x)), hq(handles_of(q)),
          hout(handles_of(out, arbiter))
    {}

    [[nodiscard]] starpu::box_handles box() const { return {.x = hx, .q = hq, .out = hout}; }

    /// Compares what was added to the outputs, which were 1, with reference sums.
    double error(reference_sums<K::n_out> sums)
    {
      hout.clear(); // unregisters them, which updates the arrays
      add_initial(sums, T(1));
      return error_of(writable(out), sums);
    }
    [[nodiscard]] auto from(own_columns const& other, K const& k = K()) const
    {
      return reference(k, x.view(), other.x.view(), other.q.view(), all_pairs);
    }
    [[nodiscard]] auto from_itself(K const& k = K()) const
    {
      return reference(k, x.view(), x.view(), q.view(), other_points);
    }

  private:
    template <int N>
    static std::vector<starpu::handle> handles_of(points<T, N>& columns,
                                                  starpu_arbiter_t arbiter = nullptr)
    {
      std::vector<starpu::handle> result;
      for (auto& column : columns.columns)
        result.push_back(starpu::handle::of(column.data(), column.size(), arbiter));
      return result;
    }
  };

  template <int NOut>
  reference_sums<NOut> operator+(reference_sums<NOut> a, reference_sums<NOut> const& b)
  {
    for (int o = 0; o < NOut; ++o)
      for (std::size_t i = 0; i < a.value[o].size(); ++i)
      {
        a.value[o][i] += b.value[o][i];
        a.scale[o][i] += b.scale[o][i];
      }
    return a;
  }
}
