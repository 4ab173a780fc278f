#pragma once

#include <nearfield/core/numbers.hpp>
#include <nearfield/p2p/p2p.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

/// \file
/// A check of your own interaction, for a test of yours:
///
///     EXPECT_EQ(nearfield::check_interaction(nearfield::simd, screened{2.}), "");

namespace nearfield
{
  /// What check_interaction() needs to know of an interaction.
  struct check_options
  {
    /// a distance at which points of yours meet: K is evaluated from a twentieth of it on; length^1
    double length = 1;
    /// Outputs 1 to dim are the gradient of output 0 with respect to the target. A value_radial map always has it.
    bool has_gradient = false;
    /// The range of the parameters of points, if the interaction has any.
    std::array<double, 2> parameters{0.5, 1.5};
    /// Parameters are whole numbers below the end of the range, such as types.
    bool whole_parameters = false;
  };

  namespace detail
  {
    /// Problems, one a line, each kind once.
    class check_report
    {
    public:
      void expect(bool holds, std::string const& kind, std::string const& detail = "")
      {
        if (holds || std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end()) return;
        kinds_.push_back(kind);
        text += kind + detail + "\n";
      }
      std::string text;

    private:
      std::vector<std::string> kinds_;
    };

    /// The same numbers in every run, in [0, 1).
    class check_numbers
    {
    public:
      double operator()()
      {
        state_ = 6364136223846793005u * state_ +
                 1442695040888963407u; // Knuth's linear congruential generator
        return static_cast<double>(state_ >> 11) * 0x1p-53;
      }

    private:
      std::uint64_t state_ = 1;
    };

    /// The larger one; NaN if one is, which std::max may drop.
    inline double larger(double a, double b)
    {
      return a > b || std::isnan(a) ? a : b;
    }

    /// What float need not hold: a Gaussian far away.
    inline constexpr double negligible = std::numeric_limits<float>::min();

    template <class Map>
    inline constexpr bool is_value_radial = false;
    template <class V, int D, int Sign>
    inline constexpr bool is_value_radial<value_radial<V, D, Sign>> = true;
  }

  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    template <class K, class T>
    using check_matrix = std::array<std::array<T, K::n_in>, K::n_out>;

    /// A parameter of a point.
    inline double parameter_between(check_options const& options, check_numbers& random)
    {
      auto const [least, most] = options.parameters;
      double const at = least + (most - least) * random();
      return options.whole_parameters ? std::floor(at) : at;
    }

    /// The pair in another precision.
    template <class K, class V, class T>
    pair_at<K, V> rounded(pair_at<K, T> const& from)
    {
      pair_at<K, V> to{};
      for (int d = 0; d < K::dim; ++d) to.r[d] = static_cast<V>(from.r[d]);
      if constexpr (parameters_of<K> > 0)
        for (int p = 0; p < parameters_of<K>; ++p)
        {
          to.target[p] = static_cast<V>(from.target[p]);
          to.source[p] = static_cast<V>(from.source[p]);
        }
      return to;
    }

    /// The pair with its points exchanged.
    template <class K, class T>
    pair_at<K, T> exchanged(pair_at<K, T> pair)
    {
      for (int d = 0; d < K::dim; ++d) pair.r[d] = -pair.r[d];
      if constexpr (parameters_of<K> > 0) std::swap(pair.target, pair.source);
      return pair;
    }

    /// The matrix of a map, or of its way back.
    template <class T, class K>
    check_matrix<K, double> matrix_at(K const& k, pair_at<K, T> const& pair, bool back = false)
    {
      check_matrix<K, double> made{};
      auto const map = evaluate(k, pair);
      for (int i = 0; i < K::n_in; ++i)
      {
        vec<T, K::n_in> q{};
        q[i] = 1;
        auto column = map.to(q);
        if constexpr (has_way_back<K>)
          if (back) column = apply_back<K>(map, q);
        for (int o = 0; o < K::n_out; ++o) made[o][i] = static_cast<double>(column[o]);
      }
      return made;
    }

    /// Calls f(o, i) for each entry.
    template <class K, class F>
    void for_each_entry(F const& f)
    {
      for (int o = 0; o < K::n_out; ++o)
        for (int i = 0; i < K::n_in; ++i) f(o, i);
    }

