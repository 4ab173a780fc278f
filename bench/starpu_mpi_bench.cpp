// The near field over ranks: 1/r in 3D, f32, uniform points, started by mpirun. Every rank begins with the points of
// its own box, as a program has them whose points have been distributed before.
//
//   --weak N | --strong N   N points a rank, in boxes side by side, or N in all, in a cube; ranks are a power of two
//   --one-process P         on one rank, without StarPU-MPI: the points that P ranks would have
//   --gpus                  each rank computes on its share of the machine's GPUs
//   --repetitions R         9
//   --out FILE              JSON in the form of Google Benchmark, by rank 0; --context KEY=VALUE adds to it
//
// Rows, each with the time of the slowest rank:
//
//   cut            the tree over all ranks (of one process: build_tree by all workers)
//   new_inputs     a step with new inputs, which go to the ranks around
//   standing       a step in which nothing has changed; results go back
//   resident       --gpus: the same, but results stay on the GPU (delivery on request)
//   resident_new_inputs, moved: --gpus: with new inputs, and after every point has moved and the tree was rebuilt
//   independent/*  --weak: all ranks at once, each by itself with its own points; the mean of ranks
//
// `bytes` and `messages` are what the rank that sends most sends in a step, by StarPU-MPI's count and by the layers.
// bench/starpu_mpi_runs.sh runs what is to be compared, and starpu_mpi_table.py tells the ratios.

