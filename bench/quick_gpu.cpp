// Rates of built-in interactions on one GPU, with all data in its memory.

#include "cuda_problem.hpp"
#include "cuda_timing.hpp"
#include "quick.hpp"
#include "rates.hpp"
#include "timing.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench
{
  namespace
  {
    namespace nf = nearfield;

    constexpr std::size_t leaf_sizes[] = {8, 32, 64};
    constexpr std::size_t box_size = 65536;

    /// The median of five calls, behind one that is not timed.
    double seconds_of_call(std::function<void()> const& f)
    {
      f();
      std::vector<double> times;
      for (int call = 0; call < 5; ++call) times.push_back(seconds_on_gpu(f));
      return median(times);
    }

    /// A box of points on the GPU.
    template <class K, class T>
    struct gpu_box
    {
      explicit gpu_box(cloud<T, K::dim> const& points)
          : x(points.positions()), q(inputs<K::n_in>(points.q)), out(points.q.size())
      {}
      nf::device_columns<T, K::dim> x;
      nf::device_columns<T, K::n_in> q;
      nf::device_columns<T, K::n_out> out;
    };

    template <class K, class T>
    void print_cell(double pairs, bool is_mutual, std::function<void()> const& f)
    {
      double const seconds = seconds_of_call(f);
      double const share = pair_bound<K, T>(gpu(), pairs, is_mutual).seconds / seconds;
      std::printf("  %6.0f %3.0f %%", 1e-9 * pairs / seconds, 100 * share);
    }

    /// Boxes in the shape of leaves, for all interactions of a dimension.
    template <class T, int Dim>
    gpu_problem<T, Dim> const& leaves_of(std::size_t size)
    {
      static std::map<std::size_t, gpu_problem<T, Dim>> made;
      return made.try_emplace(size, description{shape::leaves, size}).first->second;
    }

    template <class K, class T, bool IsMutual>
    void print_row()
    {
      std::printf("%-22s %dd  %s  %-12s", K::name, K::dim, precision_name<T>,
                  IsMutual ? "mutual" : "one-sided");
      K const k;
      cloud<T, K::dim> points(box_size);
      gpu_box<K, T> a(points);
      for (T& x : points.x[0]) x += 2;
      gpu_box<K, T> b(points);
      nf::soa<T const, K::dim> const x = a.x.view(), y = b.x.view();
      nf::soa<T const, K::n_in> const x_q = a.q.view(), y_q = b.q.view();
      auto const x_out = a.out.view(), y_out = b.out.view();
      constexpr auto n = static_cast<double>(box_size);
      print_cell<K, T>(n * (n - 1), IsMutual,
                       [&]
                       {
                         if constexpr (IsMutual)
                           nf::p2p_inner_mutual(nf::cuda, k, x, x_q, x_out);
                         else
                           nf::p2p_inner(nf::cuda, k, x, x_q, x_out);
                       });
      print_cell<K, T>(n * n * (IsMutual ? 2 : 1), IsMutual,
                       [&]
                       {
                         if constexpr (IsMutual)
                           nf::p2p_outer_mutual(nf::cuda, k, x, y, x_q, y_q, x_out, y_out);
                         else
                           nf::p2p_outer(nf::cuda, k, x, y, y_q, x_out);
                       });
      for (std::size_t const size : leaf_sizes)
      {
        gpu_problem<T, K::dim> const& p = leaves_of<T, K::dim>(size);
        nf::device_columns<T, K::n_in> const q(inputs<K::n_in>(p.q()));
        nf::device_columns<T, K::n_out> out(p.size());
        auto const form = IsMutual ? nf::pair_form::mutual : nf::pair_form::one_sided;
        print_cell<K, T>(p.pairs(), IsMutual,
                         [&]
                         {
                           nf::near_field(nf::cuda, k, p.list(IsMutual), p.x(), q.view(),
                                          out.view(), {.form = form});
                         });
      }
      std::printf("\n");
      std::fflush(stdout);
    }

    template <class K, class T>
    void print_rows()
    {
      print_row<K, T, false>();
      if constexpr (nf::detail::has_way_back<K>) print_row<K, T, true>();
    }
  }

  void print_gpu_table(std::string_view text)
  {
    if (std::string const problem = nf::cuda_problem(); !problem.empty())
    {
      std::printf("\nGPU: SKIPPED, %s\n", problem.c_str());
      return;
    }
    std::printf("\n%s, built-in interactions, data in its memory: G directed pairs/s and shares of "
                "the bound,\n"
                "of a box of %zu points, of two boxes, and of 32^3 leaves (2D: 256^2) of so many "
                "points, each with "
                "its neighbours.\n\n%-42s  %12s  %12s",
                nf::gpus().at(0).name.c_str(), box_size, "", "inner", "outer");
    for (std::size_t const size : leaf_sizes) std::printf("  %5s of %3zu", "leaves", size);
    std::printf("\n");
    quick_interactions::for_each(
        [&]<class K>
        {
          if (std::string_view(K::name).find(text) == std::string_view::npos) return;
          print_rows<K, float>();
          print_rows<K, double>();
        });
  }
}