    template <class K>
    void check_at(check_report& report, K const& k, pair_at<K, double> const& pair,
                  check_options const& options)
    {
      constexpr int dim = K::dim;
      auto const& r = pair.r;
      auto const m = matrix_at(k, pair);
      double largest = 0;
      for_each_entry<K>([&](int o, int i) { largest = larger(largest, std::abs(m[o][i])); });
      report.expect(std::isfinite(largest), "K(r) is not finite away from r = 0");
      if (!std::isfinite(largest)) return;
      auto const expect_equal = [&](check_matrix<K, double> const& found,
                                    check_matrix<K, double> const& expected, auto const& tolerance,
                                    std::string const& what)
      {
        for_each_entry<K>(
            [&](int o, int i)
            {
              report.expect(std::abs(found[o][i] - expected[o][i]) <= tolerance(o) + negligible,
                            "output " + std::to_string(o) + ": " + what,
                            ": " + number_text(found[o][i]) + " in place of " +
                                number_text(expected[o][i]));
            });
      };

      // outputs may differ by orders of magnitude: a value at a distance of 1e6, and its gradient
      auto const part_of_output = [&](double part)
      {
        return [&m, part](int o)
        {
          double most = 0;
          for (double const entry : m[o]) most = std::max(most, std::abs(entry));
          return part * most;
        };
      };
      auto const part_of_all = [&](double part)
      {
        return [=](int)
        {
          return part * largest;
        };
      };
      expect_equal(matrix_at(k, rounded<K, float>(pair)), m, part_of_all(1e-4),
                   "K(r) in float is not that in double");
      if constexpr (has_way_back<K>)
        expect_equal(matrix_at(k, pair, true), matrix_at(k, exchanged(pair)), part_of_output(1e-10),
                     "the way back (symmetry, or back() of the map) is not K(-r)");
      if constexpr (homogeneous_in_root<K>)
      {
        double const inv_r = 1 / std::sqrt(dot(r, r));
        auto const twice = map_of(k, pair, 2 * inv_r), once = map_of(k, pair, inv_r);
        for (int i = 0; i < K::n_in; ++i)
        {
          vec<double, K::n_in> q{};
          q[i] = 1;
          for (int o = 0; o < K::n_out; ++o)
            report.expect(std::abs(twice.to(q)[o] - std::ldexp(once.to(q)[o], K::inv_r_power(o))) <=
                              1e-10 * largest * std::ldexp(1., K::inv_r_power(o)),
                          "output " + std::to_string(o) +
                              ": inv_r_power is not its power of inv_r");
        }
      }
      if constexpr (has_cutoff<K>)
      {
        auto beyond = pair;
        double const times = 1.001 * k.cutoff() / std::sqrt(dot(r, r));
        for (int d = 0; d < dim; ++d) beyond.r[d] *= times;
        expect_equal(matrix_at(k, beyond), {}, part_of_output(0),
                     "K(r) is not zero beyond cutoff()");
      }
      using map = decltype(evaluate(k, pair));
      if (is_value_radial<map> || options.has_gradient)
      {
        if constexpr (K::n_out > dim)
        {
          double const length = std::sqrt(dot(r, r)), h = 1e-4 * length;
          auto differences = m;
          for (int d = 0; d < dim; ++d)
          {
            auto before = pair, after = pair;
            before.r[d] -= h;
            after.r[d] += h;
            auto const a = matrix_at(k, before), b = matrix_at(k, after);
            for (int i = 0; i < K::n_in; ++i) differences[d + 1][i] = (b[0][i] - a[0][i]) / (2 * h);
          }
          double of_value = 0, of_gradient = 0;
          for_each_entry<K>(
              [&](int o, int i)
              {
                double& most = o == 0 ? of_value : of_gradient;
                most = std::max(most, std::abs(m[o][i]));
              });
          double const scale = std::max(of_value / length, of_gradient);
          expect_equal(
              m, differences, [&](int) { return 1e-5 * scale; }, "not the derivative of output 0");
        }
        else
          report.expect(false, "a gradient needs dim + 1 outputs");
      }
    }

