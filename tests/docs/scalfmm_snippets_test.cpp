// The regions of docs/embedding.md that are about ScalFMM and TBFMM, in a program that has the
// interface of ScalFMM but none of its files.

#include <nearfield/p2p/simd.hpp>

#include "scalfmm/group.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

// clang-format off
// [scalfmm]
#include <nearfield/scalfmm.hpp>

// in place of scalfmm::matrix_kernels::laplace::val_grad_one_over_r<3>
using near_matrix_kernel = nearfield::scalfmm3::matrix_kernel<nearfield::val_grad_one_over_r<3>>;

// and the rest as it was: near field, particles, tree, far field, algorithm
using near_field_type = scalfmm::operators::near_field_operator<near_matrix_kernel>;
using particle_type = scalfmm::container::particle<double, 3, double, near_matrix_kernel::km,
                                                   double, near_matrix_kernel::kn>;
near_field_type const near_field(near_matrix_kernel{}, true);    // true: mutual
// [scalfmm]

// [scalfmm_interaction_of]
struct yukawa    // exp(-|x - y|) / |x - y|
{
  static constexpr std::size_t km = 1, kn = 1;

  template <class V>
  std::array<V, 1> mutual_coefficient() const { return {V(1)}; }

  template <class V>
  std::array<V, 1> evaluate(scalfmm::container::point<V, 3> const& x,
                            scalfmm::container::point<V, 3> const& y) const
  {
    using std::exp, std::sqrt;    // or those of xsimd
    V const dx = x.at(0) - y.at(0), dy = x.at(1) - y.at(1), dz = x.at(2) - y.at(2);
    V const r = sqrt(dx * dx + dy * dy + dz * dz);
    return {exp(-r) / r};
  }
};

template <class V>
using point3 = scalfmm::container::point<V, 3>;
using yukawa_interaction = nearfield::scalfmm3::interaction_of<yukawa, point3>;
// [scalfmm_interaction_of]
// clang-format on

/// The names of two of TBFMM's kernels; what they do to cells is of no matter here.
template <class Real, int Order>
struct FRotationKernel
{
  struct SpaceIndexType
  {
    static constexpr bool IsPeriodic = false;
  };
};
template <class Real, int Order>
struct TbfLogKernel : FRotationKernel<Real, Order>
{};

// clang-format off
// [tbfmm]
#include <nearfield/tbfmm.hpp>

// in place of FRotationKernel<double, 8>
using kernel_class = nearfield::tbfmm::kernel<FRotationKernel<double, 8>, nearfield::val_grad_one_over_r<3>,
                                              nearfield::tbfmm::results::force_then_value>;
// [tbfmm]

// [tbfmm_log]
struct log_potential
{
  static constexpr int dim = 2, n_in = 1, n_out = 1, flops = 11;
  static constexpr auto symmetry = nearfield::parity::even;
  static constexpr auto name = "log_potential";

  template <class V>
  NEARFIELD_FN auto operator()(nearfield::vec<V, dim> const& r) const -> nearfield::mat<V, 1, 1>
  {
    return {{{log(dot(r, r)) * (-0.25 / std::numbers::pi)}}};
  }
};

using log_kernel = nearfield::tbfmm::kernel<TbfLogKernel<double, 8>, log_potential>;
// [tbfmm_log]
// clang-format on

namespace nearfield::test
{
  TEST(docs, scalfmm_program_changes_the_type_of_its_matrix_kernel_only)
  {
    group<double, 3, 1, 4> g(1);
    std::array const open{false, false, false};
    g.make_lists(open, true);
    static_assert(std::is_same_v<decltype(g)::particle, particle_type>);
    scalfmm::algorithms::direct(g.leaves, near_field, open, 1.);
    for (int l = 0; l < 27; ++l)
    {
      auto const sums = expected(val_grad_one_over_r<3>{}, g, l, 0, true, true,
                                 [&](int b, auto& shift) { return g.touch(l, b, open, shift); });
      EXPECT_LE(error_of(g.outputs<4>(l), sums), tolerance<double>);
    }
  }

  TEST(docs, matrix_kernel_of_scalfmm_as_an_interaction)
  {
    std::vector<double> const x{0, 1, 0}, y{0, 0, 2}, z{0, 0, 0}, q{1, 2, 4};
    std::vector<double> out(3);
    p2p_inner_mutual(simd, yukawa_interaction{}, soa{x, y, z}, soa{q}, soa{out});
    auto const k = [](double r)
    {
      return std::exp(-r) / r;
    };
    double const d = std::sqrt(5.);
    EXPECT_NEAR(out[0], 2 * k(1) + 4 * k(2), 1e-13);
    EXPECT_NEAR(out[1], 1 * k(1) + 4 * k(d), 1e-13);
    EXPECT_NEAR(out[2], 1 * k(2) + 2 * k(d), 1e-13);
  }

  TEST(docs, tbfmm_kernel_class)
  {
    std::vector<double> const x{0, 2}, y{0, 0}, z{0, 0}, q{1, 3};
    std::vector<double> fx(2), fy(2), fz(2), potential(2);
    std::array const data{x.data(), y.data(), z.data(), q.data()};
    std::array rhs{fx.data(), fy.data(), fz.data(), potential.data()};
    kernel_class const kernel;
    kernel.P2PInner(0, nullptr, data, rhs, 2);
    EXPECT_NEAR(potential[0], 1.5, 1e-14);
    EXPECT_NEAR(potential[1], 0.5, 1e-14);
    EXPECT_NEAR(fx[0], 0.75, 1e-14); // towards the other charge, as TBFMM has it
    EXPECT_NEAR(fx[1], -0.75, 1e-14);
  }

  TEST(docs, tbfmm_log_kernel)
  {
    std::vector<double> const x{0, 2}, y{0, 0}, q{1, 3};
    std::vector<double> potential(2);
    std::array const data{x.data(), y.data(), q.data()};
    std::array rhs{potential.data()};
    log_kernel const kernel;
    kernel.P2PInner(0, nullptr, data, rhs, 2);
    double const ln = std::log(2.) / (2 * std::numbers::pi);
    EXPECT_NEAR(potential[0], -3 * ln, 1e-14);
    EXPECT_NEAR(potential[1], -ln, 1e-14);
  }
}
