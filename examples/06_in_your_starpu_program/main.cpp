// A StarPU program with its own handles and codelets, and nearfield's P2P tasks in its graph: the program that
// docs/tutorial.md builds, and prints whole.

// [includes]
// main.cpp
#include "screened.hpp"

#include <nearfield/starpu/p2p.hpp>

#include <starpu.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>
#include <vector>
// [includes]

// [box]
namespace
{
  struct box
  {
    std::vector<double> x, y, z, q, phi;
    starpu_data_handle_t hx, hy, hz, hq, hphi;
  };

  /// A vector handle over a column that the program owns.
  starpu_data_handle_t register_column(std::vector<double>& values)
  {
    starpu_data_handle_t handle = nullptr;
    auto const address = reinterpret_cast<std::uintptr_t>(values.data());
    auto const size = static_cast<std::uint32_t>(values.size());
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, address, size, sizeof(double));
    return handle;
  }

  /// n points in the unit cube from x = left on; phi is 0.
  box make_box(std::size_t n, double left)
  {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(0, 1);
    box made;
    for (auto* column : {&made.x, &made.y, &made.z, &made.q})
    {
      column->resize(n);
      std::ranges::generate(*column, [&] { return uniform(random); });
    }
    for (double& x : made.x) x += left;
    made.phi.resize(n);
    made.hx = register_column(made.x);
    made.hy = register_column(made.y);
    made.hz = register_column(made.z);
    made.hq = register_column(made.q);
    made.hphi = register_column(made.phi);
    return made;
  }
  // [box]

  // [far_field]
  /// phi_i += 1, in place of a far field: the program's own task adds to the same output.
  void add_far_field(void** buffers, void*)
  {
    auto* const phi = reinterpret_cast<double*>(STARPU_VECTOR_GET_PTR(buffers[0]));
    for (std::uint32_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); ++i) phi[i] += 1;
  }

  starpu_codelet far_field_codelet()
  {
    starpu_codelet made;
    starpu_codelet_init(&made);
    made.cpu_funcs[0] = &add_far_field;
    made.nbuffers = 1;
    made.modes[0] = static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE);
    return made;
  }
  // [far_field]

  // [expected]
  /// The potential at point i of `at`, by plain loops over both boxes.
  double expected(screened const& k, box const& at, box const& other, std::size_t i)
  {
    double phi = 1;
    for (box const* from : {&at, &other})
      for (std::size_t j = 0; j < from->x.size(); ++j)
      {
        if (from == &at && j == i) continue;
        double const r =
            std::hypot(at.x[i] - from->x[j], at.y[i] - from->y[j], at.z[i] - from->z[j]);
        phi += from->q[j] * std::exp(-r / k.length) / r;
      }
    return phi;
  }
}
// [expected]

// [main]
int main()
{
  if (starpu_init(nullptr) != 0) return 1;
  box a = make_box(1000, 0), b = make_box(800, 1);
  screened const k{.length = 0.5};
  starpu_codelet far_field = far_field_codelet();
  // [main]

  // [arbiter]
  starpu_arbiter_t const arbiter = starpu_arbiter_create();
  starpu_data_assign_arbiter(a.hphi, arbiter);
  starpu_data_assign_arbiter(b.hphi, arbiter);
  // [arbiter]

  // clang-format off
  // [tasks]
  {
    nearfield::starpu::p2p<screened, double> p2p(k);
    nearfield::starpu::box_handles const of_a{.x = {a.hx, a.hy, a.hz}, .q = {a.hq}, .out = {a.hphi}};
    nearfield::starpu::box_handles const of_b{.x = {b.hx, b.hy, b.hz}, .q = {b.hq}, .out = {b.hphi}};
    p2p.insert_inner(of_a);
    p2p.insert_inner(of_b);
    p2p.insert_outer_mutual(of_a, of_b);
    // [tasks]
    // clang-format on

    // [far_field_tasks]
    for (box* each : {&a, &b})
      starpu_task_insert(&far_field, STARPU_RW | STARPU_COMMUTE, each->hphi, 0);
    // [far_field_tasks]

    // [wait]
    starpu_task_wait_for_all();
    p2p.rethrow();
    for (auto const& [worker, implementation, tasks] : p2p.statistics())
      std::cout << worker << ": " << tasks << " P2P tasks, " << implementation << "\n";
  }
  for (box* each : {&a, &b})
    for (starpu_data_handle_t handle : {each->hx, each->hy, each->hz, each->hq, each->hphi})
      starpu_data_unregister(handle);
  starpu_arbiter_destroy(arbiter);
  starpu_shutdown();
  // [wait]

  // [check]
  double error = 0;
  for (std::size_t i = 0; i < a.x.size(); ++i)
    error = std::max(error, std::abs(a.phi[i] / expected(k, a, b, i) - 1));
  for (std::size_t i = 0; i < b.x.size(); ++i)
    error = std::max(error, std::abs(b.phi[i] / expected(k, b, a, i) - 1));
  std::cout << "largest relative difference from plain loops: " << error << "\n";
  return error < 1e-12 ? 0 : 1;
}
// [check]
