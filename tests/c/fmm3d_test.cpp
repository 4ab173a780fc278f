// The numbers of FMM3D 2.1.0 (fmm3dpy), and what follows from them for many points, right-hand sides and thresholds.

#include "points.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <vector>

using complex = std::complex<double>;

extern "C" {
void l3ddirectcp_(int const*, double const*, double const*, int const*, double const*, int const*,
                  double*, double const*);
void l3ddirectcg_(int const*, double const*, double const*, int const*, double const*, int const*,
                  double*, double*, double const*);
void l3ddirectch_(int const*, double const*, double const*, int const*, double const*, int const*,
                  double*, double*, double*, double const*);
void l3ddirectdp_(int const*, double const*, double const*, int const*, double const*, int const*,
                  double*, double const*);
void l3ddirectdg_(int const*, double const*, double const*, int const*, double const*, int const*,
                  double*, double*, double const*);
void l3ddirectdh_(int const*, double const*, double const*, int const*, double const*, int const*,
                  double*, double*, double*, double const*);
void l3ddirectcdp_(int const*, double const*, double const*, double const*, int const*,
                   double const*, int const*, double*, double const*);
void l3ddirectcdg_(int const*, double const*, double const*, double const*, int const*,
                   double const*, int const*, double*, double*, double const*);
void l3ddirectcdh_(int const*, double const*, double const*, double const*, int const*,
                   double const*, int const*, double*, double*, double*, double const*);
void h3ddirectcp_(int const*, complex const*, double const*, complex const*, int const*,
                  double const*, int const*, complex*, double const*);
void h3ddirectcg_(int const*, complex const*, double const*, complex const*, int const*,
                  double const*, int const*, complex*, complex*, double const*);
void h3ddirectdp_(int const*, complex const*, double const*, complex const*, int const*,
                  double const*, int const*, complex*, double const*);
void h3ddirectdg_(int const*, complex const*, double const*, complex const*, int const*,
                  double const*, int const*, complex*, complex*, double const*);
void h3ddirectcdp_(int const*, complex const*, double const*, complex const*, complex const*,
                   int const*, double const*, int const*, complex*, double const*);
void h3ddirectcdg_(int const*, complex const*, double const*, complex const*, complex const*,
                   int const*, double const*, int const*, complex*, complex*, double const*);
void h3ddirectch_(int const*, complex const*, double const*, complex const*, int const*,
                  double const*, int const*, complex*, complex*, complex*, double const*);
void h3ddirectdh_(int const*, complex const*, double const*, complex const*, int const*,
                  double const*, int const*, complex*, complex*, complex*, double const*);
void h3ddirectcdh_(int const*, complex const*, double const*, complex const*, complex const*,
                   int const*, double const*, int const*, complex*, complex*, complex*,
                   double const*);
void st3ddirectstokg_(int const*, double const*, double const*, int const*, double const*,
                      int const*, double*, double*, double*, double const*);
void st3ddirectstokstrsg_(int const*, double const*, double const*, int const*, double const*,
                          double const*, int const*, double const*, int const*, double*, double*,
                          double*, double const*);
void st3ddirectstokstrsrotdoubg_(int const*, double const*, double const*, int const*,
                                 double const*, double const*, int const*, double const*,
                                 double const*, int const*, double const*, double const*,
                                 int const*, double const*, int const*, double*, double*, double*,
                                 double const*);
}

namespace
{
  std::array<double, 6> const sources{0.1, -0.2, 0.3, 0.7, 0.4, -0.5};
  std::array<double, 3> const target{1.1, 0.9, 0.2};
  std::array<double, 2> const charges{1.5, -0.7};
  std::array<double, 6> const dipoles{0.3, -1.1, 0.8, 1.2, 0.5, -0.9};
  complex const zk{1.25, 0.5};
  std::array<complex, 2> const complex_charges{complex(1.5, 0.25), complex(-0.7, 1)};
  std::array<complex, 6> const complex_dipoles{complex(0.3, 0.2),  complex(-1.1, 0.1),
                                               complex(0.8, -0.4), complex(1.2, -0.6),
                                               complex(0.5, 0.3),  complex(-0.9, 0.7)};
  std::array<double, 6> const normals{0.6, 0.2, -0.7, -0.4, 1.3, 0.5};
  std::array<double, 6> const torques{0.2, 0.1, -0.4, -0.6, 0.3, 0.7};
  int const one = 1, two = 2;
  double const thresh = 1e-12;

