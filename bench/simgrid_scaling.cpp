// Steps of starpu_mpi::near_field on ranks that do not exist, in StarPU's SimGrid mode: the tasks and messages of the
// library, submitted by its own code, on workers and links whose speed the driver gives (simgrid_scaling.py). Built by
// the preset simgrid, and started by smpirun.
//
//   simgrid_scaling LEAVES PAIRS_ONE_SIDED PAIRS_MUTUAL BYTES TASK_SECONDS
//
// Every rank has LEAVES leaves of 64 points, one after the other along the curve, so that with powers of 8 all ranks
// have a cube of them. A rank is a GPU: its one worker takes TASK_SECONDS for a task, and as long as pairs, or bytes
// that it copies, take at these rates (a second). Each rank prints a line of JSON.
//
// One point stands for the 64 of a leaf, since the points of 512 GPUs do not fit into the memory of the simulating
// machine: work is multiplied here, and the links of the platform are 64 times slower. The tree is made here too, rank
// after rank, with what the library makes lists with; its lists are forgotten once the step has its tasks.

#include "runtime/mpi/src/mpi_messages.hpp"
#include "runtime/mpi/src/rank_plan.hpp"
#include "runtime/src/list_tasks.hpp"
#include "runtime/src/reorder.hpp"
#include "runtime/src/row_copies.hpp"
#include "runtime/src/step.hpp"
#include "tree/src/interaction_lists.hpp"
#include "tree/src/keys.hpp"
#include "tree/src/leaves.hpp"