#include "clouds.hpp"
#include "sums.hpp"
#include "timing.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu/group_leaves.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <starpu_mpi.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using bench::seconds;
  using K = nf::one_over_r<3>;
  using T = float;

  struct settings
  {
    bool is_weak = true;
    std::size_t points = 0;
    int one_process = 0, repetitions = 9;
    bool on_gpus = false;
    std::string out;
    std::vector<std::string> context;
  };

  /// The box of each rank: a range of the Z curve.
  class domain
  {
  public:
    domain(settings const& with, int ranks) : ranks_(ranks)
    {
      if (!std::has_single_bit(unsigned(ranks)))
        throw nf::error("ranks: found " + std::to_string(ranks) + "; start 1, 2, 4, 8 ...");
      int const bits = std::countr_zero(unsigned(ranks));
      per_rank_ = with.is_weak ? with.points : with.points / std::size_t(ranks);
      boxes_.assign(std::size_t(ranks), {});
      for (int r = 0; r < ranks; ++r)
        for (int bit = 0; bit < bits; ++bit)
        {
          // weak: boxes of width 1, the last bit along z; strong: halves of a cube, the first bit along x
          auto& box = boxes_[std::size_t(r)];
          int const axis = with.is_weak ? 2 - bit % 3 : bit % 3;
          bool const upper = r >> (with.is_weak ? bit : bits - 1 - bit) & 1;
          if (with.is_weak)
            box.lower[axis] += upper ? double(1 << bit / 3) : 0;
          else
          {
            box.width[axis] /= 2;
            box.lower[axis] += upper ? box.width[axis] : 0;
          }
        }
      // at most 64 points a leaf
      std::size_t const in_cube = with.is_weak ? per_rank_ : with.points;
      while (in_cube >> (3 * level_) > 64) ++level_;
      int const doublings = with.is_weak ? (bits + 2) / 3 : 0;
      level_ += doublings;
      root_.half_width = 0.5 * (1 << doublings);
      root_.centre.fill(root_.half_width);
    }

    [[nodiscard]] int ranks() const { return ranks_; }
    [[nodiscard]] std::size_t per_rank() const { return per_rank_; }
    [[nodiscard]] nf::tree_options<3> tree() const
    {
      return {.level = level_, .root = root_, .order = nf::leaf_order::morton};
    }
    /// Coordinates have 20 bits, so that no rounding moves them to another leaf.
    [[nodiscard]] std::array<T, 3> point(int rank, std::size_t i) const
    {
      place const& box = boxes_[std::size_t(rank)];
      std::array<T, 3> x;
      for (int d = 0; d < 3; ++d)
      {
        auto const number = (std::uint64_t(rank) << 40) + 4 * i + std::uint64_t(d);
        x[d] = static_cast<T>(box.lower[d] +
                              box.width[d] * (double(mix(number) >> 44) + 0.5) / (1 << 20));
      }
      return x;
    }
    [[nodiscard]] static T charge(int rank, std::size_t i)
    {
      return static_cast<T>(0.1 + 0.9 * double(mix((std::uint64_t(rank) << 40) + 4 * i + 3) >> 40) /
                                      (1 << 24));
    }
    [[nodiscard]] std::array<int, 3> leaf(std::array<T, 3> const& x) const
    {
      std::array<int, 3> index;
      for (int d = 0; d < 3; ++d)
        index[d] = static_cast<int>(double(x[d]) / root_.width() * (1 << level_));
      return index;
    }

  private:
    struct place
    {
      std::array<double, 3> lower{}, width{1, 1, 1};
    };
    /// splitmix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014)
    static std::uint64_t mix(std::uint64_t z)
    {
      z += 0x9e3779b97f4a7c15u;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      return z ^ (z >> 31);
    }

    int ranks_, level_ = 0;
    std::size_t per_rank_ = 0;
    std::vector<place> boxes_;
    nf::cube<3> root_;
  };

  /// The points of ranks [first, last).
  struct problem
  {
    std::array<std::vector<T>, 3> x;
    std::vector<T> q, phi;

    problem(domain const& of, int first, int last)
    {
      for (int r = first; r < last; ++r)
        for (std::size_t i = 0; i < of.per_rank(); ++i)
        {
          auto const at = of.point(r, i);
          for (int d = 0; d < 3; ++d) x[d].push_back(at[d]);
          q.push_back(of.charge(r, i));
        }
      phi.resize(q.size());
    }
    [[nodiscard]] nf::soa<T const, 3> positions() const
    {
      return {{x[0].data(), x[1].data(), x[2].data()}, q.size()};
    }
  };

  /// Compares results with plain sums over the points of ranks [first, last).
  void check(domain const& of, problem const& found, int first, int last, char const* what)
  {
    constexpr std::size_t n_samples = 10;
    std::size_t const n = found.q.size();
    std::array<bench::plain_sum<K>, n_samples> sums;
    for (int r = first; r < last; ++r)
      for (std::size_t j = 0; j < of.per_rank(); ++j)
      {
        auto const y = of.point(r, j);
        auto const there = of.leaf(y);
        T const q = of.charge(r, j);
        for (std::size_t s = 0; s < n_samples; ++s)
        {
          std::size_t const i = (2 * s + 1) * n / (2 * n_samples);
          std::array<T, 3> const x{found.x[0][i], found.x[1][i], found.x[2][i]};
          auto const here = of.leaf(x);
          bool touches = true;
          for (int d = 0; d < 3; ++d) touches &= std::abs(here[d] - there[d]) <= 1;
          // points with the place of the target add nothing, itself included
          if (touches)
            sums[s].add(K{}, x, bench::no_self, nf::soa<T const, 3>{{&y[0], &y[1], &y[2]}, 1},
                        nf::soa<T const, 1>{{&q}, 1}, {0, 1});
        }
      }
    for (std::size_t s = 0; s < n_samples; ++s)
      if (double const error = sums[s].error(0, found.phi[(2 * s + 1) * n / (2 * n_samples)]);
          !(error <= bench::tolerance<T>()))
        throw nf::error(std::string(what) + ": a relative error of " + std::to_string(error));
  }

  class table
  {
  public:
    table(settings const& with, int ranks, int workers) : with_(with)
    {
      common_ =
          ", \"ranks\": " + std::to_string(ranks) + ", \"workers\": " + std::to_string(workers);
      prefix_ = std::string("starpu_mpi/") + (with.is_weak ? "weak" : "strong") +
                "/one_over_r/3d/f32/" + std::to_string(with.points) +
                (with.on_gpus ? "/gpus" : "") + (with.one_process ? "/one_process:" : "/ranks:") +
                std::to_string(ranks) + "/";
      MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    }

    /// Repetitions of f, whose time is that of the slowest rank, or the mean of ranks.
    template <class F>
    void time(std::string const& row, int repetitions, bool is_mean, F const& f)
    {
      for (int i = 0; i < repetitions; ++i)
      {
        MPI_Barrier(MPI_COMM_WORLD);
        double const begin = seconds(), cpu_begin = bench::seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        f();
        double const mine = seconds() - begin,
                     cpu = bench::seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin;
        double result = 0;
        int size = 1;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, is_mean ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD);
        times_.push_back({row, is_mean ? result / size : result, cpu});
      }
    }
    void add(std::string const& row, std::string const& counter, double value)
    {
      counters_.push_back({row, ", \"" + counter + "\": " + std::to_string(value)});
    }

    void write() const
    {
      if (rank_ > 0 || with_.out.empty()) return;
      std::ofstream out(with_.out);
      out << "{\n  \"context\": {\"executable\": \"starpu_mpi_bench\", \"commit\": "
             "\"" NEARFIELD_COMMIT "\", \"starpu\": \""
          << nf::starpu::version() << '"';
      for (std::string const& entry : with_.context)
        out << ", \"" << entry.substr(0, entry.find('=')) << "\": \""
            << entry.substr(entry.find('=') + 1) << '"';
      out << "},\n  \"benchmarks\": [";
      char const* separator = "\n";
      for (auto const& [row, time, cpu] : times_)
      {
        out << separator << R"(    {"name": ")" << prefix_ << row << R"(", "run_name": ")"
            << prefix_ << row << R"(", "run_type": "iteration", "iterations": 1, "real_time": )"
            << 1e3 * time << ", \"cpu_time\": " << 1e3 * cpu << R"(, "time_unit": "ms")" << common_;
        for (auto const& [of, counter] : counters_)
          if (row == of) out << counter;
        out << '}';
        separator = ",\n";
      }
      out << "\n  ]\n}\n";
      if (!out.flush()) throw nf::error("cannot write " + with_.out);
    }

  private:
    settings const& with_;
    int rank_ = 0;
    std::string common_, prefix_;
    struct repetition
    {
      std::string row;
      double time, cpu; ///< cpu: of all threads of rank 0
    };
    std::vector<repetition> times_;
    std::vector<std::pair<std::string, std::string>> counters_;
  };

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

  template <class Step>
  void once(Step& step)
  {
    step.submit();
    step.wait();
  }

  /// Steps with new inputs and steps without, in turns.
  template <class Step>
  void time_steps(table& rows, std::string const& name, Step& step, double pairs, int repetitions,
                  bool is_mean)
  {
    for (int i = 0; i < repetitions; ++i)
    {
      rows.time(name + "new_inputs", 1, is_mean,
                [&]
                {
                  step.inputs_changed();
                  once(step);
                });
      rows.time(name + "standing", 1, is_mean, [&] { once(step); });
    }
    for (char const* row : {"new_inputs", "standing"}) rows.add(name + row, "pairs", pairs);
  }

  template <class Step>
  void without_delivery(table& rows, Step& step, double pairs, int repetitions)
  {
    for (int i = 0; i < repetitions; ++i)
    {
      rows.time("resident_new_inputs", 1, false,
                [&]
                {
                  step.inputs_changed();
                  once(step);
                });
      rows.time("resident", 1, false, [&] { once(step); });
    }
    for (char const* row : {"resident_new_inputs", "resident"}) rows.add(row, "pairs", pairs);
  }

  /// Steps whose results stay on the GPU, and then points that move.
  void time_resident(nf::starpu::runtime const& starpu, problem& mine, domain const& all,
                     nf::starpu_mpi::distribution_options const& how, table& rows, double pairs,
                     int repetitions)
  {
    nf::starpu_mpi::distributed_tree<T, 3> tree(MPI_COMM_WORLD, mine.positions(), all.tree(), how);
    nf::starpu_mpi::near_field step{
        starpu,
        tree,
        K{},
        nf::soa{mine.q},
        nf::soa{mine.phi},
        {.delivery = nf::starpu::delivery_choice::on_request, .first_tag = 100}};
    once(step);
    std::fill(mine.phi.begin(), mine.phi.end(), T(0));
    step.deliver();
    step.wait();
    check(all, mine, 0, all.ranks(), "near field on GPUs");
    without_delivery(rows, step, pairs, repetitions);
    for (int i = 0; i < repetitions / 3 + 1; ++i)
    {
      for (T& x : mine.x[0]) x = std::nextafter(x, i % 2 ? T(0) : T(1e3));
      rows.time("moved", 1, false,
                [&]
                {
                  tree.rebuild(mine.positions(), step.seconds());
                  step.positions_changed();
                  once(step);
                });
    }
    if (!(step.seconds() > 0)) throw nf::error("seconds: found none after a step");
  }

  void run_ranks(settings const& with, nf::starpu::runtime const& starpu, domain const& all,
                 table& rows)
  {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    problem mine(all, rank, rank + 1);
    nf::starpu::cpu_workers on(starpu);
    nf::starpu_mpi::distribution_options const how{.threads = on.workers() > 1 ? &on : nullptr};
    using tree = nf::starpu_mpi::distributed_tree<T, 3>;
    rows.time("cut", with.repetitions / 3 + 1, false,
              [&] { tree const again(MPI_COMM_WORLD, mine.positions(), all.tree(), how); });
    tree const cut(MPI_COMM_WORLD, mine.positions(), all.tree(), how);
    double const pairs = total(static_cast<double>(cut.interaction_count()));
    {
      nf::starpu_mpi::near_field step{starpu, cut, K{}, nf::soa{mine.q}, nf::soa{mine.phi}};
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
      time_steps(rows, "", step, pairs, with.repetitions, false);
    }
    if (with.on_gpus) return time_resident(starpu, mine, all, how, rows, pairs, with.repetitions);
    if (!with.is_weak) return;
    tree const own(MPI_COMM_SELF, mine.positions(), all.tree(), how);
    nf::starpu_mpi::near_field alone{starpu, own, K{}, nf::soa{mine.q}, nf::soa{mine.phi}};
    once(alone);
    check(all, mine, rank, rank + 1, "near field of one rank");
    time_steps(rows, "independent/", alone, total(static_cast<double>(own.interaction_count())),
               with.repetitions, true);
  }

  void run_one_process(settings const& with, nf::starpu::runtime const& starpu, domain const& all,
                       table& rows)
  {
    problem mine(all, 0, all.ranks());
    nf::starpu::cpu_workers on(starpu);
    rows.time("cut", with.repetitions / 3 + 1, false,
              [&] { (void)nf::build_tree(on, mine.positions(), all.tree()); });
    auto const tree = nf::build_tree(on, mine.positions(), all.tree());
    auto const groups = with.on_gpus ? nf::group_leaves(starpu, tree) : nf::group_leaves(tree);
    nf::starpu::near_field step{starpu,           groups,          K{},
                                mine.positions(), nf::soa{mine.q}, nf::soa{mine.phi}};
    once(step);
    check(all, mine, 0, all.ranks(), "near field of one process");
    time_steps(rows, "", step, static_cast<double>(tree.interaction_count()), with.repetitions,
               false);
    if (!with.on_gpus) return;
    nf::starpu::near_field resident{
        starpu,
        groups,
        K{},
        mine.positions(),
        nf::soa{mine.q},
        nf::soa{mine.phi},
        {.backend = nf::backend::cuda, .delivery = nf::starpu::delivery_choice::on_request}};
    once(resident);
    without_delivery(rows, resident, static_cast<double>(tree.interaction_count()),
                     with.repetitions);
  }

  settings read(int argc, char** argv)
  {
    settings with;
    for (int i = 1; i < argc; ++i)
    {
      std::string_view const name = argv[i];
      if (name == "--gpus")
      {
        with.on_gpus = true;
        continue;
      }
      if (i + 1 == argc)
        throw nf::error(std::string(name) + " lacks a value; the first lines of "
                                            "bench/starpu_mpi_bench.cpp name the options");
      std::string const value = argv[++i];
      if (name == "--weak" || name == "--strong")
      {
        with.is_weak = name == "--weak";
        with.points = std::strtoull(value.c_str(), nullptr, 10);
      }
      else if (name == "--one-process")
        with.one_process = std::atoi(value.c_str());
      else if (name == "--repetitions")
        with.repetitions = std::atoi(value.c_str());
      else if (name == "--out")
        with.out = value;
      else if (name == "--context")
        with.context.push_back(value);
      else
        throw nf::error(
            "no option is named " + std::string(name) +
            "; take --weak, --strong, --one-process, --gpus, --repetitions, --out, --context");
    }
    if (with.points == 0) throw nf::error("--weak or --strong: say how many points");
    return with;
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
        nf::starpu::runtime_options workers{.gpus = 0};
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
