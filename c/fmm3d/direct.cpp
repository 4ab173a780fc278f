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
  using fortran_int = int; // FMM3D 2 has integer*8, whose lower half it is
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
  V dot(vec3 const& r, std::array<V, 3> const& d)
  {
    return r[0] * d[0] + r[1] * d[1] + r[2] * d[2];
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

  /// Null if there is none of this name, or if this build has left it out.
  interaction make_interaction(char const* name, double const* wave_number = nullptr)
  {
    char const* const parameter = "k";
    nf_interaction* k = nullptr;
    if (name) nf_interaction_create(name, 3, wave_number != nullptr, &parameter, wave_number, &k);
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
    if (of.n_sources * of.n_targets <= 1'000'000) // cells would take longer
    {
      double const thresh2 = of.thresh * of.thresh;
      std::int64_t n_close = 0;
      for (std::int64_t i = 0; i < of.n_targets; ++i)
        for (std::int64_t j = 0; j < of.n_sources; ++j)
        {
          vec3 const r = of.between(i, j);
          double const r2 = dot(r, r);
          n_close += std::int64_t(r2 > 0) & std::int64_t(r2 < thresh2);
        }
      return n_close > 0;
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
    std::array<int, 9> order = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  };

  /// Adds the sums of an interaction, whose inputs and outputs have `parts` numbers each, times scale. False if it could
  /// not.
  bool add_sums(nf_interaction const* k, points const& of, double const* inputs, int n_inputs,
                int n_outputs, int parts, double scale, std::vector<part> const& outputs)
  {
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
                  scale * sums[width * static_cast<std::size_t>(i) +
                               static_cast<std::size_t>(
                                   parts * (right * n_outputs + p.first + p.order[c]) + number)];
    }
    return true;
  }

  /// Kernels by name for charges or dipoles; null where there is none.
  struct kernel_names
  {
    char const *value, *gradient, *hessian;
  };

  /// A radial potential f(|r|), by f_0 = f and f_(n + 1) = f_n' / |r|: 1 / |r|, or exp(i k |r|) / |r|.
  struct laplace
  {
    static constexpr kernel_names charges{"one_over_r", "val_grad_one_over_r", "hess_one_over_r"};
    static constexpr kernel_names dipoles{"dipole_one_over_r", "val_grad_dipole_one_over_r",
                                          nullptr};

    [[nodiscard]] interaction kernel(char const* name) const { return make_interaction(name); }
    [[nodiscard]] std::array<double, 4> derivatives(double r) const
    {
      double const inverse = 1 / r, square = inverse * inverse;
      double const first = -inverse * square, second = -3 * first * square;
      return {inverse, first, second, -5 * second * square};
    }
  };
  struct helmholtz
  {
    static constexpr kernel_names charges{"helmholtz", "val_grad_helmholtz", nullptr};
    static constexpr kernel_names dipoles{"dipole_helmholtz", nullptr, nullptr};
    complex k;

    /// Those of nearfield have a real wave number.
    [[nodiscard]] interaction kernel(char const* name) const
    {
      double const real = k.real();
      return k.imag() != 0 ? nullptr : make_interaction(name, &real);
    }
    [[nodiscard]] std::array<complex, 4> derivatives(double r) const
    {
      complex const z = complex(0, 1) * k * r;
      double const square = 1 / (r * r);
      complex const wave = std::exp(z) / r, first = wave * square, second = first * square;
      return {wave, (z - 1.) * first, (3. - z * (3. - z)) * second,
              (z * (15. - z * (6. - z)) - 15.) * second * square};
    }
  };

  /// What a call is given and adds to; null where it is not.
  template <class V>
  struct arrays
  {
    V const* charges = nullptr;
    V const* dipoles = nullptr;
    V* potential = nullptr;
    V* gradient = nullptr;
    V* hessian = nullptr; ///< xx, yy, zz, xy, xz, yz
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
                      V const along = dot(r, d);
                      a.potential[k + nd * i] += q * g[0] - along * g[1];
                      if (a.gradient)
                        for (int c = 0; c < 3; ++c)
                          a.gradient[k + nd * (c + 3 * i)] +=
                              q * g[1] * r[c] - (d[c] * g[1] + along * g[2] * r[c]);
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

  /// Charges alone or dipoles alone by kernels. False, and nothing is added, if there are none for all that is asked for.
  template <class F, class V>
  bool add_by_kernels(F const& f, points const& of, kernel_names const& names, V const* inputs,
                      int n_inputs, arrays<V> const& a)
  {
    interaction const first = f.kernel(a.gradient ? names.gradient : names.value);
    interaction const second = a.hessian ? f.kernel(names.hessian) : nullptr;
    if (!first || (a.hessian && !second)) return false;
    auto const numbers = [](V* values)
    {
      return reinterpret_cast<double*>(values);
    };
    auto const add = [&](interaction const& k, int n_outputs, std::vector<part> const& outputs)
    {
      return add_sums(k.get(), of, reinterpret_cast<double const*>(inputs), n_inputs, n_outputs,
                      sizeof(V) / sizeof(double), quarter_pi_inverse, outputs);
    };
    std::vector<part> outputs{{numbers(a.potential), 0, 1}};
    if (a.gradient) outputs.push_back({numbers(a.gradient), 1, 3});
    if (!add(first, a.gradient ? 4 : 1, outputs)) return false;
    // a kernel's are xx, xy, xz, yy, yz, zz
    if (a.hessian) add(second, 6, {{numbers(a.hessian), 0, 6, {0, 3, 5, 1, 2, 4}}});
    return true;
  }

  template <class F, class V>
  void add(F const& f, points const& of, arrays<V> const& a)
  {
    bool const is_close = has_pairs_below_thresh(of);
    if (a.charges && (is_close || !add_by_kernels(f, of, F::charges, a.charges, 1, a)))
      add_pair_by_pair(f, of, arrays<V>{a.charges, nullptr, a.potential, a.gradient, a.hessian});
    if (a.dipoles && (is_close || !add_by_kernels(f, of, F::dipoles, a.dipoles, 3, a)))
      add_pair_by_pair(f, of, arrays<V>{nullptr, a.dipoles, a.potential, a.gradient, a.hessian});
  }

  /// What a singularity of Stokes flow gives a target, times 4 pi: gradient[3 i + j] is du_i/dx_j.
  struct flow
  {
    vec3 velocity{};
    double pressure = 0;
    std::array<double, 9> gradient{};
  };
  struct flow_arrays
  {
    double *velocity, *pressure, *gradient;
  };

  /// The plain loop: adds of(r, |r|, a source and right-hand side) for all pairs.
  template <class F>
  void add_flows(points const& points, flow_arrays const& to, F const& of)
  {
    int const nd = points.nd;
    for_all_pairs(points,
                  [&](std::int64_t i, std::int64_t j, vec3 const& r, double distance)
                  {
                    for (int k = 0; k < nd; ++k)
                    {
                      flow const one = of(r, distance, k + 3 * nd * j);
                      to.pressure[k + nd * i] += quarter_pi_inverse * one.pressure;
                      for (int c = 0; c < 3; ++c)
                        to.velocity[k + nd * (c + 3 * i)] += quarter_pi_inverse * one.velocity[c];
                      for (int c = 0; c < 9; ++c)
                        to.gradient[k + nd * (c + 9 * i)] += quarter_pi_inverse * one.gradient[c];
                    }
                  });
  }

  vec3 vector_at(double const* array, std::int64_t first, int nd)
  {
    return {array[first], array[first + nd], array[first + 2 * nd]};
  }

  /// Point forces.
  void add_stokeslets(points const& points, double const* forces, flow_arrays const& to)
  {
    interaction const values = make_interaction("stokeslet_pressure"),
                      gradients = make_interaction("grad_stokeslet");
    double const scale = quarter_pi_inverse / 2;
    if (values && gradients && !has_pairs_below_thresh(points) &&
        add_sums(values.get(), points, forces, 3, 4, 1, scale,
                 {{to.velocity, 0, 3}, {to.pressure, 3, 1}}))
    {
      add_sums(gradients.get(), points, forces, 3, 9, 1, scale, {{to.gradient, 0, 9}});
      return;
    }
    add_flows(points, to,
              [&](vec3 const& r, double distance, std::int64_t source)
              {
                vec3 const q = vector_at(forces, source, points.nd);
                double const inverse = 1 / distance, square = inverse * inverse;
                double const along = dot(r, q) * square, half = 0.5 * inverse;
                flow result;
                result.pressure = along * inverse;
                for (int a = 0; a < 3; ++a)
                {
                  result.velocity[a] = half * (q[a] + along * r[a]);
                  for (int b = 0; b < 3; ++b)
                    result.gradient[3 * a + b] =
                        half * (square * (r[a] * q[b] - q[a] * r[b] - 3 * along * r[a] * r[b]) +
                                (a == b ? along : 0));
                }
                return result;
              });
  }

  /// Pairs of vectors p and n at the sources, whose flow is the sum of those of a stresslet 3 r (r.p) (r.n) / |r|^5, a rotlet
  /// (p (r.n) - n (r.p)) / |r|^3 and a source -r (p.n) / |r|^3, each times its factor.
  struct couplets
  {
    double const *p, *n;
    double stresslet, rotlet, source;
  };
  void add_couplets(points const& points, couplets const& c, flow_arrays const& to)
  {
    add_flows(points, to,
              [&](vec3 const& r, double distance, std::int64_t source)
              {
                vec3 const p = vector_at(c.p, source, points.nd),
                           n = vector_at(c.n, source, points.nd);
                double const inverse = 1 / distance, square = inverse * inverse;
                double const cube = inverse * square;
                double const rp = dot(r, p), rn = dot(r, n), pn = dot(p, n);
                double const stretch = 3 * c.stresslet * square, along = stretch * rp * rn;
                double const out = along - c.source * pn; // of r / |r|^3
                flow result;
                // a source has none
                result.pressure = c.stresslet * cube * (6 * square * rp * rn - 2 * pn);
                for (int a = 0; a < 3; ++a)
                {
                  double const turn = c.rotlet * (p[a] * rn - n[a] * rp);
                  result.velocity[a] = cube * (out * r[a] + turn);
                  for (int b = 0; b < 3; ++b)
                    result.gradient[3 * a + b] =
                        cube * (r[a] * stretch * (p[b] * rn + n[b] * rp) +
                                c.rotlet * (p[a] * n[b] - n[a] * p[b]) + (a == b ? out : 0) -
                                3 * square * r[b] * (r[a] * (out + 2. / 3 * along) + turn));
                }
                return result;
              });
  }

  points points_of(fortran_int const* nd, double const* sources, fortran_int const* ns,
                   double const* targets, fortran_int const* nt, double const* thresh)
  {
    return {sources, *ns, targets, *nt, *thresh, *nd};
  }
}

// FMM3D's routines. Their names say what sources have (c: charges, d: dipoles) and what targets receive (p: potential,
// g: with gradient, h: with Hessian).
#define TAKE_c(V) V const *charges,
#define TAKE_d(V) V const *dipoles,
#define TAKE_cd(V) TAKE_c(V) TAKE_d(V)
#define TAKE_p(V) V *potential,
#define TAKE_g(V) TAKE_p(V) V *gradient,
#define TAKE_h(V) TAKE_g(V) V *hessian,
#define KEEP_c a.charges = charges;
#define KEEP_d a.dipoles = dipoles;
#define KEEP_cd KEEP_c KEEP_d
#define KEEP_p a.potential = potential;
#define KEEP_g KEEP_p a.gradient = gradient;
#define KEEP_h KEEP_g a.hessian = hessian;
#define DIRECT(name, in, out, V, f, ...)                                                           \
  void name##in##out##_(__VA_ARGS__, double const* sources, TAKE_##in(V)fortran_int const* ns,     \
                        double const* targets, fortran_int const* nt,                              \
                        TAKE_##out(V) double const* thresh)                                        \
  {                                                                                                \
    arrays<V> a;                                                                                   \
    KEEP_##in KEEP_##out add(f, points_of(nd, sources, ns, targets, nt, thresh), a);               \
  }
#define LAPLACE(in, out) DIRECT(l3ddirect, in, out, double, laplace{}, fortran_int const* nd)
#define HELMHOLTZ(in, out)                                                                         \
  DIRECT(h3ddirect, in, out, complex, helmholtz{*zk}, fortran_int const* nd, complex const* zk)

#pragma GCC visibility push(default)
extern "C" {
LAPLACE(c, p)
LAPLACE(c, g)
LAPLACE(c, h)
LAPLACE(d, p)
LAPLACE(d, g)
LAPLACE(d, h)
LAPLACE(cd, p)
LAPLACE(cd, g)
LAPLACE(cd, h)
HELMHOLTZ(c, p)
HELMHOLTZ(c, g)
HELMHOLTZ(c, h)
HELMHOLTZ(d, p)
HELMHOLTZ(d, g)
HELMHOLTZ(d, h)
HELMHOLTZ(cd, p)
HELMHOLTZ(cd, g)
HELMHOLTZ(cd, h)

void st3ddirectstokg_(fortran_int const* nd, double const* sources, double const* stoklet,
                      fortran_int const* ns, double const* targ, fortran_int const* nt, double* pot,
                      double* pre, double* grad, double const* thresh)
{
  add_stokeslets(points_of(nd, sources, ns, targ, nt, thresh), stoklet, {pot, pre, grad});
}
// stresslets, rotlets and doublets count if their flag is 1
void st3ddirectstokstrsrotdoubg_(fortran_int const* nd, double const* sources,
                                 double const* stoklet, fortran_int const* istress,
                                 double const* strslet, double const* strsvec,
                                 fortran_int const* irotlet, double const* rotlet,
                                 double const* rotvec, fortran_int const* idoublet,
                                 double const* doublet, double const* doubvec,
                                 fortran_int const* ns, double const* targ, fortran_int const* nt,
                                 double* pot, double* pre, double* grad, double const* thresh)
{
  points const of = points_of(nd, sources, ns, targ, nt, thresh);
  flow_arrays const to{pot, pre, grad};
  add_stokeslets(of, stoklet, to);
  if (*istress == 1) add_couplets(of, {strslet, strsvec, 1, 0, 0}, to);
  if (*irotlet == 1) add_couplets(of, {rotlet, rotvec, 0, 1, 0}, to);
  if (*idoublet == 1) add_couplets(of, {doublet, doubvec, 1, 1, 1}, to);
}
void st3ddirectstokstrsg_(fortran_int const* nd, double const* sources, double const* stoklet,
                          fortran_int const* istress, double const* strslet, double const* strsvec,
                          fortran_int const* ns, double const* targ, fortran_int const* nt,
                          double* pot, double* pre, double* grad, double const* thresh)
{
  fortran_int const none = 0;
  st3ddirectstokstrsrotdoubg_(nd, sources, stoklet, istress, strslet, strsvec, &none, nullptr,
                              nullptr, &none, nullptr, nullptr, ns, targ, nt, pot, pre, grad,
                              thresh);
}
}
#pragma GCC visibility pop