#include <nearfield/core/soa.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <starpu.h>
#include <starpu_mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;
  namespace inside = nearfield::starpu::detail;
  namespace ranks = nearfield::starpu_mpi::detail;
  using K = nf::one_over_r<3>;
  using T = float;
  using nf::index_type;

  constexpr double points_per_leaf = 64;

  struct speed
  {
    double one_sided, mutual, bytes, task;
  } gpu;

  double seconds_to_copy(starpu_task* task)
  {
    // read and written, so twice the handle that the task fills
    return gpu.task +
           2 * points_per_leaf *
               static_cast<double>(starpu_data_get_size(STARPU_TASK_GET_HANDLE(task, 0))) /
               gpu.bytes;
  }
  double microseconds_to_copy(starpu_task* task, starpu_perfmodel_arch*, unsigned)
  {
    return 1e6 * seconds_to_copy(task);
  }
  template <nf::pair_form Form>
  double microseconds_of_pairs(starpu_task* task, starpu_perfmodel_arch*, unsigned)
  {
    auto const& argument = *static_cast<inside::p2p_argument const*>(task->cl_arg);
    bool const is_mutual = Form == nf::pair_form::mutual;
    double pairs = argument.work * points_per_leaf * points_per_leaf;
    // those inside leaves, which one point has not
    if (is_mutual) pairs += argument.head->n_targets * points_per_leaf * (points_per_leaf - 1);
    return 1e6 * (gpu.task + pairs / (is_mutual ? gpu.mutual : gpu.one_sided));
  }

  /// Replaces what the library says of cores.
  void set_models(K const& k)
  {
    auto const& type = *inside::kernel_of<T>(k).type;
    auto const set = [](starpu_codelet& codelet, auto* f)
    {
      codelet.model->arch_cost_function = f;
    };
    set(inside::list_codelet(nf::pair_form::mutual, type, nf::backend::simd),
        &microseconds_of_pairs<nf::pair_form::mutual>);
    set(inside::list_codelet(nf::pair_form::one_sided, type, nf::backend::simd),
        &microseconds_of_pairs<nf::pair_form::one_sided>);
    set(inside::collect_codelet<T>(), &microseconds_to_copy);
    set(inside::deliver_codelet<T>(), &microseconds_to_copy);
    set(inside::copy_codelet<T>(nf::backend::scalar), &microseconds_to_copy);
  }

  /// The tree of a rank, without points; the caller's points are where they are computed.
  struct part_of_tree
  {
    int rank = 0;
    index_type first_leaf = 0, last_leaf = 0; ///< own ones among the known ones
    nf::detail::page_vector<index_type> offsets;
    nf::detail::interaction_table lists; ///< until there are tasks
    std::vector<nf::starpu_mpi::detail::rank_layer> layers;
    std::vector<index_type> rows;
    std::vector<std::size_t> rows_of_ranks;

    [[nodiscard]] inside::step_tree<T> view(int leaves_per_group) const
    {
      inside::step_tree<T> made;
      made.rank = rank;
      made.sources = {offsets};
      made.first_leaf = first_leaf;
      for (auto const& layer : layers)
        made.layers.push_back({layer.rank, layer.first_leaf, layer.last_leaf, layer.sent});
      auto const complete = []
      {
        // it is
      };
      made.targets = made.source_points = {{}, rows_of_ranks, rows_of_ranks, rows, rows, complete};
      made.positions = [this](bool, bool)
      {
        return inside::column_list<T const>(nf::soa<T const, 3>({}, rows.size()));
      };
      made.divide = [this, leaves_per_group](nf::backend)
      {
        inside::division how{nf::backend::simd, nf::pair_form::mutual};
        how.plan = ranks::plan_rank(
            {{offsets}, {offsets}, first_leaf, last_leaf, lists.view({}), layers, true}, how.form,
            {.leaves_per_group = leaves_per_group}, nullptr, nullptr);
        return how;
      };
      return made;
    }
  };

  /// A part of the curve through a lattice in which the ranks' leaves are all there are.
  class lattice
  {
  public:
    lattice(std::uint64_t per_rank, int rank, int ranks)
        : per_rank_(per_rank), first_(per_rank * std::uint64_t(rank)),
          end_(per_rank * std::uint64_t(ranks))
    {
      while (std::uint64_t(1) << (3 * level_) < end_) ++level_;
    }

    [[nodiscard]] part_of_tree make(int rank) const
    {
      std::map<std::uint64_t, std::vector<index_type>> touched; // by rank
      std::vector<std::uint64_t> keys;
      for (std::uint64_t key = first_; key < first_ + per_rank_; ++key)
        for_each_foreign(key,
                         [&](std::uint64_t other)
                         {
                           keys.push_back(other);
                           auto& sent = touched[other / per_rank_];
                           auto const leaf = static_cast<index_type>(key - first_);
                           if (sent.empty() || sent.back() != leaf) sent.push_back(leaf);
                         });
      std::ranges::sort(keys);
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
      auto const before = std::ranges::lower_bound(keys, first_);
      std::vector<std::uint64_t> own(per_rank_);
      std::iota(own.begin(), own.end(), first_);
      auto const at = static_cast<index_type>(before - keys.begin());
      keys.insert(before, own.begin(), own.end());

      nf::detail::leaf_set<3> known;
      for (std::uint64_t const key : keys)
      {
        known.cells.push_back({decode(key), level_});
        known.levels.push_back(static_cast<std::uint8_t>(level_));
        known.keys.push_back(key);
        known.target_offsets.push_back(known.target_offsets.back() + 1);
      }
      part_of_tree made;
      made.rank = rank;
      made.first_leaf = at;
      made.last_leaf = at + static_cast<index_type>(per_rank_);
      for (auto& [other, sent] : touched)
      {
        auto const place = [&](std::uint64_t key)
        {
          return static_cast<index_type>(std::ranges::lower_bound(keys, key) - keys.begin());
        };
        made.layers.push_back({static_cast<int>(other), place(other * per_rank_),
                               place((other + 1) * per_rank_), std::move(sent)});
      }
      nf::detail::interaction_table half;
      nf::boxes const points{known.target_offsets};
      nf::detail::list_writer lists(made.lists, half, points, points, true, "simgrid_scaling", "");
      nf::detail::list_leaves(known, level_, {}, made.first_leaf, made.last_leaf, lists);
      made.offsets = std::move(known.target_offsets);
      made.rows.resize(per_rank_);
      std::iota(made.rows.begin(), made.rows.end(), index_type(0));
      made.rows_of_ranks.assign(static_cast<std::size_t>(end_ / per_rank_) + 1, per_rank_);
      std::fill_n(made.rows_of_ranks.begin(), rank + 1, std::size_t(0));
      return made;
    }

  private:
    [[nodiscard]] std::array<std::uint32_t, 3> decode(std::uint64_t key) const
    {
      return nf::detail::decode<3>(key, {nf::leaf_order::morton, level_});
    }

    template <class F>
    void for_each_foreign(std::uint64_t key, F const& f) const
    {
      auto const at = decode(key);
      auto const width = std::uint32_t(1) << level_;
      // a rank has a box, from its first leaf to its last: most leaves are inside it
      auto const lower = decode(first_), upper = decode(first_ + per_rank_ - 1);
      bool at_border = false;
      for (int d = 0; d < 3; ++d) at_border |= at[d] == lower[d] || at[d] == upper[d];
      if (!at_border) return;
      for (int n = 0; n < 27; ++n)
      {
        std::array<std::uint32_t, 3> cell = at;
        int rest = n;
        bool inside_root = true;
        for (int d = 0; d < 3; ++d, rest /= 3)
        {
          cell[d] += static_cast<std::uint32_t>(rest % 3 - 1);
          inside_root &= cell[d] < width;
        }
        if (!inside_root) continue;
        std::uint64_t const other = nf::detail::encode<nf::leaf_order::morton, 3>(cell, level_);
        if (other < end_ && other / per_rank_ != key / per_rank_) f(other);
      }
    }

    std::uint64_t per_rank_, first_, end_;
    int level_ = 0;
  };

  struct counts
  {
    double messages = 0, bytes = 0;
  };

  /// What a rank sends in a step with new inputs.
  counts sent_by(part_of_tree const& of)
  {
    counts sum;
    for (auto const& layer : of.layers)
    {
      ++sum.messages;
      sum.bytes += static_cast<double>(layer.sent.size()) * points_per_leaf * sizeof(T);
    }
    return sum;
  }

  /// Calls f on one rank after the other. They share their process, and its environment.
  template <class F>
  void in_turn(int rank, F const& f)
  {
    auto const turn = []
    {
      char const* const now = std::getenv("SIMGRID_SCALING_TURN");
      return now ? std::atoi(now) : 0;
    };
    while (turn() < rank) starpu_sleep(static_cast<float>(rank - turn()));
    f();
    setenv("SIMGRID_SCALING_TURN", std::to_string(rank + 1).c_str(), 1);
  }
}

