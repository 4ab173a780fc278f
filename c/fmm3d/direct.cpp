// FMM3D's direct sums (version 2, github.com/flatironinstitute/FMM3D) by nearfield: the same names, arguments and results.
// All add to their outputs, leave out pairs with |r| < thresh, and have the factor 1 / (4 pi), that of a velocity in Stokes
// flow 1 / (8 pi). A Fortran array a(nd, m, n) has element (k, c, i) at a[k + nd (c + m i)].

#include <nearfield/nearfield.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

namespace
{
  using fortran_int = int;
  using complex = std::complex<double>;
  using vec3 = std::array<double, 3>;

  constexpr double quarter_pi_inverse = 0.25 * std::numbers::inv_pi;

  /// The points of a call.
  struct points
  {
    double const* sources;
    std::int64_t n_sources;
    double const* targets;
    std::int64_t n_targets;
    double thresh;
    int nd; ///< right-hand sides

    [[nodiscard]] vec3 between(std::int64_t i, std::int64_t j) const
    {
      vec3 r;
      for (int a = 0; a < 3; ++a) r[a] = targets[3 * i + a] - sources[3 * j + a];
      return r;
    }
  };

  double norm(vec3 const& r)
  {
    return std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
  }
  template <class V>
  V dot(vec3 const& r, V const* d, int stride)
  {
    return r[0] * d[0] + r[1] * d[stride] + r[2] * d[2 * stride];
  }

  /// Calls f(i, j, r, |r|) for all pairs that count.
  template <class F>
  void for_all_pairs(points const& of, F const& f)
  {
    for (std::int64_t i = 0; i < of.n_targets; ++i)
      for (std::int64_t j = 0; j < of.n_sources; ++j)
      {
        vec3 const r = of.between(i, j);
        double const distance = norm(r);
        if (distance >= of.thresh && distance > 0) f(i, j, r, distance);
      }
  }

  struct destroy
  {
    void operator()(nf_cells* cells) const { nf_cells_destroy(cells); }
    void operator()(nf_interaction* k) const { nf_interaction_destroy(k); }
  };
  using interaction = std::unique_ptr<nf_interaction, destroy>;

  /// Null if this build has left it out.
  interaction make_interaction(char const* name, double const* wave_number = nullptr)
  {
    char const* const parameter = "k";
    nf_interaction* k = nullptr;
    nf_interaction_create(name, 3, wave_number != nullptr, &parameter, wave_number, &k);
    return interaction(k);
  }

  /// Whether there may be pairs with 0 < |r| < thresh, which nearfield's sums would count.
  bool has_pairs_below_thresh(points const& of)
  {
    if (of.n_sources == 0 || of.n_targets == 0 || !(of.thresh > 0)) return false;
    // leaves that are next to each other are told apart here
    for (int a = 0; a < 3; ++a)
    {
      auto const range = [&](double const* x, std::int64_t n)
      {
        double least = x[a], most = x[a];
        for (std::int64_t i = 1; i < n; ++i)
        {
          least = std::min(least, x[3 * i + a]);
          most = std::max(most, x[3 * i + a]);
        }
        return std::array{least, most};
      };
      auto const s = range(of.sources, of.n_sources), t = range(of.targets, of.n_targets);
      if (s[0] - t[1] >= of.thresh || t[0] - s[1] >= of.thresh) return false;
    }
    nf_columns const y = nf_rows(nf_float64, of.sources, of.n_sources, 3);
    nf_cells* made = nullptr;
    if (nf_cells_create(nullptr, nf_rows(nf_float64, of.targets, of.n_targets, 3), &y, of.thresh,
                        nullptr, &made) != nf_ok)
      return true; // thresh is too small for a search, or a point is not finite: test each pair
    std::unique_ptr<nf_cells, destroy> const cells(made);
    std::int64_t n = 0;
    if (nf_count_pairs(nullptr, cells.get(), nf_full, &n, nullptr) != nf_ok) return true;
    std::vector<double> r2(static_cast<std::size_t>(n));
    nf_pair_columns to{};
    to.size = sizeof to;
    to.room = n;
    to.r2 = r2.data();
    return nf_find_pairs(nullptr, cells.get(), &to, &n) != nf_ok ||
           std::any_of(r2.begin(), r2.end(), [](double of_pair) { return of_pair > 0; });
  }