  void expect_near(std::vector<double> const& found, std::vector<double> const& expected,
                   double limit = 1e-14)
  {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], limit) << "number " << i;
  }

  std::vector<double> numbers(std::vector<complex> const& values)
  {
    auto const* first = reinterpret_cast<double const*>(values.data());
    return {first, first + 2 * values.size()};
  }

  TEST(fmm3d, laplace_has_its_numbers)
  {
    std::vector<double> pot(1), grad(3), hess(6);
    auto const all = [&](std::size_t n)
    {
      std::vector<double> values(pot);
      values.insert(values.end(), grad.begin(), grad.end());
      values.insert(values.end(), hess.begin(), hess.end());
      values.resize(n);
      pot.assign(1, 0), grad.assign(3, 0), hess.assign(6, 0);
      return values;
    };
    l3ddirectcp_(&one, sources.data(), charges.data(), &two, target.data(), &one, pot.data(),
                 &thresh);
    expect_near(all(1), {0.021395938708125214});
    l3ddirectcg_(&one, sources.data(), charges.data(), &two, target.data(), &one, pot.data(),
                 grad.data(), &thresh);
    expect_near(all(4), {0.021395938708125214, -0.009990467370758517, -0.0070750198330409436,
                         0.049277809459528227});
    l3ddirectch_(&one, sources.data(), charges.data(), &two, target.data(), &one, pot.data(),
                 grad.data(), hess.data(), &thresh);
    expect_near(all(10), {0.021395938708125214, -0.009990467370758517, -0.0070750198330409436,
                          0.049277809459528227, 0.043125316481779641, 0.033793777719393722,
                          -0.076919094201173321, 0.010148599515339626, -0.065768767740396888,
                          -0.081479464488954573});
    l3ddirectdp_(&one, sources.data(), dipoles.data(), &two, target.data(), &one, pot.data(),
                 &thresh);
    expect_near(all(1), {-0.01449725880999783});
    l3ddirectdg_(&one, sources.data(), dipoles.data(), &two, target.data(), &one, pot.data(),
                 grad.data(), &thresh);
    expect_near(all(4), {-0.014497258809997832, 0.13881893499550446, 0.040007911603709256,
                         -0.089601338280110049});
    l3ddirectdh_(&one, sources.data(), dipoles.data(), &two, target.data(), &one, pot.data(),
                 grad.data(), hess.data(), &thresh);
    expect_near(all(10), {-0.014497258809997832, 0.13881893499550446, 0.040007911603709256,
                          -0.089601338280110049, -0.36151038190953361, -0.12010666447871046,
                          0.4816170463882441, -0.26872614372004155, -0.11858084103858796,
                          0.067264445474792253});
    l3ddirectcdp_(&one, sources.data(), charges.data(), dipoles.data(), &two, target.data(), &one,
                  pot.data(), &thresh);
    expect_near(all(1), {0.0068986798981274002});
    l3ddirectcdg_(&one, sources.data(), charges.data(), dipoles.data(), &two, target.data(), &one,
                  pot.data(), grad.data(), &thresh);
    expect_near(all(4), {0.0068986798981274002, 0.12882846762474595, 0.032932891770668306,
                         -0.040323528820581843});
    l3ddirectcdh_(&one, sources.data(), charges.data(), dipoles.data(), &two, target.data(), &one,
                  pot.data(), grad.data(), hess.data(), &thresh);
    expect_near(all(10), {0.0068986798981274002, 0.12882846762474595, 0.032932891770668306,
                          -0.040323528820581843, -0.31838506542775397, -0.08631288675931674,
                          0.40469795218707078, -0.25857754420470191, -0.18434960877898482,
                          -0.014215019014162306});
  }

  TEST(fmm3d, helmholtz_has_its_numbers)
  {
    std::vector<complex> pot(1), grad(3), hess(6);
    auto const all = [&](std::size_t n)
    {
      std::vector<complex> values(pot);
      values.insert(values.end(), grad.begin(), grad.end());
      values.insert(values.end(), hess.begin(), hess.end());
      values.resize(n);
      pot.assign(1, 0), grad.assign(3, 0), hess.assign(6, 0);
      return numbers(values);
    };
    h3ddirectcp_(&one, &zk, sources.data(), complex_charges.data(), &two, target.data(), &one,
                 pot.data(), &thresh);
    expect_near(all(1), {-0.079107568645158124, 0.020339815575237827});
    h3ddirectcg_(&one, &zk, sources.data(), complex_charges.data(), &two, target.data(), &one,
                 pot.data(), grad.data(), &thresh);
    expect_near(all(4), {-0.079107568645158124, 0.020339815575237827, 0.032547190822694902,
                         -0.064850901878903286, 0.043033405154843822, -0.074843399635382113,
                         0.08593372233291037, -0.036772936491367744});
    h3ddirectdp_(&one, &zk, sources.data(), complex_dipoles.data(), &two, target.data(), &one,
                 pot.data(), &thresh);
    expect_near(all(1), {-0.035103007705329876, 0.023856687325548361});
    h3ddirectdg_(&one, &zk, sources.data(), complex_dipoles.data(), &two, target.data(), &one,
                 pot.data(), grad.data(), &thresh);
    expect_near(all(4), {-0.035103007705329869, 0.023856687325548354, 0.19068537372210403,
                         -0.033073719650571709, 0.061727675429918222, -0.035046830835913811,
                         -0.10902647544331562, -0.073610120876659524});
    h3ddirectcdp_(&one, &zk, sources.data(), complex_charges.data(), complex_dipoles.data(), &two,
                  target.data(), &one, pot.data(), &thresh);
    expect_near(all(1), {-0.11421057635048801, 0.044196502900786187});
    h3ddirectcdg_(&one, &zk, sources.data(), complex_charges.data(), complex_dipoles.data(), &two,
                  target.data(), &one, pot.data(), grad.data(), &thresh);
    expect_near(all(4), {-0.11421057635048798, 0.04419650290078618, 0.22323256454479892,
                         -0.097924621529474981, 0.10476108058476204, -0.10989023047129591,
                         -0.023092753110405262, -0.11038305736802727});
    // Hessians are in builds of FMM3D with src/Helmholtz/helmkernels_hess.f or FAST_KER
    h3ddirectch_(&one, &zk, sources.data(), complex_charges.data(), &two, target.data(), &one,
                 pot.data(), grad.data(), hess.data(), &thresh);
    expect_near(all(10), {-0.079107568645158124,  0.020339815575237827,  0.032547190822694902,
                          -0.064850901878903286,  0.043033405154843822,  -0.074843399635382113,
                          0.08593372233291037,    -0.036772936491367744, 0.10260768516031675,
                          -0.0064638891854658098, 0.083465923532484124,  0.030190580695209926,
                          -0.05682015537698349,   0.048461761354203881,  -0.010423872238560672,
                          0.11005300203470911,    -0.097750162739556209, 0.080018817244006502,
                          -0.12142712347073573,   0.10070085739895249});
    h3ddirectdh_(&one, &zk, sources.data(), complex_dipoles.data(), &two, target.data(), &one,
                 pot.data(), grad.data(), hess.data(), &thresh);
    expect_near(all(10), {-0.035103007705329869, 0.023856687325548354,   0.19068537372210403,
                          -0.033073719650571709, 0.061727675429918222,   -0.035046830835913811,
                          -0.10902647544331562,  -0.073610120876659524,  -0.43808185076680056,
                          0.052916150959819691,  -0.11314239521193231,   -0.039074802434287112,
                          0.6271178027489136,    -0.0012744910086527339, -0.3549872896006579,
                          0.16677712430203401,   -0.18465279141905269,   0.23103781656236158,
                          0.078141810903016959,  0.078327602405952323});
    h3ddirectcdh_(&one, &zk, sources.data(), complex_charges.data(), complex_dipoles.data(), &two,
                  target.data(), &one, pot.data(), grad.data(), hess.data(), &thresh);
    expect_near(all(10), {-0.11421057635048798,  0.04419650290078618,   0.22323256454479895,
                          -0.097924621529474995, 0.10476108058476205,   -0.10989023047129591,
                          -0.023092753110405248, -0.11038305736802727,  -0.3354741656064838,
                          0.046452261774353881,  -0.029676471679448146, -0.008884221739077186,
                          0.57029764737193023,   0.047187270345551174,  -0.36541116183921857,
                          0.27683012633674314,   -0.28240295415860889,  0.31105663380636805,
                          -0.043285312567718698, 0.17902845980490478});
  }

  /// Velocity, pressure and velocity gradient of forces and of the pairs of vectors whose flag is 1.
  std::vector<double> flow_of(std::array<double, 6> const& forces, int stresslets, int rotlets,
                              int doublets)
  {
    std::vector<double> out(13);
    st3ddirectstokstrsrotdoubg_(&one, sources.data(), forces.data(), &stresslets, dipoles.data(),
                                normals.data(), &rotlets, normals.data(), torques.data(), &doublets,
                                torques.data(), dipoles.data(), &two, target.data(), &one,
                                out.data(), out.data() + 3, out.data() + 4, &thresh);
    return out;
  }

  TEST(fmm3d, stokes_has_its_numbers)
  {
    std::vector<double> const of_forces{
        0.048295850643352616,  -0.0191739506787772,   -0.011930395597674014, -0.014497258809997832,
        0.0063588715085693831, -0.021246522598952891, -0.051895977752396329, 0.050437406651699629,
        0.0083403456008220994, -0.035225559204011256, 0.039978522765406012,  0.020811527293390759,
        -0.014699217109391476};
    std::vector<double> const with_stresslets{
        0.030089150537836045, -0.037635523084928062, 0.0092017795018586243, 0.061468228870067497,
        0.15479166987091919,  0.05080842345573891,   -0.14099895802087001,  0.23108148425268341,
        0.090954872081709728, -0.15248820775855457,  0.20450802113874034,   0.086407341555111594,
        -0.24574654195262893};
    std::vector<double> out(13);
    st3ddirectstokg_(&one, sources.data(), dipoles.data(), &two, target.data(), &one, out.data(),
                     out.data() + 3, out.data() + 4, &thresh);
    expect_near(out, of_forces);
    for (int const flag : {1, 2})
    {
      out.assign(13, 0);
      st3ddirectstokstrsg_(&one, sources.data(), dipoles.data(), &flag, dipoles.data(),
                           normals.data(), &two, target.data(), &one, out.data(), out.data() + 3,
                           out.data() + 4, &thresh);
      expect_near(out, flag == 1 ? with_stresslets : of_forces);
    }
    expect_near(flow_of(dipoles, 0, 0, 0), of_forces);
    expect_near(flow_of(dipoles, 1, 0, 0), with_stresslets);
    expect_near(flow_of({}, 0, 1, 0),
                {0.032831430200664466, 0.024521098348622115, -0.033492025825186081, 0,
                 -0.043789111583682594, 0.0074143055661570608, -0.075248061656944143,
                 -0.094681204443508776, -0.040950858187225235, 0.012248884267472004,
                 0.045149679804288904, -0.014291920965469154, 0.084739969770907822});
    expect_near(flow_of({}, 0, 0, 1),
                {-0.010274483888159866, 0.050571158001817301, 0.13009281649278476,
                 0.24381223458458667, 0.19067929824830251, -0.033655970707032398,
                 -0.043887116916188476, 0.067578806503006128, 0.062186901572774927,
                 -0.20553328642301769, -0.069393865793647397, -0.1090193510796089,
                 -0.25286619982107744});
    expect_near(flow_of(dipoles, 1, 1, 1),
                {0.052646096850340635, 0.037456733265511355, 0.10580257016945731,
                 0.30528046345465415, 0.30168185653553919, 0.024566758314863574,
                 -0.2601341365940027, 0.20397908631218076, 0.1121909154672594, -0.34577260991410025,
                 0.18026383514938182, -0.036903930489966458, -0.41387277200279854});
  }

  /// Many points for all routines: a call f(nd, n_sources, sources, inputs of the sources, thresh) gives all outputs.
  struct many
  {
    static constexpr int n_sources = 40, n_targets = 30;
    std::vector<double> x, y;
    std::vector<double> inputs; // charges and dipoles, complex, of two right-hand sides

    many()
    {
      nearfield::test::random_numbers random(1);
      for (auto [to, n] :
           {std::pair(&x, 3 * n_targets), {&y, 3 * n_sources}, {&inputs, 16 * n_sources}})
        for (int i = 0; i < n; ++i) to->push_back(random.uniform());
      std::copy_n(x.begin(), 3, y.begin()); // a source at a target
    }
  };

  /// The outputs of all targets of some sources for nd right-hand sides; charges are inputs[k + nd j], and so on.
  std::vector<double> sums(many const& of, int nd, std::vector<double> const& y,
                           std::vector<double> const& inputs, double limit, complex k)
  {
    int const n = static_cast<int>(y.size() / 3), nt = many::n_targets;
    std::size_t const width = static_cast<std::size_t>(nd) * nt;
    std::vector<double> pot(width), grad(3 * width), hess(6 * width), stokes(13 * width),
        flows(13 * width);
    std::vector<complex> wave(width), wave_grad(3 * width), wave_hess(6 * width),
        dipole_wave(width);
    std::vector<complex> q(static_cast<std::size_t>(nd) * n), d(3 * q.size());
    std::vector<double> real_q(q.size()), real_d(d.size()), other_d(d.size());
    for (std::size_t i = 0; i < q.size(); ++i)
    {
      q[i] = {inputs[8 * i], inputs[8 * i + 1]};
      real_q[i] = inputs[8 * i];
    }
    for (int j = 0; j < n; ++j)
      for (int c = 0; c < 3; ++c)
        for (int right = 0; right < nd; ++right)
        {
          std::size_t const to = static_cast<std::size_t>(right + nd * (c + 3 * j));
          std::size_t const from = static_cast<std::size_t>(8 * (right + nd * j) + 2 + 2 * c);
          d[to] = {inputs[from], inputs[from + 1]};
          real_d[to] = inputs[from];
          other_d[to] = inputs[from + 1];
        }
    l3ddirectcdh_(&nd, y.data(), real_q.data(), real_d.data(), &n, of.x.data(), &nt, pot.data(),
                  grad.data(), hess.data(), &limit);
    l3ddirectcdg_(&nd, y.data(), real_q.data(), real_d.data(), &n, of.x.data(), &nt, pot.data(),
                  grad.data(), &limit);
    l3ddirectcdp_(&nd, y.data(), real_q.data(), real_d.data(), &n, of.x.data(), &nt, pot.data(),
                  &limit);
    h3ddirectcdg_(&nd, &k, y.data(), q.data(), d.data(), &n, of.x.data(), &nt, wave.data(),
                  wave_grad.data(), &limit);
    h3ddirectcdp_(&nd, &k, y.data(), q.data(), d.data(), &n, of.x.data(), &nt, dipole_wave.data(),
                  &limit);
    st3ddirectstokg_(&nd, y.data(), real_d.data(), &n, of.x.data(), &nt, stokes.data(),
                     stokes.data() + 3 * width, stokes.data() + 4 * width, &limit);
    st3ddirectstokstrsrotdoubg_(&nd, y.data(), real_d.data(), &one, real_d.data(), other_d.data(),
                                &one, real_d.data(), other_d.data(), &one, other_d.data(),
                                real_d.data(), &n, of.x.data(), &nt, flows.data(),
                                flows.data() + 3 * width, flows.data() + 4 * width, &limit);
    h3ddirectcdh_(&nd, &k, y.data(), q.data(), d.data(), &n, of.x.data(), &nt, wave.data(),
                  wave_grad.data(), wave_hess.data(), &limit);
    std::vector<double> all;
    for (auto const& values : {pot, grad, hess, stokes, flows, numbers(wave), numbers(wave_grad),
                               numbers(wave_hess), numbers(dipole_wave)})
      all.insert(all.end(), values.begin(), values.end());
    return all;
  }

  void add_to(std::vector<double>& all, std::vector<double> const& more)
  {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += more[i];
  }

  void expect_equal_sums(std::vector<double> const& found, std::vector<double> const& expected)
  {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-10 * (1 + std::abs(expected[i]))) << "number " << i;
  }

  /// What a source gives by itself if it is at least `limit` away, target by target.
  std::vector<double> one_by_one(many const& of, int nd, double limit, complex k)
  {
    std::vector<double> all;
    for (int j = 0; j < many::n_sources; ++j)
    {
      auto const part =
          sums(of, nd, {of.y.begin() + 3 * j, of.y.begin() + 3 * j + 3},
               {of.inputs.begin() + 8 * nd * j, of.inputs.begin() + 8 * nd * (j + 1)}, limit, k);
      if (all.empty()) all.resize(part.size());
      add_to(all, part);
    }
    return all;
  }

  TEST(fmm3d, many_points_and_right_hand_sides_are_the_sum_of_single_sources)
  {
    many const of;
    for (int const nd : {1, 2})
      for (complex const k : {complex(2), complex(2, 0.5)})
      {
        std::vector<double> const inputs(of.inputs.begin(),
                                         of.inputs.begin() + 8 * nd * many::n_sources);
        expect_equal_sums(sums(of, nd, of.y, inputs, 1e-14, k), one_by_one(of, nd, 1e-14, k));
      }
  }

  TEST(fmm3d, pairs_below_the_threshold_are_left_out)
  {
    many const of;
    std::vector<double> const inputs(of.inputs.begin(), of.inputs.begin() + 8 * many::n_sources);
    auto const some = sums(of, 1, of.y, inputs, 0.5, 2);
    expect_equal_sums(some, one_by_one(of, 1, 0.5, 2));
    EXPECT_NE(some[0], sums(of, 1, of.y, inputs, 1e-14, 2)[0]);
    // |r| = thresh counts
    std::array<double, 3> const x{1, 0, 0}, y{};
    double pot = 0, const_q = 1;
    for (double const limit : {1.0, std::nextafter(1.0, 2.0)})
      l3ddirectcp_(&one, y.data(), &const_q, &one, x.data(), &one, &pot, &limit);
    EXPECT_NEAR(pot, 0.25 / std::numbers::pi, 1e-15);
  }
}
