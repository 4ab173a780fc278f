#pragma once

#include "clouds.hpp"
#include "runtime_of_rank.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <gtest/gtest.h>

#include <starpu_mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

/// \file
/// A near field over all ranks beside that of one.

namespace nearfield::test
{
  inline bool on_gpus()
  {
    return runtime_of_rank().n_gpus() > 0;
  }

  /// One set of points or targets and sources, their tree and right-hand sides, on one rank and on all.
  template <class K, class T>
  struct problem
  {
    static constexpr int dim = K::dim;

    problem(cloud shape, std::size_t n, owners who, tree_options<dim> options,
            std::size_t right_hand_sides = 1, std::uint64_t seed = 1,
            starpu_mpi::distribution_options const& distribution = {})
        : problem(make_points<T, dim>(shape, n, seed), who, options, right_hand_sides, seed,
                  distribution)
    {}
    problem(points<T, dim> all, owners who, tree_options<dim> options,
            std::size_t right_hand_sides = 1, std::uint64_t seed = 1,
            starpu_mpi::distribution_options const& distribution = {})
        : n_rhs(right_hand_sides), x(std::move(all)), first(first_points(who, x.size(), seed)),
          first_source(first), here(slice(x, first[rank()], first[rank() + 1])), sources_here(here),
          tree(MPI_COMM_WORLD, here, options, sorted_on_gpu(distribution)), of_one(options)
    {
      make_columns(seed);
    }
    /// Two sets, that of sources with other owners.
    problem(points<T, dim> targets, points<T, dim> sources, std::uint64_t owners_of_sets,
            tree_options<dim> options, std::size_t right_hand_sides = 1, std::uint64_t seed = 1,
            starpu_mpi::distribution_options const& distribution = {})
        : n_rhs(right_hand_sides), x(std::move(targets)), y(std::move(sources)),
          first(first_points(all_owners[owners_of_sets % 5], x.size(), seed)),
          first_source(first_points(all_owners[owners_of_sets / 5 % 5], y->size(), seed + 1)),
          here(slice(x, first[rank()], first[rank() + 1])),
          sources_here(slice(*y, first_source[rank()], first_source[rank() + 1])),
          tree(MPI_COMM_WORLD, here, sources_here, options, sorted_on_gpu(distribution)),
          of_one(options)
    {
      make_columns(seed);
    }

    /// On every second rank with a GPU.
    static starpu_mpi::distribution_options sorted_on_gpu(starpu_mpi::distribution_options how)
    {
      if (rank() % 2 == 0) how.gpu = runtime_of_rank().first_gpu();
      return how;
    }

    static std::size_t rank() { return static_cast<std::size_t>(rank_of_world()); }

    [[nodiscard]] auto inputs()
    {
      q_pointers.clear();
      for (auto const& column : q) q_pointers.push_back(column.data() + first_source[rank()]);
      return soa<T const, run_time_columns>(q_pointers, sources_here.size());
    }
    [[nodiscard]] auto outputs() { return columns_of(out, out_pointers); }

    /// The results of one rank, without tasks.
    void compute_expected()
    {
      std::vector<T const*> all_q;
      for (auto const& column : q) all_q.push_back(column.data());
      std::vector<T*> pointers;
      auto const inputs = soa<T const, run_time_columns>(all_q, q[0].size());
      if (y)
        near_field(simd, K{}, *one, x.view(), y->view(), inputs, columns_of(expected, pointers));
      else
        near_field(simd, K{}, *one, x.view(), inputs, columns_of(expected, pointers));
    }

    /// Calls place(point, d, its coordinate d), of sources too, and tells the tree and the step.
    template <class F>
    void move(starpu_mpi::near_field<T>& step, F const& place)
    {
      for (auto* const set : {&x, y ? &*y : nullptr})
        for (int d = 0; set && d < dim; ++d)
          for (std::size_t i = 0; i < set->size(); ++i) place(i, d, set->columns[d][i]);
      if (y)
        tree.rebuild(here, sources_here, step.seconds());
      else
        tree.rebuild(here, step.seconds());
      step.positions_changed();
      one = build_one();
      for (auto& column : out) std::ranges::fill(column, T(99));
      for (auto& column : expected) std::ranges::fill(column, T(0));
    }

    /// Bits, unless a tolerance relative to the largest value is given.
    void expect_results(double tolerance, T before = 0) const
    {
      for (std::size_t c = 0; c < out.size(); ++c)
      {
        T largest = 0;
        for (T const value : expected[c]) largest = std::max(largest, std::abs(value));
        for (std::size_t i = 0; i < here.size(); ++i)
        {
          T const wanted = before + expected[c][first[rank()] + i];
          if (tolerance == 0)
            ASSERT_EQ(std::memcmp(&out[c][i], &wanted, sizeof(T)), 0)
                << "point " << i << ": " << out[c][i] << " and " << wanted;
          else
            ASSERT_NEAR(out[c][i], wanted, tolerance * largest) << "point " << i;
        }
      }
    }

