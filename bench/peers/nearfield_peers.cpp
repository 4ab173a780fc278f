// nearfield as a shared library of C functions, so that a script times it in the same process, on the same arrays
// and with the same clock as a package (nearfield.py has the other side). Results stay until forget(). A function
// that fails returns false, and problem() says why.

#include "baselines/cpu_search.hpp"
#include "rates.hpp"

#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace
{
  namespace nf = nearfield;

  /// Pairs (i[p], j[p]); or, with offsets, rows of j. In host or device memory.
  struct pair_list
  {
    std::uint64_t n_pairs;
    void const* i;
    void const* j;
    std::uint64_t const* offsets;
  };

  /// Pairs with the images of j: x_j - x_i + S L is D, and d its length. S and D are columns or, interleaved, (n, 3).
  struct image_list
  {
    pair_list pairs;
    void const* shifts[3];
    void const* distance;      // or null
    void const* displacements; // or null; then S is in columns
  };

  std::string the_problem;
  std::shared_ptr<void> kept;              ///< the last result
  std::function<void(pair_list&)> to_host; ///< copies the last one from the GPU

  template <class F>
  bool guarded(F const& f)
  {
    try
    {
      f();
      return true;
    }
    catch (std::exception const& e)
    {
      the_problem = e.what();
      return false;
    }
  }

  template <class Result>
  Result& keep(Result&& result)
  {
    auto const shared = std::make_shared<Result>(std::move(result));
    kept = shared;
    return *shared;
  }

  template <class Result>
  Result& describe(Result&& list, pair_list& out)
  {
    auto& result = keep(std::move(list));
    if constexpr (requires { result.offsets; })
      out = {result.columns.size(), nullptr, result.columns.data(), result.offsets.data()};
    else
      out = {result.i.size(), result.i.data(), result.j.data(), nullptr};
    return result;
  }

  template <class T>
  auto points(T const* xyz, std::size_t n)
  {
    return nf::interleaved<3>(std::span(xyz, 3 * n));
  }

  template <class T>
  nf::cell_list_options<T, 3> box(double period, bool cubic_cells = false)
  {
    nf::cell_list_options<T, 3> options;
    options.period.fill(static_cast<T>(period));
    if (cubic_cells) options.cells_per_cutoff.fill(1);
    return options;
  }

  /// As many in all calls.
  nf::threads& team(int threads)
  {
    static nf::threads all(threads);
    return all;
  }

  /// Calls f(where, cells) with a cell list of the points.
  template <class T, class F>
  void with_cells(T const* xyz, std::size_t n, double cutoff, nf::cell_list_options<T, 3> const& in,
                  int threads, F const& f)
  {
    if (threads == 1) return f(nf::simd, nf::cell_list{points(xyz, n), cutoff, in});
    auto const where = nf::simd.with(team(threads));
    f(where, nf::cell_list{where, points(xyz, n), cutoff, in});
  }

  template <class T>
  void search(T const* xyz, std::size_t n, double cutoff, double period, bool full, int threads,
              pair_list& out)
  {
    with_cells(xyz, n, cutoff, box<T>(period), threads,
               [&](auto const& where, auto const& cells)
               {
                 if (full)
                   describe(radius_search(where, cells, nf::to_csr{}), out);
                 else
                   describe(radius_search(where, cells, nf::to_coo{}), out);
               });
  }

  /// i, j and S, by i as rows.
  void search_images(double const* xyz, std::size_t n, double cutoff,
                     nf::cell_list_options<double, 3> const& in, bool by_i, int threads,
                     image_list& out)
  {
    auto const deliver = [&](auto&& list)
    {
      auto const& found = describe(std::move(list), out.pairs);
      for (std::size_t a = 0; a < 3; ++a) out.shifts[a] = found.images[a].data();
    };
    with_cells(xyz, n, cutoff, in, threads,
               [&](auto const& where, auto const& cells)
               {
                 auto const images = nf::image_columns::counters;
                 if (by_i)
                   deliver(radius_search(where, cells, nf::to_csr{.images = images}));
                 else
                   deliver(radius_search(where, cells,
                                         nf::to_coo{.which = nf::pairs::full, .images = images}));
               });
  }

  /// i, j, d, D and S in memory of the caller.
  void search_geometry(double const* xyz, std::size_t n, double cutoff,
                       nf::cell_list_options<double, 3> const& in, bool by_i, int threads,
                       image_list& out)
  {
    struct columns
    {
      nf::page_array<nf::index_type> i, j;
      nf::page_array<std::int32_t> shifts;
      nf::page_array<double> distances, displacements;
    };
    columns& to = keep(columns{});
    with_cells(xyz, n, cutoff, in, threads,
               [&](auto const& where, auto const& cells)
               {
                 std::size_t const found =
                     radius_search(where, cells, nf::count_pairs{nf::pairs::full}).total;
                 to.i.resize(found);
                 to.j.resize(found);
                 to.shifts.resize(3 * found);
                 to.distances.resize(found);
                 to.displacements.resize(3 * found);
                 nf::to_arrays<double, 3> what;
                 what.order = by_i ? nf::pair_order::rows : nf::pair_order::cells;
                 what.i = nf::soa<nf::index_type, 1>({to.i.data()}, found);
                 what.j = nf::soa<nf::index_type, 1>({to.j.data()}, found);
                 what.r = nf::soa<double, 1>({to.distances.data()}, found);
                 what.to_j = nf::interleaved<3>(std::span(to.displacements.data(), 3 * found));
                 what.images = nf::interleaved<3>(std::span(to.shifts.data(), 3 * found));
                 radius_search(where, cells, what);
               });
    out = {{to.i.size(), to.i.data(), to.j.data(), nullptr},
           {to.shifts.data()},
           to.distances.data(),
           to.displacements.data()};
  }

  /// Calls f(begin, end) for n values, on that many threads.
  template <class F>
  void on_threads(int threads, std::size_t n, F const& f)
  {
    std::vector<std::jthread> workers;
    for (int t = 1; t < threads; ++t)
      workers.emplace_back([=, &f] { f(n * t / threads, n * (t + 1) / threads); });
    f(0, n / threads);
  }

  /// phi_i += sum_j q_j / |x_i - x_j|: on one core in the mutual form, on several one-sided, each for its targets.
  template <class T>
  void one_over_r(T const* const* columns, T const* q, T* phi, std::size_t n, int threads)
  {
    nf::soa<T const, 3> const x({columns[0], columns[1], columns[2]}, n);
    nf::soa<T const, 1> const charges({q}, n);
    if (threads == 1)
      return nf::p2p_inner_mutual(nf::simd, nf::one_over_r<>{}, x, charges,
                                  nf::soa<T, 1>({phi}, n));
    on_threads(threads, n,
               [=](std::size_t begin, std::size_t end)
               {
                 std::size_t const size = end - begin;
                 nf::soa<T const, 3> const targets(
                     {columns[0] + begin, columns[1] + begin, columns[2] + begin}, size);
                 // the pair of a target with itself adds nothing: 1/r is singular
                 nf::p2p_outer(nf::simd, nf::one_over_r<>{}, targets, x, charges,
                               nf::soa<T, 1>({phi + begin}, size));
               });
  }

  template <class T>
  void search_on_gpu(T const* const* columns, std::size_t n, double cutoff, double period,
                     bool full, pair_list& out)
  {
    nf::soa<T const, 3> const x({columns[0], columns[1], columns[2]}, n);
    nf::cuda_cell_list<T, 3> cells{nf::cuda, x, static_cast<T>(cutoff), box<T>(period)};
    auto const deliver = [&](auto&& list)
    {
      auto const& result = describe(std::move(list), out);
      to_host = [&result](pair_list& host)
      {
        describe(result.to_host(), host);
      };
    };
    if (full)
      deliver(nf::radius_search(nf::cuda, cells, nf::to_csr{}));
    else
      deliver(nf::radius_search(nf::cuda, cells, nf::to_coo{}));
    nf::synchronize(cells.stream());
  }
}

