// Points that move over the ranks of MPI, in a program with its own MPI, StarPU, communicator and messages.
//
//     mpirun -np 4 example_08_over_ranks [POINTS OF A RANK [STEPS]]        300 points, 20 steps
//
// A cube of equal charges turns and flies apart. Each rank keeps every so many of the points, wherever they go.

#include <nearfield/core/error.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <starpu_mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace nf = nearfield;

namespace
{
  struct charges
  {
    std::array<std::vector<double>, 3> x, v, gradient; // gradient of the potential
    std::vector<double> q, potential;                  // the mass is 1 for a charge of 1
  };

  charges part_of_cube(std::size_t rank, std::size_t n_ranks, std::size_t n)
  {
    charges made;
    auto const all = static_cast<double>(n * n_ranks);
    auto const side = static_cast<std::size_t>(std::ceil(std::cbrt(all)));
    for (std::size_t i = rank; i < n * n_ranks; i += n_ranks)
    {
      std::array<std::size_t, 3> const place{i % side, i / side % side, i / side / side};
      for (std::size_t d = 0; d < 3; ++d)
        made.x[d].push_back((static_cast<double>(place[d]) + 0.5) / static_cast<double>(side) -
                            0.5);
      made.v[0].push_back(-2 * made.x[1].back());
      made.v[1].push_back(2 * made.x[0].back());
      made.v[2].push_back(0);
    }
    made.q.assign(made.x[0].size(), 1 / all);
    made.potential.resize(made.q.size());
    for (auto& column : made.gradient) column.resize(made.q.size());
    return made;
  }

  void add(double h, std::array<std::vector<double>, 3> const& rates,
           std::array<std::vector<double>, 3>& to)
  {
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t i = 0; i < to[d].size(); ++i) to[d][i] += h * rates[d][i];
  }

  double energy(charges const& c)
  {
    double sum = 0;
    for (std::size_t i = 0; i < c.q.size(); ++i)
    {
      for (auto const& v : c.v) sum += c.q[i] * v[i] * v[i] / 2;
      sum += c.q[i] * c.potential[i] / 2;
    }
    return sum;
  }

  double momentum(charges const& c)
  {
    double sum = 0;
    for (std::size_t i = 0; i < c.q.size(); ++i) sum += c.q[i] * (c.v[0][i] + c.v[1][i]);
    return sum;
  }

  // The sum over the ranks, on rank 0, by messages of the program: tags 0 ... number of ranks - 1.
  double sum_on_first(MPI_Comm ranks, double mine)
  {
    int rank = 0, size = 1;
    MPI_Comm_rank(ranks, &rank);
    MPI_Comm_size(ranks, &size);
    std::vector<double> values(static_cast<std::size_t>(size), 0.);
    std::vector<starpu_data_handle_t> handles;
    for (int r = 1; r < size; ++r)
    {
      if (rank != 0 && rank != r) continue;
      double& value = values[static_cast<std::size_t>(r)];
      if (rank == r) value = mine;
      starpu_variable_data_register(&handles.emplace_back(), STARPU_MAIN_RAM,
                                    reinterpret_cast<std::uintptr_t>(&value), sizeof(value));
      if (rank == 0)
        starpu_mpi_irecv_detached(handles.back(), r, r, ranks, nullptr, nullptr);
      else
        starpu_mpi_isend_detached(handles.back(), 0, r, ranks, nullptr, nullptr);
    }
    for (starpu_data_handle_t const handle : handles) starpu_data_unregister(handle); // waits
    double sum = rank == 0 ? mine : 0;
    if (rank == 0)
      for (double const value : values) sum += value;
    return sum;
  }

  bool fly_apart(MPI_Comm ranks, std::size_t n, int n_steps)
  {
    int rank = 0, size = 1;
    MPI_Comm_rank(ranks, &rank);
    MPI_Comm_size(ranks, &size);
    charges c = part_of_cube(static_cast<std::size_t>(rank), static_cast<std::size_t>(size), n);
    double const dt = 0.02;

    // clang-format off
    // [step]
    nf::starpu::runtime const starpu; // StarPU runs already: a reference to it
    nf::soa<double const, 3> const x{c.x[0], c.x[1], c.x[2]};
    // the boxes of level 1 all touch, so every point meets all others; with .max_leaf_size those near it
    nf::starpu_mpi::distributed_tree tree(ranks, x, {.level = 1});
    nf::starpu_mpi::near_field step{starpu, nf::val_grad_one_over_r<>{}, tree, nf::soa{c.q},
                                    nf::soa{c.potential, c.gradient[0], c.gradient[1], c.gradient[2]},
                                    {.first_tag = size}}; // the program has those before
    // [step]
    // clang-format on
    step.submit();
    step.wait();
    double const first = sum_on_first(ranks, energy(c));
    double const start = sum_on_first(ranks, momentum(c));
    double change = 0;
    for (int t = 0; t < n_steps; ++t)
    {
      add(-dt / 2, c.gradient, c.v);
      add(dt, c.v, c.x);
      tree.rebuild(x, step.seconds());
      step.positions_changed();
      step.submit();
      // messages of the program and of the step are under way at once
      change = std::max(change, std::abs(sum_on_first(ranks, momentum(c)) - start));
      step.wait();
      add(-dt / 2, c.gradient, c.v);
    }
    double const drift = std::abs(sum_on_first(ranks, energy(c)) / first - 1);
    if (rank > 0) return true;
    std::cout << size << " ranks, " << tree.total_points() << " points, " << n_steps
              << " steps: energy " << first << ", relative drift " << drift
              << ", largest change of momentum " << change << "\n";
    return n_steps < 1 || (drift > 0 && drift < 1e-3 && change < 1e-12);
  }
}

int main(int argc, char** argv)
{
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) return 1;
  MPI_Comm ranks;
  MPI_Comm_dup(MPI_COMM_WORLD, &ranks);
  nf::starpu_mpi::end_together(
      ranks, "example_08_over_ranks",
      [&]
      {
        std::size_t const n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 300;
        int const n_steps = argc > 2 ? std::atoi(argv[2]) : 20;
        starpu_conf conf;
        starpu_conf_init(&conf);
        conf.sched_policy = nf::starpu::yielding_policy(); // here ranks share cores
        if (starpu_init(&conf) != 0) throw nf::error("StarPU did not start; see its message");
        starpu_mpi_init_comm(&argc, &argv, 0, ranks);
        bool const is_good = fly_apart(ranks, n, n_steps);
        starpu_mpi_shutdown();
        starpu_shutdown();
        if (!is_good) throw nf::error("the energy or the momentum is not kept; take smaller steps");
      });
  MPI_Comm_free(&ranks);
  MPI_Finalize();
  return 0;
}
