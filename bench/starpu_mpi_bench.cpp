// The near field over ranks: 1/r in 3D, f32, uniform points, started by mpirun. Every rank begins with the points of
// its own box, as a program has them whose points have been distributed before.
//
//   --weak N | --strong N   N points a rank, in boxes side by side, or N in all, in a cube; ranks are a power of two
//   --one-process P         on one rank, without StarPU-MPI: the points that P ranks would have
//   --gpus                  each rank computes on its share of the machine's GPUs
//   --pinned                the same, and pins its columns for them
//   --repetitions R         9
//   --out FILE              JSON in the form of Google Benchmark, by rank 0; --context KEY=VALUE adds to it
//
// Rows, each with the time of the slowest rank; steps are timed four in a row:
//
//   cut            the tree over all ranks (of one process: build_tree by all workers)
//   new_inputs     a step with new inputs, which go to the ranks around
//   standing       a step in which nothing has changed; results go back
//   resident/*     --gpus: the same, but results stay on the GPU (delivery on request)
//   moved          --gpus: after every point has moved by up to 1e-4 of its coordinates, into other leaves and to other
//                  ranks, and the tree was rebuilt; results stay. The first move is not counted.
//   moved_inputs   the same with new inputs
//   independent/*  --weak: all of these, all ranks at once, each by itself with its own points; the mean of ranks
//
// `bytes` and `messages` are what the rank that sends most sends in a step, by StarPU-MPI's count and by the layers.
// bench/starpu_mpi_runs.sh runs what is to be compared, and starpu_mpi_table.py tells the ratios.