#define PEERS_API extern "C" __attribute__((visibility("default")))

PEERS_API char const* peers_problem()
{
  return the_problem.c_str();
}

/// Frees the last result.
PEERS_API void peers_forget()
{
  kept.reset();
}

/// Copies the last result from the GPU.
PEERS_API bool peers_to_host(pair_list* out)
{
  return guarded([&] { to_host(*out); });
}

/// The instruction set of this process.
PEERS_API char const* peers_isa()
{
  static std::string const name(nf::name_of(nf::selected_isa()));
  return name.c_str();
}

/// The least time of so many cores, in seconds: of reading and writing that many bytes, or of that many directed pairs of
/// 1/r, two for an evaluation. The peaks are measured in the first call.
PEERS_API double peers_bound(int threads, double bytes, double pairs, bool single)
{
  auto const on = bench::cores(threads);
  using one_over_r = nf::one_over_r<>;
  auto const of_pairs = single ? bench::pair_bound<one_over_r, float>(on, pairs, true)
                               : bench::pair_bound<one_over_r, double>(on, pairs, true);
  return std::max(of_pairs.seconds, bench::memory_bound(on, bytes).seconds);
}

#define PEERS_SEARCH(suffix, T)                                                                    \
  PEERS_API bool peers_search_##suffix(T const* xyz, std::size_t n, double cutoff, double period,  \
                                       bool full, int threads, pair_list* out)                     \
  {                                                                                                \
    return guarded([&] { search(xyz, n, cutoff, period, full, threads, *out); });                  \
  }                                                                                                \
  PEERS_API bool peers_gpu_search_##suffix(T const* const* columns, std::size_t n, double cutoff,  \
                                           double period, bool full, pair_list* out)               \
  {                                                                                                \
    return guarded([&] { search_on_gpu(columns, n, cutoff, period, full, *out); });                \
  }                                                                                                \
  PEERS_API bool peers_one_over_r_##suffix(T const* const* columns, T const* q, T* phi,            \
                                           std::size_t n, int threads)                             \
  {                                                                                                \
    return guarded([&] { one_over_r(columns, q, phi, n, threads); });                              \
  }