    /// Sums of n points on both forms, beside a plain loop.
    template <class T, cpu_place Where, class K>
    void check_sums(check_report& report, Where const& where, K const& k, std::size_t n,
                    check_options const& options)
    {
      check_numbers random;
      auto const columns = [&](int n_columns, auto const& value)
      {
        std::vector<std::vector<T>> made(static_cast<std::size_t>(n_columns), std::vector<T>(n));
        for (auto& column : made)
          for (T& v : column) v = static_cast<T>(value());
        return made;
      };
      auto const view = []<int N, class C>(std::vector<std::vector<C>>& of)
      {
        std::array<C*, N> pointers;
        for (int c = 0; c < N; ++c)
          pointers[static_cast<std::size_t>(c)] = of[static_cast<std::size_t>(c)].data();
        return soa<C, N>(pointers, of[0].size());
      };
      constexpr int n_x = point_columns<K>;
      auto x = columns(K::dim, [&] { return 2 * options.length * random(); });
      for (auto& parameters :
           columns(parameters_of<K>, [&] { return parameter_between(options, random); }))
        x.push_back(parameters);
      auto q = columns(K::n_in, [&] { return 0.5 + random(); });
      auto const zero = []
      {
        return 0.;
      };
      auto one_sided = columns(K::n_out, zero), mutual = columns(K::n_out, zero);
      std::vector<std::vector<double>> sums(K::n_out, std::vector<double>(n, 0.));
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
        {
          if (i == j) continue;
          vec<double, n_x> target, source;
          for (int d = 0; d < n_x; ++d)
          {
            auto const& column = x[static_cast<std::size_t>(d)];
            target[d] = double(column[i]);
            source[d] = double(column[j]);
          }
          auto const m = matrix_at(k, between<K>(target, source));
          for_each_entry<K>(
              [&](int o, int c)
              {
                sums[static_cast<std::size_t>(o)][i] +=
                    m[o][c] * double(q[static_cast<std::size_t>(c)][j]);
              });
        }
      auto const expect_near =
          [&](std::vector<std::vector<T>> const& found, std::string const& form)
      {
        for (std::size_t o = 0; o < found.size(); ++o)
        {
          double largest = 0, error = 0;
          for (std::size_t i = 0; i < n; ++i)
          {
            largest = std::max(largest, std::abs(sums[o][i]));
            error = larger(error, std::abs(double(found[o][i]) - sums[o][i]));
          }
          double const tolerance = 1e4 * double(std::numeric_limits<T>::epsilon());
          report.expect(error <= tolerance * largest + negligible,
                        "output " + std::to_string(o) + ": " + form + " sums of " +
                            (sizeof(T) == 4 ? "float" : "double") + " differ from a plain loop",
                        ", of " + std::to_string(n) + " points, by " + number_text(error) + " of " +
                            number_text(largest));
        }
      };
      soa<T const, n_x> const points = view.template operator()<n_x>(x);
      soa<T const, K::n_in> const inputs = view.template operator()<K::n_in>(q);
      p2p_inner(where, k, points, inputs, view.template operator()<K::n_out>(one_sided));
      expect_near(one_sided, "one-sided");
      if constexpr (has_way_back<K>)
      {
        p2p_inner_mutual(where, k, points, inputs, view.template operator()<K::n_out>(mutual));
        expect_near(mutual, "mutual");
      }
    }
  }
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  /// What is wrong with an interaction, one line for each kind of mistake; empty: nothing found. Checked are its way back
  /// (symmetry, or back() of its map) against K(-r); that float gives about what double gives; K(0), of a radial one at
  /// inv_r = 0; inv_r_power; that nothing is beyond cutoff(); a gradient against differences of its value; and sums of 1 to 40 points in both forms and
  /// precisions against a plain loop. It takes some milliseconds. Throws nearfield::error unless options.length is positive
  /// and finite.
  template <detail::cpu_place Where, interaction K>
  std::string check_interaction(Where const& where, K const& k, check_options const& options = {})
  {
    if (!(options.length > 0 && std::isfinite(options.length)))
      throw error("check_interaction: length is " + detail::number_text(options.length) +
                  "; give a positive, finite distance at which points meet");
    detail::check_report report;
    report.expect(K::flops > 0, "flops is not positive");
    report.expect(!std::string_view(K::name).empty(), "name is empty");
    report.expect(is_singular<float>(k) == is_singular<double>(k),
                  "K(0) is finite in one of float and double, and not in the other");
    if constexpr (detail::always_regular<K>)
      report.expect(detail::is_finite_at_zero<double>(k), "is_regular: K(0) is not finite");
    if constexpr (detail::radial_interaction<K>)
    {
      auto const map = detail::map_of(k, detail::unit_pair<K>(vec<double, K::dim>{}), 0.);
      for (int i = 0; i < K::n_in; ++i)
      {
        vec<double, K::n_in> q{};
        q[i] = 1;
        for (int o = 0; o < K::n_out; ++o)
          report.expect(map.to(q)[o] == 0,
                        "output " + std::to_string(o) + ": K(0, inv_r = 0) is not zero");
      }
    }
    detail::check_numbers random;
    for (int n = 0; n < 50;)
    {
      vec<double, K::dim> r;
      for (int d = 0; d < K::dim; ++d) r[d] = options.length * (2 * random() - 1);
      if (dot(r, r) < 0.0025 * options.length * options.length) continue;
      auto pair = detail::unit_pair<K>(r);
      if constexpr (detail::parameters_of<K> > 0)
        for (int p = 0; p < detail::parameters_of<K>; ++p)
        {
          pair.target[p] = detail::parameter_between(options, random);
          pair.source[p] = detail::parameter_between(options, random);
        }
      detail::check_at(report, k, pair, options);
      ++n;
    }
    for (std::size_t n = 1; n <= 40; ++n)
    {
      detail::check_sums<float>(report, where, k, n, options);
      detail::check_sums<double>(report, where, k, n, options);
    }
    return report.text;
  }
}
