// nearfield in your task graph: a small fast multipole method with the program's own StarPU, arrays, boxes,
// handles and codelets. One level: boxes that touch interact directly, by nearfield; for all others a box is
// replaced by its charge at the centre of charge.

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/p2p.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

namespace nf = nearfield;
using nf::starpu::handle;

namespace
{
  constexpr int boxes_per_side = 4, n_boxes = boxes_per_side * boxes_per_side * boxes_per_side;
  constexpr auto commute = static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE);

  /// A box as seen by distant boxes.
  struct multipole
  {
    double charge = 0;
    std::array<double, 3> centre{}; ///< of charge
  };

  /// The effect of distant boxes on a box: their potential at its middle.
  struct local
  {
    double potential = 0;
    std::array<double, 3> middle{};
  };

  /// A box: points [first, last) of the arrays, and the StarPU handles of its slices. nearfield's `handle`
  /// unregisters itself, but any starpu_data_handle_t will do.
  struct box
  {
    std::array<int, 3> place{};
    std::size_t first = 0, last = 0;
    multipole out;
    local in;
    handle x, y, z, q, phi, multipole_data, local_data;
  };

  bool touch(box const& a, box const& b)
  {
    for (int d = 0; d < 3; ++d)
      if (std::abs(a.place[d] - b.place[d]) > 1) return false;
    return true;
  }

  double inverse_distance(std::array<double, 3> const& a, std::array<double, 3> const& b)
  {
    return 1 / std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  }

  template <class T>
  T* values(void* buffer)
  {
    return reinterpret_cast<T*>(STARPU_VECTOR_GET_PTR(buffer));
  }

  multipole multipole_of(double const* x, double const* y, double const* z, double const* q,
                         std::size_t n)
  {
    multipole m;
    for (std::size_t i = 0; i < n; ++i)
    {
      m.charge += q[i];
      m.centre[0] += q[i] * x[i], m.centre[1] += q[i] * y[i], m.centre[2] += q[i] * z[i];
    }
    for (double& c : m.centre) c /= m.charge; // charges are positive here
    return m;
  }

  /// x, y, z, q -> multipole
  void p2m(void** buffers, void*)
  {
    *values<multipole>(buffers[4]) = multipole_of(
        values<double>(buffers[0]), values<double>(buffers[1]), values<double>(buffers[2]),
        values<double>(buffers[3]), STARPU_VECTOR_GET_NX(buffers[0]));
  }

  /// multipole of a distant box -> local +=
  void m2l(void** buffers, void*)
  {
    auto const& from = *values<multipole>(buffers[0]);
    auto& to = *values<local>(buffers[1]);
    to.potential += from.charge * inverse_distance(from.centre, to.middle);
  }

  /// local -> phi +=, an output to which nearfield's tasks add too
  void l2p(void** buffers, void*)
  {
    double const potential = values<local>(buffers[0])->potential;
    double* const phi = values<double>(buffers[1]);
    for (std::size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[1]); ++i) phi[i] += potential;
  }

  starpu_codelet codelet(char const* name, starpu_cpu_func_t function,
                         std::initializer_list<starpu_data_access_mode> modes)
  {
    starpu_codelet made;
    starpu_codelet_init(&made);
    made.name = name;
    made.cpu_funcs[0] = function;
    made.nbuffers = static_cast<int>(modes.size());
    std::copy(modes.begin(), modes.end(), made.modes);
    return made;
  }

  struct points
  {
    std::vector<double> x, y, z, q, phi;
  };

  /// Points in the unit cube, sorted by box.
  points make_points(std::size_t n, std::vector<box>& boxes)
  {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<std::array<double, 4>> all(n);
    for (auto& p : all) p = {uniform(random), uniform(random), uniform(random), uniform(random)};
    auto const place = [](std::array<double, 4> const& p, int d)
    {
      return static_cast<int>(p[static_cast<std::size_t>(d)] * boxes_per_side);
    };
    auto const number = [&](std::array<double, 4> const& p)
    {
      return (place(p, 0) * boxes_per_side + place(p, 1)) * boxes_per_side + place(p, 2);
    };
    std::ranges::sort(all, {}, number);

    points sorted;
    for (auto const& [x, y, z, q] : all)
      sorted.x.push_back(x), sorted.y.push_back(y), sorted.z.push_back(z), sorted.q.push_back(q);
    sorted.phi.resize(n);
    for (int b = 0; b < n_boxes; ++b)
    {
      auto const first = std::ranges::lower_bound(all, b, {}, number);
      auto const last = std::ranges::lower_bound(all, b + 1, {}, number);
      box& one = boxes.emplace_back();
      one.place = {b / (boxes_per_side * boxes_per_side), b / boxes_per_side % boxes_per_side,
                   b % boxes_per_side};
      one.first = static_cast<std::size_t>(first - all.begin());
      one.last = static_cast<std::size_t>(last - all.begin());
      for (int d = 0; d < 3; ++d) one.in.middle[d] = (one.place[d] + 0.5) / boxes_per_side;
    }
    return sorted;
  }

  /// The whole graph, from registration to the last result. `boxes` must not be reallocated meanwhile: its
  /// elements are registered too.
  void compute(points& all, std::vector<box>& boxes)
  {
    starpu_codelet p2m_codelet =
        codelet("p2m", &p2m, {STARPU_R, STARPU_R, STARPU_R, STARPU_R, STARPU_W});
    starpu_codelet m2l_codelet = codelet("m2l", &m2l, {STARPU_R, commute});
    starpu_codelet l2p_codelet = codelet("l2p", &l2p, {STARPU_R, commute});
    auto const insert = [](auto... arguments)
    {
      nf::starpu::check(starpu_task_insert(arguments..., 0), "starpu_task_insert");
    };

    // A mutual task adds to two boxes at once. With an arbiter it acquires both together, and holds
    // neither while it waits.
    starpu_arbiter_t const arbiter = starpu_arbiter_create();
    for (box& b : boxes)
    {
      auto const slice = [&](std::vector<double>& column, starpu_arbiter_t shared = nullptr)
      {
        return handle::of(column.data() + b.first, b.last - b.first, shared);
      };
      b.x = slice(all.x), b.y = slice(all.y), b.z = slice(all.z), b.q = slice(all.q);
      b.phi = slice(all.phi, arbiter);
      b.multipole_data = handle::of(&b.out, 1);
      b.local_data = handle::of(&b.in, 1);
    }

    // .get(): arguments of C variadic functions are not converted
    int const early = starpu_sched_get_max_priority(); // other tasks wait for these
    for (box& b : boxes)
      insert(&p2m_codelet, STARPU_R, b.x.get(), STARPU_R, b.y.get(), STARPU_R, b.z.get(), STARPU_R,
             b.q.get(), STARPU_W, b.multipole_data.get(), STARPU_PRIORITY, early);

    nf::starpu::p2p<nf::one_over_r<>, double> p2p;
    for (std::size_t t = 0; t < boxes.size(); ++t)
    {
      box& to = boxes[t];
      p2p.insert_inner({.x = {to.x, to.y, to.z}, .q = {to.q}, .out = {to.phi}});
      for (std::size_t s = 0; s < boxes.size(); ++s)
      {
        box& from = boxes[s];
        if (!touch(to, from))
          insert(&m2l_codelet, STARPU_R, from.multipole_data.get(), commute, to.local_data.get());
        else if (s < t) // both directions at once
          p2p.insert_outer_mutual({.x = {to.x, to.y, to.z}, .q = {to.q}, .out = {to.phi}},
                                  {.x = {from.x, from.y, from.z}, .q = {from.q}, .out = {from.phi}},
                                  {.name = "near"});
      }
      insert(&l2p_codelet, STARPU_R, to.local_data.get(), commute, to.phi.get());
    }
    p2p.wait(); // waits for all tasks of the process

    // unregister before destroying the arbiter; this brings the results back to the arrays
    for (box& b : boxes)
      for (handle* data : {&b.x, &b.y, &b.z, &b.q, &b.phi, &b.multipole_data, &b.local_data})
        *data = handle();
    starpu_arbiter_destroy(arbiter);
  }

  /// The same sums without tasks, box by box on this thread.
  std::vector<double> expected_potential(points const& all, std::vector<box> const& boxes)
  {
    std::vector<double> phi(all.x.size());
    for (box const& to : boxes)
      for (box const& from : boxes)
      {
        multipole const m = multipole_of(all.x.data() + from.first, all.y.data() + from.first,
                                         all.z.data() + from.first, all.q.data() + from.first,
                                         from.last - from.first);
        double const far = m.charge * inverse_distance(m.centre, to.in.middle);
        for (std::size_t i = to.first; i < to.last; ++i)
          if (!touch(to, from))
            phi[i] += far;
          else
            for (std::size_t j = from.first; j < from.last; ++j)
              if (j != i)
                phi[i] += all.q[j] * inverse_distance({all.x[i], all.y[i], all.z[i]},
                                                      {all.x[j], all.y[j], all.z[j]});
      }
    return phi;
  }

  /// Root mean square of (a - b) / b.
  double relative_difference(std::vector<double> const& a, std::vector<double> const& b)
  {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow((a[i] - b[i]) / b[i], 2);
    return std::sqrt(sum / static_cast<double>(a.size()));
  }
}

int main()
{
  nf::starpu::check(starpu_init(nullptr), "starpu_init"); // the program's own
  std::vector<box> boxes;
  points all = make_points(10000, boxes);
  compute(all, boxes);
  starpu_shutdown();

  std::vector<double> direct(all.x.size());
  nf::p2p_inner(nf::simd, nf::one_over_r<>{}, nf::soa{all.x, all.y, all.z}, nf::soa{all.q},
                nf::soa{direct});
  double const of_tasks = relative_difference(all.phi, expected_potential(all, boxes));
  double const of_method = relative_difference(all.phi, direct);
  std::cout << "relative difference from the same sums without tasks: " << of_tasks
            << ", from all pairs: " << of_method << "\n";
  return of_tasks < 1e-13 && of_method < 0.1 ? 0 : 1;
}