  /// Real numbers of all right-hand sides: component c of right-hand side k has `parts` numbers at
  /// first + parts (k + nd c), and the next point follows n_components components later.
  nf_columns columns_of(double const* first, std::int64_t n, int nd, int n_components, int parts,
                        std::vector<void*>& pointers)
  {
    pointers.clear();
    for (int k = 0; k < nd; ++k)
      for (int c = 0; c < n_components; ++c)
        for (int p = 0; p < parts; ++p)
          pointers.push_back(const_cast<double*>(first) + parts * (k + nd * c) + p);
    nf_columns view = nf_apart(nf_float64, pointers.data(), n, parts * nd * n_components);
    view.stride = static_cast<std::int64_t>(parts) * nd * n_components;
    return view;
  }

  /// A part of the outputs of an interaction: component c of the caller's array is its output first + order[c].
  struct part
  {
    double* to;
    int first, n_components;
    std::array<int, 9> order;
    double scale;
  };
  constexpr std::array<int, 9> in_order{0, 1, 2, 3, 4, 5, 6, 7, 8};

  /// Adds the sums of an interaction, whose inputs and outputs have `parts` numbers each. False if it could not.
  bool add_sums(nf_interaction const* k, points const& of, double const* inputs, int n_inputs,
                int n_outputs, int parts, std::vector<part> const& outputs)
  {
    if (k == nullptr) return false;
    std::vector<void*> of_inputs;
    std::size_t const width = static_cast<std::size_t>(parts) * of.nd * n_outputs;
    std::vector<double> sums(width * static_cast<std::size_t>(of.n_targets));
    if (nf_p2p_outer(nullptr, k, nf_rows(nf_float64, of.targets, of.n_targets, 3),
                     nf_rows(nf_float64, of.sources, of.n_sources, 3),
                     columns_of(inputs, of.n_sources, of.nd, n_inputs, parts, of_inputs),
                     nf_rows(nf_float64, sums.data(), of.n_targets, static_cast<int>(width))) !=
        nf_ok)
      return false;
    for (part const& p : outputs)
    {
      std::size_t at = 0;
      for (std::int64_t i = 0; i < of.n_targets; ++i)
        for (int c = 0; c < p.n_components; ++c)
          for (int right = 0; right < of.nd; ++right)
            for (int number = 0; number < parts; ++number)
              p.to[at++] +=
                  p.scale * sums[width * static_cast<std::size_t>(i) +
                                 static_cast<std::size_t>(
                                     parts * (right * n_outputs + p.first + p.order[c]) + number)];
    }
    return true;
  }

  /// A radial potential f(|r|), by f_0 = f and f_(n + 1) = f_n' / |r|: 1 / |r|, or exp(i k |r|) / |r|.
  struct laplace
  {
    using value = double;

    [[nodiscard]] std::array<double, 4> derivatives(double r) const
    {
      double const inverse = 1 / r, square = inverse * inverse;
      double const first = -inverse * square, second = -3 * first * square;
      return {inverse, first, second, -5 * second * square};
    }
  };
  struct helmholtz
  {
    using value = complex;
    complex k;

    [[nodiscard]] std::array<complex, 3> derivatives(double r) const
    {
      complex const ikr = complex(0, 1) * k * r, wave = std::exp(ikr) / r;
      return {wave, (ikr - 1.) * wave / (r * r),
              (3. - 3. * ikr + ikr * ikr) * wave / (r * r * r * r)};
    }
  };

  /// What a call is given and adds to; null where it is not.
  template <class V>
  struct arrays
  {
    V const* charges;
    V const* dipoles;
    V* potential;
    V* gradient;
    V* hessian; ///< xx, yy, zz, xy, xz, yz
  };