PEERS_SEARCH(f32, float)
PEERS_SEARCH(f64, double)

/// Full pairs in a periodic box with the images of j, also with d and D; by i or in the order of cells. With
/// cubic cells, one per cutoff, in place of two along the last axis: fewer cells for few points.
PEERS_API bool peers_images(double const* xyz, std::size_t n, double cutoff, double period,
                            bool geometry, bool by_i, bool cubic_cells, int threads,
                            image_list* out)
{
  return guarded(
      [&]
      {
        (geometry ? search_geometry : search_images)(
            xyz, n, cutoff, box<double>(period, cubic_cells), by_i, threads, *out);
      });
}

/// Half pairs by nanoflann, which is C++ and so is called from here.
PEERS_API bool peers_nanoflann(double const* xyz, std::size_t n, double cutoff, int leaf_size,
                               pair_list* out)
{
  return guarded(
      [&]
      {
        auto const find = baseline::cpu_search(nf::selected_isa()).of<double>().nanoflann_pairs;
        if (find == nullptr) throw std::runtime_error("nearfield was built without nanoflann");
        baseline::point_columns<double> columns;
        for (std::size_t i = 0; i < n; ++i)
        {
          columns.x.push_back(xyz[3 * i]);
          columns.y.push_back(xyz[3 * i + 1]);
          columns.z.push_back(xyz[3 * i + 2]);
        }
        auto& pairs = keep(baseline::pair_columns{});
        find(columns, cutoff, leaf_size, pairs);
        *out = {pairs.i.size(), pairs.i.data(), pairs.j.data(), nullptr};
      });
}

/// An adaptive tree with its interaction lists; gives its order of the points, its number of leaves and the
/// largest leaf.
PEERS_API bool peers_tree(double const* xyz, std::size_t n, int max_leaf_size,
                          nf::index_type const** order, std::uint64_t* leaves,
                          std::uint64_t* largest)
{
  return guarded(
      [&]
      {
        auto const& tree = keep(nf::build_tree(points(xyz, n), {.max_leaf_size = max_leaf_size}));
        *order = tree.target_order().data();
        *leaves = tree.size();
        *largest = tree.largest_leaf();
      });
}