#include "starpu_mpi_problem.hpp"
#include "starpu_mpi_rows.hpp"
#include "starpu_mpi_settings.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <starpu_mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using namespace bench::mpi;

  double greatest(double value)
  {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
  }
  double total(double value)
  {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return value;
  }
  double bytes_sent(int ranks)
  {
    std::vector<std::size_t> amounts(static_cast<std::size_t>(ranks));
#if STARPU_MAJOR_VERSION == 1 && STARPU_MINOR_VERSION < 4
    starpu_mpi_comm_amounts_retrieve(amounts.data());
#else
    starpu_mpi_comm_stats_retrieve(amounts.data());
#endif
    return static_cast<double>(std::accumulate(amounts.begin(), amounts.end(), std::size_t(0)));
  }

  /// Pins the memory of a column for as long as this lives.
  class pinned
  {
  public:
    explicit pinned(std::vector<T>& column) : column_(column)
    {
      nf::starpu::check(starpu_memory_pin(column.data(), column.size() * sizeof(T)),
                        "starpu_memory_pin");
    }
    pinned(pinned const&) = delete;
    pinned& operator=(pinned const&) = delete;
    ~pinned() { starpu_memory_unpin(column_.data(), column_.size() * sizeof(T)); }

  private:
    std::vector<T>& column_;
  };

  std::deque<pinned> columns_pinned(settings const& with, problem& of)
  {
    std::deque<pinned> pins;
    if (with.pins)
      for (auto* const column : {&of.x[0], &of.x[1], &of.x[2], &of.q, &of.phi})
        pins.emplace_back(*column);
    return pins;
  }

  template <class Step>
  void once(Step& step)
  {
    step.submit();
    step.wait();
  }

  /// Steps in a row, as a program runs them: ranks need not begin each together.
  constexpr int series = 4;

  /// A series of steps with new inputs, and one of steps without.
  template <class Step>
  void time_steps(table& rows, std::string const& name, Step& step, double pairs,
                  bool is_mean = false)
  {
    std::string const new_inputs = name + "new_inputs", standing = name + "standing";
    rows.time(new_inputs, series, is_mean,
              [&]
              {
                step.inputs_changed();
                once(step);
              });
    rows.time(standing, series, is_mean, [&] { once(step); });
    for (std::string const& row : {new_inputs, standing}) rows.add(row, "pairs", pairs);
  }

  /// Steps whose results stay on the GPU, and then points that move: of all ranks, or of each by itself.
  void time_resident(nf::starpu::runtime const& starpu, problem& mine, domain const& all,
                     MPI_Comm comm, nf::detail::on_threads<nf::simd_backend> const& where,
                     nf::starpu_mpi::distribution_options const& how, table& rows, int repetitions)
  {
    int rank = 0, first = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(comm, &ranks);
    bool const is_alone = ranks < all.ranks();
    if (is_alone) first = rank;
    std::string const name = is_alone ? "independent/" : "";
    nf::starpu_mpi::distributed_tree<T, 3> tree(where, comm, mine.positions(), all.tree(), how);
    auto const pairs = total(static_cast<double>(tree.interaction_count()));
    nf::starpu_mpi::near_field step{
        starpu,
        K{},
        tree,
        nf::soa{mine.q},
        nf::soa{mine.phi},
        {.delivery = nf::starpu::step_options::on_request, .first_tag = 100}};
    once(step);
    std::fill(mine.phi.begin(), mine.phi.end(), T(0));
    step.deliver();
    step.wait();
    check(all, mine, first, first + ranks, "near field on GPUs");
    for (int i = 0; i < repetitions; ++i)
      time_steps(rows, name + "resident/", step, pairs, is_alone);
    auto const start = mine.x;
    std::vector<double> rebuild, tasks;
    std::mt19937 random(static_cast<unsigned>(rank));
    auto const move = [&]
    {
      for (auto& column : mine.x)
        for (T& x : column) x *= 1 - T(0x1p-32 * 1e-4) * static_cast<T>(random());
    };
    double new_cuts = 0;
    auto const rebuild_and_step = [&](bool has_new_inputs)
    {
      std::vector<std::uint64_t> const cuts(tree.cuts().begin(), tree.cuts().end());
      double const begin = bench::seconds();
      tree.rebuild(mine.positions(), step.seconds());
      double const rebuilt = bench::seconds();
      step.positions_changed();
      rebuild.push_back(rebuilt - begin);
      tasks.push_back(bench::seconds() - rebuilt);
      if (has_new_inputs) step.inputs_changed();
      once(step);
      new_cuts += !std::ranges::equal(cuts, tree.cuts());
    };
    move();
    rebuild_and_step(true); // memory that grows
    rebuild.clear();
    tasks.clear();
    new_cuts = 0;
    for (int i = 0; i <= repetitions; ++i)
    {
      move();
      rows.time(name + "moved", 1, is_alone, [&] { rebuild_and_step(false); });
      move();
      rows.time(name + "moved_inputs", 1, is_alone, [&] { rebuild_and_step(true); });
    }
    for (char const* const row : {"moved", "moved_inputs"}) rows.add(name + row, "pairs", pairs);
    rows.add(name + "moved", "rebuild_ms", 1e3 * greatest(bench::median(rebuild)));
    rows.add(name + "moved", "make_tasks_ms", 1e3 * greatest(bench::median(tasks)));
    rows.add(name + "moved", "new_cuts", new_cuts);
    mine.x = start;
    if (!(step.seconds() > 0)) throw nf::error("seconds: found none after a step");
  }

  void run_ranks(settings const& with, nf::starpu::runtime const& starpu, domain const& all,
                 table& rows)
  {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    problem mine(all, rank, rank + 1);
    std::deque<pinned> const pins = columns_pinned(with, mine);
    nf::starpu::cpu_workers workers(starpu);
    nf::threads this_thread(1);
    auto const where = workers.workers() > 1 ? nf::simd.with(workers) : nf::simd.with(this_thread);
    nf::starpu_mpi::distribution_options const how{.gpu = starpu.first_gpu()};
    using tree = nf::starpu_mpi::distributed_tree<T, 3>;
    for (int i = 0; i <= with.repetitions / 3; ++i)
      rows.time("cut", 1, false, [&]
                { tree const again(where, MPI_COMM_WORLD, mine.positions(), all.tree(), how); });
    tree const cut(where, MPI_COMM_WORLD, mine.positions(), all.tree(), how);
    double const pairs = total(static_cast<double>(cut.interaction_count()));
    {
      nf::starpu_mpi::near_field step{starpu, K{}, cut, nf::soa{mine.q}, nf::soa{mine.phi}};
      once(step);
      check(all, mine, 0, all.ranks(), "near field over ranks");
      double const before = bytes_sent(all.ranks());
      step.inputs_changed();
      once(step);
      MPI_Barrier(MPI_COMM_WORLD);
      rows.add("new_inputs", "bytes", greatest(bytes_sent(all.ranks()) - before));
      double messages = static_cast<double>(cut.layers().size());
      for (std::size_t r = 0; r < std::size_t(all.ranks()); ++r)
        if (r != std::size_t(rank))
          messages += (cut.way().sent_offsets[r + 1] > cut.way().sent_offsets[r]) +
                      (cut.way().received_offsets[r + 1] > cut.way().received_offsets[r]);
      rows.add("new_inputs", "messages", greatest(messages));
      rows.add("cut", "most_interactions_over_mean",
               greatest(static_cast<double>(cut.interaction_count())) * all.ranks() / pairs);
      std::optional<tree> own;
      std::optional<nf::starpu_mpi::near_field<T>> alone;
      double own_pairs = 0;
      if (with.is_weak)
      {
        own.emplace(where, MPI_COMM_SELF, mine.positions(), all.tree(), how);
        own_pairs = total(static_cast<double>(own->interaction_count()));
        alone.emplace(starpu, K{}, *own, nf::soa{mine.q}, nf::soa{mine.phi});
        once(*alone);
        check(all, mine, rank, rank + 1, "near field of one rank");
      }
      for (int i = 0; i < with.repetitions; ++i)
      {
        time_steps(rows, "", step, pairs);
        if (alone) time_steps(rows, "independent/", *alone, own_pairs, true);
      }
    }
    if (!with.on_gpus) return;
    time_resident(starpu, mine, all, MPI_COMM_WORLD, where, how, rows, with.repetitions);
    if (all.ranks() > 1)
      time_resident(starpu, mine, all, MPI_COMM_SELF, where, how, rows, with.repetitions);
  }

  void run_one_process(settings const& with, nf::starpu::runtime const& starpu, domain const& all,
                       table& rows)
  {
    problem mine(all, 0, all.ranks());
    std::deque<pinned> const pins = columns_pinned(with, mine);
    nf::starpu::cpu_workers on(starpu);
    for (int i = 0; i <= with.repetitions / 3; ++i)
      rows.time("cut", 1, false,
                [&] { (void)nf::build_tree(nf::simd.with(on), mine.positions(), all.tree()); });
    auto const tree = nf::build_tree(nf::simd.with(on), mine.positions(), all.tree());
    auto const groups = with.on_gpus ? nf::group_leaves(starpu, tree) : nf::group_leaves(tree);
    nf::starpu::near_field step{starpu,           K{}, groups, mine.positions(), nf::soa{mine.q},
                                nf::soa{mine.phi}};
    once(step);
    check(all, mine, 0, all.ranks(), "near field of one process");
    auto const pairs = static_cast<double>(tree.interaction_count());
    for (int i = 0; i < with.repetitions; ++i) time_steps(rows, "", step, pairs);
    if (!with.on_gpus) return;
    nf::starpu::near_field resident{
        starpu,
        K{},
        groups,
        mine.positions(),
        nf::soa{mine.q},
        nf::soa{mine.phi},
        {.backend = nf::backend::cuda, .delivery = nf::starpu::step_options::on_request}};
    once(resident);
    for (int i = 0; i < with.repetitions; ++i) time_steps(rows, "resident/", resident, pairs);
  }
}