  /// The plain loop, for what no kernel of nearfield computes.
  template <class F, class V>
  void add_pair_by_pair(F const& f, points const& of, arrays<V> const& a)
  {
    constexpr std::array<std::array<int, 2>, 6> axes{
        {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};
    int const nd = of.nd;
    for_all_pairs(of,
                  [&](std::int64_t i, std::int64_t j, vec3 const& r, double distance)
                  {
                    auto g = f.derivatives(distance);
                    for (auto& derivative : g) derivative *= quarter_pi_inverse;
                    for (int k = 0; k < nd; ++k)
                    {
                      V const q = a.charges ? a.charges[k + nd * j] : V();
                      std::array<V, 3> d{};
                      if (a.dipoles)
                        for (int c = 0; c < 3; ++c) d[c] = a.dipoles[k + nd * (c + 3 * j)];
                      V const along = dot(r, d.data(), 1);
                      a.potential[k + nd * i] += q * g[0] - along * g[1];
                      if (a.gradient)
                        for (int c = 0; c < 3; ++c)
                          a.gradient[k + nd * (c + 3 * i)] +=
                              q * g[1] * r[c] - (d[c] * g[1] + along * g[2] * r[c]);
                      if constexpr (g.size() == 4)
                        if (a.hessian)
                          for (int c = 0; c < 6; ++c)
                          {
                            auto const [u, v] = axes[c];
                            double const is_same = u == v;
                            a.hessian[k + nd * (c + 6 * i)] +=
                                q * (g[2] * r[u] * r[v] + is_same * g[1]) -
                                (g[2] * (d[u] * r[v] + d[v] * r[u] + is_same * along) +
                                 g[3] * along * r[u] * r[v]);
                          }
                    }
                  });
  }

  points points_of(fortran_int const* nd, double const* sources, fortran_int const* ns,
                   double const* targets, fortran_int const* nt, double const* thresh)
  {
    return {sources, *ns, targets, *nt, *thresh, *nd};
  }

  /// Laplace: one kernel for charges and one for dipoles, and a third for second derivatives.
  void add(laplace const& f, points const& of, arrays<double> const& a)
  {
    static interaction const charge = make_interaction("one_over_r"),
                             charge_gradient = make_interaction("val_grad_one_over_r"),
                             charge_hessian = make_interaction("hess_one_over_r"),
                             dipole = make_interaction("dipole_one_over_r"),
                             dipole_gradient = make_interaction("val_grad_dipole_one_over_r");
    double const scale = quarter_pi_inverse;
    bool const is_close = has_pairs_below_thresh(of);
    auto const with_kernels = [&](arrays<double> const& part_of, nf_interaction const* value,
                                  nf_interaction const* gradient, double const* inputs,
                                  int n_inputs)
    {
      std::vector<part> outputs{{part_of.potential, 0, 1, in_order, scale}};
      if (part_of.gradient) outputs.push_back({part_of.gradient, 1, 3, in_order, scale});
      return add_sums(part_of.gradient ? gradient : value, of, inputs, n_inputs,
                      part_of.gradient ? 4 : 1, 1, outputs);
    };
    if (a.charges)
    {
      arrays<double> const charges{a.charges, nullptr, a.potential, a.gradient, a.hessian};
      bool const is_known = !is_close && (!a.hessian || charge_hessian);
      if (!is_known || !with_kernels(charges, charge.get(), charge_gradient.get(), a.charges, 1))
        add_pair_by_pair(f, of, charges);
      else if (a.hessian)
        add_sums(charge_hessian.get(), of, a.charges, 1, 6, 1,
                 {{a.hessian, 0, 6, {0, 3, 5, 1, 2, 4}, scale}}); // from xx, xy, xz, yy, yz, zz
    }
    if (a.dipoles)
    {
      arrays<double> const dipoles{nullptr, a.dipoles, a.potential, a.gradient, a.hessian};
      if (is_close || a.hessian ||
          !with_kernels(dipoles, dipole.get(), dipole_gradient.get(), a.dipoles, 3))
        add_pair_by_pair(f, of, dipoles);
    }
  }

  double* numbers_of(complex* values)
  {
    return reinterpret_cast<double*>(values);
  }

  /// Helmholtz: kernels have a real wave number, and dipoles no gradient.
  void add(helmholtz const& f, points const& of, arrays<complex> const& a)
  {
    bool const is_plain = f.k.imag() != 0 || has_pairs_below_thresh(of);
    double const k = f.k.real(), scale = quarter_pi_inverse;
    auto const with_kernel = [&](char const* name, complex const* inputs, int n_inputs)
    {
      if (is_plain) return false;
      std::vector<part> outputs{{numbers_of(a.potential), 0, 1, in_order, scale}};
      if (a.gradient) outputs.push_back({numbers_of(a.gradient), 1, 3, in_order, scale});
      return add_sums(make_interaction(name, &k).get(), of, reinterpret_cast<double const*>(inputs),
                      n_inputs, a.gradient ? 4 : 1, 2, outputs);
    };
    if (a.charges && !with_kernel(a.gradient ? "val_grad_helmholtz" : "helmholtz", a.charges, 1))
      add_pair_by_pair(f, of,
                       arrays<complex>{a.charges, nullptr, a.potential, a.gradient, nullptr});
    if (a.dipoles && (a.gradient || !with_kernel("dipole_helmholtz", a.dipoles, 3)))
      add_pair_by_pair(f, of,
                       arrays<complex>{nullptr, a.dipoles, a.potential, a.gradient, nullptr});
  }

  /// The velocity, pressure and velocity gradient of point forces.
  void add_stokeslets(points const& of, double const* forces, double* velocity, double* pressure,
                      double* gradient)
  {
    static interaction const values = make_interaction("stokeslet_pressure"),
                             gradients = make_interaction("grad_stokeslet");
    double const scale = quarter_pi_inverse / 2;
    if (values && gradients && !has_pairs_below_thresh(of) &&
        add_sums(values.get(), of, forces, 3, 4, 1,
                 {{velocity, 0, 3, in_order, scale}, {pressure, 3, 1, in_order, scale}}))
    {
      add_sums(gradients.get(), of, forces, 3, 9, 1, {{gradient, 0, 9, in_order, scale}});
      return;
    }
    int const nd = of.nd;
    for_all_pairs(
        of,
        [&](std::int64_t i, std::int64_t j, vec3 const& r, double distance)
        {
          double const inverse = 1 / distance, square = inverse * inverse;
          for (int k = 0; k < nd; ++k)
          {
            double const* const q = forces + k + 3 * nd * j;
            double const along = dot(r, q, nd) * square;
            pressure[k + nd * i] += 2 * scale * along * inverse;
            for (int a = 0; a < 3; ++a)
            {
              velocity[k + nd * (a + 3 * i)] += scale * inverse * (q[nd * a] + along * r[a]);
              for (int b = 0; b < 3; ++b)
                gradient[k + nd * (b + 3 * (a + 3 * i))] +=
                    scale * inverse *
                    (square * (r[a] * q[nd * b] - q[nd * a] * r[b] - 3 * along * r[a] * r[b]) +
                     (a == b ? along : 0));
            }
          }
        });
  }
}

// FMM3D's routines. Their names say what sources have (c: charges, d: dipoles) and what targets receive (p: potential,
// g: with gradient, h: with Hessian).
#pragma GCC visibility push(default)
extern "C" {
void l3ddirectcp_(fortran_int const* nd, double const* sources, double const* charge,
                  fortran_int const* ns, double const* ztarg, fortran_int const* nt, double* pot,
                  double const* thresh)
{
  add(laplace{}, points_of(nd, sources, ns, ztarg, nt, thresh),
      {charge, nullptr, pot, nullptr, nullptr});
}
void l3ddirectcg_(fortran_int const* nd, double const* sources, double const* charge,
                  fortran_int const* ns, double const* ztarg, fortran_int const* nt, double* pot,
                  double* grad, double const* thresh)
{
  add(laplace{}, points_of(nd, sources, ns, ztarg, nt, thresh),
      {charge, nullptr, pot, grad, nullptr});
}
void l3ddirectch_(fortran_int const* nd, double const* sources, double const* charge,
                  fortran_int const* ns, double const* ztarg, fortran_int const* nt, double* pot,
                  double* grad, double* hess, double const* thresh)
{
  add(laplace{}, points_of(nd, sources, ns, ztarg, nt, thresh), {charge, nullptr, pot, grad, hess});
}
void l3ddirectdp_(fortran_int const* nd, double const* sources, double const* dipvec,
                  fortran_int const* ns, double const* ztarg, fortran_int const* nt, double* pot,
                  double const* thresh)
{
  add(laplace{}, points_of(nd, sources, ns, ztarg, nt, thresh),
      {nullptr, dipvec, pot, nullptr, nullptr});
}
void l3ddirectdg_(fortran_int const* nd, double const* sources, double const* dipvec,
                  fortran_int const* ns, double const* ztarg, fortran_int const* nt, double* pot,
                  double* grad, double const* thresh)
{
  add(laplace{}, points_of(nd, sources, ns, ztarg, nt, thresh),
      {nullptr, dipvec, pot, grad, nullptr});
}
void l3ddirectdh_(fortran_int const* nd, double const* sources, double const* dipvec,
                  fortran_int const* ns, double const* ztarg, fortran_int const* nt, double* pot,
                  double* grad, double* hess, double const* thresh)
{
  add(laplace{}, points_of(nd, sources, ns, ztarg, nt, thresh), {nullptr, dipvec, pot, grad, hess});
}
void l3ddirectcdp_(fortran_int const* nd, double const* sources, double const* charge,
                   double const* dipvec, fortran_int const* ns, double const* ztarg,
                   fortran_int const* nt, double* pot, double const* thresh)
{
  add(laplace{}, points_of(nd, sources, ns, ztarg, nt, thresh),
      {charge, dipvec, pot, nullptr, nullptr});
}
void l3ddirectcdg_(fortran_int const* nd, double const* sources, double const* charge,
                   double const* dipvec, fortran_int const* ns, double const* ztarg,
                   fortran_int const* nt, double* pot, double* grad, double const* thresh)
{
  add(laplace{}, points_of(nd, sources, ns, ztarg, nt, thresh),
      {charge, dipvec, pot, grad, nullptr});
}
void l3ddirectcdh_(fortran_int const* nd, double const* sources, double const* charge,
                   double const* dipvec, fortran_int const* ns, double const* ztarg,
                   fortran_int const* nt, double* pot, double* grad, double* hess,
                   double const* thresh)
{
  add(laplace{}, points_of(nd, sources, ns, ztarg, nt, thresh), {charge, dipvec, pot, grad, hess});
}
void h3ddirectcp_(fortran_int const* nd, complex const* zk, double const* sources,
                  complex const* charge, fortran_int const* ns, double const* ztarg,
                  fortran_int const* nt, complex* pot, double const* thresh)
{
  add(helmholtz{*zk}, points_of(nd, sources, ns, ztarg, nt, thresh),
      {charge, nullptr, pot, nullptr, nullptr});
}
void h3ddirectcg_(fortran_int const* nd, complex const* zk, double const* sources,
                  complex const* charge, fortran_int const* ns, double const* ztarg,
                  fortran_int const* nt, complex* pot, complex* grad, double const* thresh)
{
  add(helmholtz{*zk}, points_of(nd, sources, ns, ztarg, nt, thresh),
      {charge, nullptr, pot, grad, nullptr});
}
void h3ddirectdp_(fortran_int const* nd, complex const* zk, double const* sources,
                  complex const* dipvec, fortran_int const* ns, double const* ztarg,
                  fortran_int const* nt, complex* pot, double const* thresh)
{
  add(helmholtz{*zk}, points_of(nd, sources, ns, ztarg, nt, thresh),
      {nullptr, dipvec, pot, nullptr, nullptr});
}
void h3ddirectdg_(fortran_int const* nd, complex const* zk, double const* sources,
                  complex const* dipvec, fortran_int const* ns, double const* ztarg,
                  fortran_int const* nt, complex* pot, complex* grad, double const* thresh)
{
  add(helmholtz{*zk}, points_of(nd, sources, ns, ztarg, nt, thresh),
      {nullptr, dipvec, pot, grad, nullptr});
}
void h3ddirectcdp_(fortran_int const* nd, complex const* zk, double const* sources,
                   complex const* charge, complex const* dipvec, fortran_int const* ns,
                   double const* ztarg, fortran_int const* nt, complex* pot, double const* thresh)
{
  add(helmholtz{*zk}, points_of(nd, sources, ns, ztarg, nt, thresh),
      {charge, dipvec, pot, nullptr, nullptr});
}
void h3ddirectcdg_(fortran_int const* nd, complex const* zk, double const* sources,
                   complex const* charge, complex const* dipvec, fortran_int const* ns,
                   double const* ztarg, fortran_int const* nt, complex* pot, complex* grad,
                   double const* thresh)
{
  add(helmholtz{*zk}, points_of(nd, sources, ns, ztarg, nt, thresh),
      {charge, dipvec, pot, grad, nullptr});
}
void st3ddirectstokg_(fortran_int const* nd, double const* sources, double const* stoklet,
                      fortran_int const* ns, double const* targ, fortran_int const* nt, double* pot,
                      double* pre, double* grad, double const* thresh)
{
  add_stokeslets(points_of(nd, sources, ns, targ, nt, thresh), stoklet, pot, pre, grad);
}
}
#pragma GCC visibility pop
