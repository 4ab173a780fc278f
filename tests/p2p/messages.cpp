// Not a test by itself: compiled once for each CASE_..., for what the compiler says.

#if defined(CASE_mixed_numbers)
#define NEARFIELD_ALLOW_SLOW_SIMD
#endif
#if defined(CASE_simd_without_avx2) || defined(CASE_mixed_numbers)
#include <nearfield/p2p/simd.hpp>
#endif
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>

#include <cmath>
#include <vector>

namespace nf = nearfield;

struct own
{
  static constexpr int dim = 2, n_in = 1, n_out = 1;
#if !defined(CASE_no_flops)
  static constexpr int flops = 7;
#endif
#if !defined(CASE_no_name)
  static constexpr auto name = "own";
#endif

  template <class V>
  NEARFIELD_FN auto operator()(nf::vec<V, dim> const& r) const -> nf::mat<V, 1, 1>
  {
#if defined(CASE_mixed_numbers)
    // a double beside floats or packs, and functions of std
    return {{{2 * std::exp(dot(r, r) + eps2) / std::sqrt(1 + dot(r, r)) - 0.5}}};
#else
    return {{{dot(r, r)}}};
#endif
  }
  double eps2 = 0;
};

/// A value with its gradient.
struct value_and_gradient
{
  static constexpr int dim = 2, n_in = 1, n_out = 3, flops = 7;
  static constexpr auto name = "value_and_gradient";
  static constexpr auto symmetry = nf::parity::even;

  template <class V>
  NEARFIELD_FN auto operator()(nf::vec<V, dim> const& r) const -> nf::mat<V, 3, 1>
  {
    return {{{dot(r, r)}, {V(2) * r[0]}, {V(2) * r[1]}}};
  }
};

int main()
{
  double const x[] = {0, 1};
  double out[] = {0, 0};
#if defined(CASE_simd_not_compiled)
  nf::p2p_inner(nf::simd, own{}, nf::soa{x, x}, nf::soa{x}, nf::soa{out});
#elif defined(CASE_one_parity)
  nf::p2p_inner(nf::scalar, value_and_gradient{}, nf::soa{x, x}, nf::soa{x},
                nf::soa{out, out, out});
#elif defined(CASE_const_outputs)
  nf::p2p_inner(nf::scalar, own{}, nf::soa{x, x}, nf::soa{x}, nf::soa{x});
#elif defined(CASE_two_types)
  float const q[] = {0, 1};
  nf::p2p_inner(nf::scalar, own{}, nf::soa{x, x}, nf::soa{q}, nf::soa{out});
#elif defined(CASE_three_axes)
  nf::p2p_inner(nf::scalar, own{}, nf::soa{x, x, x}, nf::soa{x}, nf::soa{out});
#elif defined(CASE_bare_vectors)
  std::vector<double> const q(2);
  nf::p2p_inner(nf::scalar, own{}, nf::soa{x, x}, q, nf::soa{out});
#elif defined(CASE_bare_near_field)
  std::vector<double> const q(2);
  nf::near_field(nf::scalar, own{}, nf::boxes{}, nf::interaction_list{}, nf::soa{x, x}, q,
                 nf::soa{out});
#elif defined(CASE_no_q)
  nf::p2p_inner(nf::scalar, own{}, nf::soa{x, x}, nf::soa{out});
#elif defined(CASE_no_q_outer)
  nf::p2p_outer(nf::scalar, own{}, nf::soa{x, x}, nf::soa{x, x}, nf::soa{out});
#elif defined(CASE_no_q_near_field)
  nf::near_field(nf::scalar, own{}, nf::boxes{}, nf::interaction_list{}, nf::soa{x, x},
                 nf::soa{out});
#elif defined(CASE_no_symmetry)
  nf::p2p_inner_mutual(nf::scalar, own{}, nf::soa{x, x}, nf::soa{x}, nf::soa{out});
#elif defined(CASE_no_symmetry_outer)
  nf::p2p_outer_mutual(nf::scalar, own{}, nf::soa{x, x}, nf::soa{x, x}, nf::soa{x}, nf::soa{x},
                       nf::soa{out}, nf::soa{out});
#elif defined(CASE_mixed_numbers)
  float const x32[] = {0, 1};
  float out32[] = {0, 0};
  nf::p2p_inner(nf::scalar, own{}, nf::soa{x32, x32}, nf::soa{x32}, nf::soa{out32});
  nf::p2p_inner(nf::simd, own{}, nf::soa{x32, x32}, nf::soa{x32}, nf::soa{out32});
  nf::p2p_inner(nf::simd, own{}, nf::soa{x, x}, nf::soa{x}, nf::soa{out});
#else
  nf::p2p_inner(nf::scalar, own{}, nf::soa{x, x}, nf::soa{x}, nf::soa{out});
#endif
}