int main(int argc, char** argv)
{
  setenv("STARPU_COMM_STATS", "1", 1);
  int provided = 0, ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  nf::starpu_mpi::end_together(
      MPI_COMM_WORLD, "starpu_mpi_bench",
      [&]
      {
        settings const with = read(argc, argv);
        if (with.one_process > 0 && ranks > 1)
          throw nf::error("--one-process: found " + std::to_string(ranks) + " ranks; start one");
        domain const all(with, with.one_process ? with.one_process : ranks);
        nf::starpu::runtime::options_type workers{.gpus = 0};
        if (with.on_gpus)
        {
          if (nf::gpus().empty()) throw nf::error("--gpus: " + nf::cuda_problem());
          nf::starpu_mpi::share_gpus(MPI_COMM_WORLD);
          workers.gpus = std::nullopt;
        }
        nf::starpu::runtime const starpu(workers);
        table rows(with, all.ranks(), starpu.n_workers());
        if (with.one_process)
          run_one_process(with, starpu, all, rows);
        else
        {
          nf::starpu::check(starpu_mpi_init_comm(nullptr, nullptr, 0, MPI_COMM_WORLD),
                            "starpu_mpi_init_comm");
          run_ranks(with, starpu, all, rows);
          starpu_mpi_shutdown();
        }
        rows.write();
      });
  MPI_Finalize();
  return 0;
}