// starpu.h makes it starpu_main: StarPU's own main starts the simulation and MPI
int main(int argc, char** argv)
{
  if (argc != 6)
  {
    std::fprintf(stderr, "simgrid_scaling: bench/simgrid_scaling.py starts it\n");
    return 2;
  }
  std::uint64_t const leaves = std::strtoull(argv[1], nullptr, 10);
  gpu = {std::atof(argv[2]), std::atof(argv[3]), std::atof(argv[4]), std::atof(argv[5])};
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 1;
  if (starpu_mpi_init_conf(&argc, &argv, 0, MPI_COMM_WORLD, &conf) != 0) return 1;
  int rank = 0, n_ranks = 1;
  starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
  starpu_mpi_comm_size(MPI_COMM_WORLD, &n_ranks);
  {
    nf::starpu::runtime const starpu;
    part_of_tree of;
    std::vector<T> q(leaves), phi(leaves);
    K const k;
    set_models(k);
    int const per_group =
        static_cast<int>(std::max<std::uint64_t>(1000, leaves / 8)); // as on a GPU
    std::optional<inside::step<T>> step;
    in_turn(rank,
            [&]
            {
              of = lattice(leaves, rank, n_ranks).make(rank);
              step.emplace(
                  starpu, [&] { return of.view(per_group); }, inside::kernel_of<T>(k),
                  inside::step_columns<T>{true, 1, {}, {}, nf::soa{q}, nf::soa{phi}},
                  nf::starpu::step_options{},
                  std::make_unique<ranks::mpi_messages>(MPI_COMM_WORLD, 0));
              of.lists = {};
            });

    auto const time = [&](int steps, auto const& change)
    {
      starpu_mpi_barrier(MPI_COMM_WORLD);
      double const begin = starpu_timing_now();
      for (int i = 0; i < steps; ++i)
      {
        change();
        step->submit();
        step->wait();
      }
      return 1e-6 * (starpu_timing_now() - begin) / steps;
    };
    constexpr int n_steps = 2;
    double const first = time(1, [] {});
    double const new_inputs = time(n_steps, [&] { step->inputs_changed(); });
    double const standing = time(n_steps, [] {});
    starpu_mpi_barrier(MPI_COMM_WORLD);
    counts const sent = sent_by(of);
    std::printf(
        "{\"rank\": %d, \"first_seconds\": %.9g, \"seconds\": %.9g, "
        "\"standing_seconds\": %.9g, \"messages\": %.0f, \"bytes\": %.0f, \"tasks\": %zu}\n",
        rank, first, new_inputs, standing, sent.messages, sent.bytes, step->n_tasks());
    std::fflush(stdout);
  }
  starpu_mpi_shutdown();
  return 0;
}
