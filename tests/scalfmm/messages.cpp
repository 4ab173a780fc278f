// Not a test by itself: compiled once for each CASE_..., for what the compiler says.

#include <nearfield/scalfmm.hpp>
#include <nearfield/tbfmm.hpp>

#include "p2p/own_interactions.hpp"
#include "scalfmm/stand_in.hpp"

namespace nf = nearfield;

template <class Particle, class K>
void near_field(K const& k)
{
  scalfmm::component::leaf_view<Particle> leaf;
  p2p_inner(nf::scalfmm3::matrix_kernel<K>{k}, leaf);
}

template <std::size_t NOut, class TIn>
using particle = scalfmm::container::particle<double, 3, TIn, 1, double, NOut>;

template <std::size_t Dim, class T>
using potential = scalfmm::container::particle<T, Dim, T, 1, T, 1>;

template <class V>
using point_on_a_line = scalfmm::container::point<V, 1>;

struct of_unknown_borders
{};

int main()
{
#if defined(CASE_few_outputs)
  near_field<particle<3, double>>(nf::val_grad_one_over_r<3>{});
#elif defined(CASE_mixed_types)
  near_field<particle<4, float>>(nf::val_grad_one_over_r<3>{});
#elif defined(CASE_other_dimension)
  near_field<potential<3, double>>(nf::log_r{});
#elif defined(CASE_four_dimensions)
  near_field<potential<4, double>>(nf::one_over_r<4>{});
#elif defined(CASE_one_dimension)
  nf::scalfmm3::interaction_of<nf::scalfmm3::matrix_kernel<nf::log_r>, point_on_a_line> const k;
#elif defined(CASE_long_double)
  near_field<potential<2, long double>>(nf::log_r{});
#elif defined(CASE_two_types)
  scalfmm::component::leaf_view<potential<2, double>> target;
  scalfmm::component::leaf_view<potential<2, float>> source;
  p2p_outer(nf::scalfmm3::matrix_kernel<nf::log_r>{}, target, source, std::array{0., 0.});
#elif defined(CASE_no_leaf)
  std::array<double, 3> leaf;
  p2p_inner(nf::scalfmm3::matrix_kernel<nf::log_r>{}, leaf);
#elif defined(CASE_no_way_back)
  (void)nf::scalfmm3::matrix_kernel<nf::test::one_way>{}.mutual_coefficient<double>();
#elif defined(CASE_own_without_simd)
  near_field<particle<1, double>>(nf::test::softened{.eps2 = 1});
#elif defined(CASE_unknown_tbfmm)
  nf::tbfmm::kernel<of_unknown_borders, nf::one_over_r<3>> const kernel;
#else
  near_field<particle<4, double>>(nf::val_grad_one_over_r<3>{});
#endif
}
