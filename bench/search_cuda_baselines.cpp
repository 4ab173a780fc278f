// The baselines of the radius search on a GPU: the pair list in Thrust, and piNNS.

#include "baselines/pinns.hpp"
#include "search_cuda_rows.cuh"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace bench
{
  namespace
  {
    namespace nf = nearfield;
    using baseline::device_memory;
    using baseline::pinns_test;

    template <class T>
    baseline::pinns_domain<T, 3> domain_of(search_case const& c)
    {
      auto const& cloud = search_cloud_of<T>(c, 1);
      baseline::pinns_domain<T, 3> result{};
      result.radius = static_cast<T>(c.cutoff);
      for (std::size_t d = 0; d < 3; ++d)
      {
        auto const [low, high] = std::ranges::minmax(cloud.x[d]);
        result.smallest[d] = low;
        result.largest[d] = high;
      }
      return result;
    }

    std::vector<int> copied(nf::device_array<int> const& from)
    {
      std::vector<int> result(from.size());
      from.copy_to(result);
      return result;
    }

    template <class T>
    void run_thrust(benchmark::State& state, search_case const& c, int cells_per_cutoff,
                    device_memory from)
    {
      device_clouds<T> clouds(c, c.seeds);
      baseline::device_pairs pairs{};
      double written = 0;
      auto const find = [&](nf::soa<T, 3> const& x)
      {
        pairs = baseline::find_thrust_pairs(x, static_cast<T>(c.cutoff), cells_per_cutoff, from);
        written = 2. * sizeof(int) * double(pairs.size);
      };
      // the result belongs to the caller: freeing it is not timed
      time_search(state, c, clouds, find, [&] { return pairs.size; }, [&] { pairs = {}; });
      report_bound(state, search_bound<T>(gpu(), 3, c.n, written));
      state.counters["peak_bytes"] = static_cast<double>(pairs.peak_bytes);
    }

    enum class pinns_form
    {
      table, ///< cells, then the table
      walk   ///< cells, then a walk that counts
    };

    template <class T>
    void run_pinns(benchmark::State& state, search_case const& c, pinns_form form, pinns_test test)
    {
      device_clouds<T> clouds(c, 1);
      auto const domain = domain_of<T>(c);
      baseline::pinns_cells cells;
      nf::device_array<int> counts(c.n);
      auto const walk = [&](nf::soa<T, 3> const& x)
      {
        baseline::pinns_build(x, domain, cells);
        baseline::pinns_walk(x, domain, cells, counts.data(), test);
      };
      walk(clouds.fresh_copy(0));
      auto const counted = copied(counts);
      auto const listed = std::accumulate(counted.begin(), counted.end(), std::uint64_t(0));
      state.counters["listed_neighbours"] = static_cast<double>(listed);
      auto const half_pairs = [&]
      {
        return test == pinns_test::distance ? listed / 2 : 0;
      };

      if (form == pinns_form::walk)
      {
        time_search(state, c, clouds, walk, half_pairs);
        return report_bound(state, search_bound<T>(gpu(), 3, c.n, double(c.n * sizeof(int))));
      }
      // 1500 as published by piNNS, or more, since piNNS does not check for overflow
      int const width = std::max(1500, *std::ranges::max_element(counted));
      std::size_t const entries = c.n * static_cast<std::size_t>(width + 2);
      state.counters["table_bytes"] = static_cast<double>(entries * sizeof(int));
      nf::device_array<int> neighb(entries);
      auto const list = [&](nf::soa<T, 3> const& x)
      {
        baseline::pinns_table(x, domain, cells, width, neighb.data(), test);
      };
      time_search(state, c, clouds, list, half_pairs);
      report_bound(state, search_bound<T>(gpu(), 3, c.n, double(listed * sizeof(int))));
    }
  }

  template <class T>
  void add_search_baselines(search_case const& c)
  {
    auto const kind = kind_name<T>(c);
    for (int const k : {1, 2, 3})
      for (auto const from : {device_memory::fresh, device_memory::pooled})
        add_search_row(kind + "/thrust/k" + std::to_string(k) + "/" + name_of(from),
                       [=](auto& state) { run_thrust<T>(state, c, k, from); });
    for (auto const form : {pinns_form::table, pinns_form::walk})
      for (auto const test : {pinns_test::none, pinns_test::distance})
        add_search_row(kind + "/pinns" + (form == pinns_form::table ? "/table" : "/walk") +
                           (test == pinns_test::none ? "/untested" : "/tested"),
                       [=](auto& state) { run_pinns<T>(state, c, form, test); });
  }

  template void add_search_baselines<float>(search_case const&);
  template void add_search_baselines<double>(search_case const&);
}