    std::size_t n_rhs;
    points<T, dim> x;
    std::optional<points<T, dim>> y; ///< of two sets
    std::vector<std::size_t> first, first_source;
    soa<T const, dim> here, sources_here;
    starpu_mpi::distributed_tree<T, dim> tree;
    tree_options<dim> of_one;
    std::optional<nearfield::tree<dim>> one;
    std::vector<std::vector<T>> q, out, expected;

  private:
    void make_columns(std::uint64_t seed)
    {
      of_one.order = leaf_order::morton;
      one = build_one();
      for (std::size_t c = 0; c < n_rhs * K::n_in; ++c)
        q.push_back(make_values<T>(y ? y->size() : x.size(), seed + c));
      for (std::size_t c = 0; c < n_rhs * K::n_out; ++c)
      {
        out.emplace_back(here.size(), T(99));
        expected.emplace_back(x.size(), T(0));
      }
    }
    [[nodiscard]] nearfield::tree<dim> build_one() const
    {
      return y ? build_tree(x.view(), y->view(), of_one) : build_tree(x.view(), of_one);
    }
    static soa<T, run_time_columns> columns_of(std::vector<std::vector<T>>& columns,
                                               std::vector<T*>& pointers)
    {
      pointers.clear();
      for (auto& column : columns) pointers.push_back(column.data());
      return {pointers, columns[0].size()};
    }
    std::vector<T const*> q_pointers;
    std::vector<T*> out_pointers;
  };

  constexpr double rounding_of(float)
  {
    return 1e-4;
  }
  constexpr double rounding_of(double)
  {
    return 1e-11;
  }

  /// What one-sided results may differ by from those of one rank's CPU: nothing, but on GPUs.
  template <class T>
  double bits()
  {
    return on_gpus() ? rounding_of(T()) : 0;
  }

  /// Whether P2P tasks have run on GPUs if there are any, and on CPUs otherwise.
  template <class T>
  void expect_place(starpu_mpi::near_field<T> const& step)
  {
    for (auto const& some : step.statistics())
      EXPECT_EQ(some.implementation == "cuda", on_gpus()) << some.implementation;
  }

  template <class K, class T>
  void expect_one_rank(problem<K, T>& of, pair_form form, int leaves_per_group = 7)
  {
    std::vector<int> sizes{leaves_per_group};
    if (on_gpus()) sizes.push_back(automatic); // one group, of lists that the GPU has made
    of.compute_expected();
    for (int const size : sizes)
    {
      SCOPED_TRACE(testing::Message() << size << " leaves per group");
      for (auto& column : of.out) std::ranges::fill(column, T(99));
      starpu_mpi::near_field step{
          runtime_of_rank(), K{},          of.tree,
          of.inputs(),       of.outputs(), {.form = form, .groups = {.leaves_per_group = size}}};
      step.submit();
      step.wait();
      EXPECT_EQ(step.form(), form);
      expect_place(step);
      of.expect_results(form == pair_form::one_sided ? bits<T>() : rounding_of(T()));
    }
  }

  /// Where ranks have no core each, StarPU's threads take the time of each other: fewer steps then.
  inline int at_most(int few, int many)
  {
    return size_of_world() > 3 ? few : many;
  }

  /// Bytes that StarPU-MPI has sent to each rank.
  inline std::vector<std::size_t> bytes_sent()
  {
    // that of StarPU-MPI 1.4 holds up the messages that other ranks wait for
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<std::size_t> amounts(static_cast<std::size_t>(size_of_world()));
#if STARPU_MAJOR_VERSION == 1 && STARPU_MINOR_VERSION < 4
    starpu_mpi_comm_amounts_retrieve(amounts.data());
#else
    starpu_mpi_comm_stats_retrieve(amounts.data());
#endif
    return amounts;
  }

  /// Runs a step that sends positions and inputs so many times.
  template <class K, class T>
  void expect_bytes_of_a_step(problem<K, T> const& of, starpu_mpi::near_field<T>& step,
                              std::size_t n_positions, std::size_t n_inputs)
  {
    auto const n_ranks = static_cast<std::size_t>(size_of_world());
    std::vector<std::size_t> halo(n_ranks, 0);
    for (auto const& layer : of.tree.layers())
      for (index_type const b : layer.sent)
        halo[static_cast<std::size_t>(layer.rank)] +=
            of.tree.known_sources().count(of.tree.first_leaf() + b);
    auto const before = bytes_sent();
    step.submit();
    step.wait();
    auto const after = bytes_sent();
    auto const &way = of.tree.way(), &source_way = of.tree.source_way();
    for (std::size_t r = 0; r < n_ranks; ++r)
    {
      std::size_t const q_home = source_way.sent_offsets[r + 1] - source_way.sent_offsets[r];
      std::size_t const out_home = way.received_offsets[r + 1] - way.received_offsets[r];
      std::size_t const values =
          halo[r] * (K::dim * n_positions + K::n_in * n_inputs) +
          (r == of.rank() ? 0 : q_home * K::n_in * n_inputs + out_home * K::n_out);
      EXPECT_EQ(after[r] - before[r], sizeof(T) * values) << "to rank " << r;
    }
  }
}
