#pragma once

#include <nearfield/core/linear_map.hpp>
#include <nearfield/core/math.hpp>

#include <cmath>
#include <concepts>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

namespace nearfield
{
  namespace detail
  {
    template <class Map, class V, int NOut, int NIn>
    concept linear_map = requires(Map const& map, vec<V, NIn> q) {
      {
        map.to(q)
      } -> std::same_as<vec<V, NOut>>; // remedy: return a map of vec<V, n_in> to vec<V, n_out>
    };

    /// The number of parameters of a point.
    template <class K>
    inline constexpr int parameters_of = 0;
    template <class K>
      requires requires { K::n_parameters; }
    inline constexpr int parameters_of<K> = K::n_parameters;

    /// Whether K says that it evaluates exp, erfc or the like.
    template <class K>
    inline constexpr bool calls_functions = requires { requires K::calls_functions; };

    /// Whether K says that it is finite at r = 0.
    template <class K>
    inline constexpr bool always_regular = requires { requires K::is_regular; };

    /// The number of columns of points: coordinates, then parameters.
    template <class K>
    inline constexpr int point_columns = K::dim + parameters_of<K>;

    template <class K, class V>
    concept callable_with_r = requires(K const& k, vec<V, K::dim> r) {
      { k(r) } -> linear_map<V, K::n_out, K::n_in>; // remedy: return mat<V, n_out, n_in>
    };
    template <class K, class V>
    concept callable_with_root = requires(K const& k, vec<V, K::dim> r, V inv_r) {
      { k(r, inv_r) } -> linear_map<V, K::n_out, K::n_in>; // remedy: return mat<V, n_out, n_in>
    };

    // the same of interactions with parameters of the target and of the source
    template <class K, class V>
    concept callable_with_parameters =
        parameters_of<K> > 0 &&
        requires(K const& k, vec<V, K::dim> r, vec<V, parameters_of<K>> of_point) {
          { k(r, of_point, of_point) } -> linear_map<V, K::n_out, K::n_in>;
        };
    template <class K, class V>
    concept callable_with_root_and_parameters =
        parameters_of<K> > 0 &&
        requires(K const& k, vec<V, K::dim> r, V inv_r, vec<V, parameters_of<K>> of_point) {
          { k(r, inv_r, of_point, of_point) } -> linear_map<V, K::n_out, K::n_in>;
        };
  }

  /// The values that a parameter may have; all must be finite.
  enum class parameter_range
  {
    any,
    not_negative,
    positive
  };

  /// A member of an interaction K that can be set by its name at run time.
  template <class K>
  struct parameter
  {
    std::string_view name;                    ///< of the member
    std::type_identity_t<double K::*> member; ///< where it is
    parameter_range range;                    ///< the values that it may have
    std::string_view unit;                    ///< such as "length" or "1 / length"
  };

  /// A number that an interaction reads of each point, in a column after the coordinates.
  struct point_parameter
  {
    std::string_view name;                        ///< such as "eps"
    parameter_range range = parameter_range::any; ///< the values that it may have
    std::string_view unit = "1";                  ///< such as "length"; "1": none
  };

  namespace detail
  {
    /// Names the two members that are forgotten most often; for an unsatisfied concept alone, compilers print pages.
    template <class K>
    struct has_flops_and_name
    {
      static_assert(
          requires {
            { K::flops } -> std::convertible_to<double>;
          },
          "an interaction needs the operations of one pair, for rates in reports: static constexpr "
          "int flops = 9;");
      static_assert(
          requires {
            { K::name } -> std::convertible_to<std::string_view>;
          }, "an interaction needs a name, for reports and StarPU's performance models: static "
             "constexpr auto name = \"softened\";");
      static constexpr bool value = true;
    };

    /// The shape of an interaction: dimension, number of inputs and outputs, cost and name. A type that has the
    /// first three and lacks `flops` or `name` does not compile.
    template <class K>
    concept has_shape = requires {
      requires K::dim == 2 || K::dim == 3; // remedy: static constexpr int dim = 2 or 3
      requires K::n_in >= 1;               // remedy: static constexpr int n_in
      requires K::n_out >= 1;              // remedy: static constexpr int n_out
    } && has_flops_and_name<K>::value;

    /// A radial interaction is written as f(r, 1/|r|), so that the loop chooses how to compute the reciprocal
    /// root. For a pair at distance zero the loop calls it with r = 0 and 1/|r| = 0, and it must then return
    /// the zero map.
    template <class K>
    concept radial_interaction = has_shape<K> && (callable_with_root<K, double> ||
                                                  callable_with_root_and_parameters<K, double>);

    /// An interaction that is zero where |r| >= k.cutoff(). On a GPU, pairs further apart then cost a test only, and on CPUs
    /// whole packs of them if it is not radial.
    template <class K>
    concept has_cutoff = requires(K const& k) {
      { k.cutoff() } -> std::convertible_to<double>;
    };

    /// A radial interaction whose output o is homogeneous of degree `inv_r_power(o)` in its second argument:
    /// the loop may leave a constant factor in the root and scale the sums once.
    template <class K>
    concept homogeneous_in_root = radial_interaction<K> && requires {
      { K::inv_r_power(0) } -> std::convertible_to<int>;
    };
  }

  /// An interaction K: a linear map of r = x_target - x_source.
  ///
  ///     out(target) += K(r) q(source)
  ///
  /// It is a struct with `dim`, `n_in`, `n_out`, `flops` (one evaluation: r, K and the accumulation;
  /// add, multiply and root count 1, fma 2), `name`, and
  ///
  ///     template <class V> NEARFIELD_FN auto operator()(nearfield::vec<V, dim> const& r) const;
  ///
  /// or the radial form with a second argument `V const& inv_r`. It returns a `mat`, or a map with both
  /// directions, `to(q)` = K(r) q and `back(q)` = K(-r) q. With `mat`, mutual kernels also need a member
  /// `symmetry`. NEARFIELD_FN forces the operator inline, so that files of different instruction sets
  /// share no copy of it.
  ///
  /// Where K depends on more than r, it reads parameters of both points, such as a softening length or a type. Then
  /// it declares `n_parameters`, and the operator takes those of the target and of the source after its other
  /// arguments:
  ///
  ///     template <class V> NEARFIELD_FN auto
  ///     operator()(vec<V, dim> const& r, vec<V, n_parameters> const& target,
  ///                vec<V, n_parameters> const& source) const;
  ///
  /// They are columns of the points, after the coordinates: soa{x, y, z, softening}. `back(q)` and
  /// `symmetry` are of K with the points exchanged, K(-r; source, target).
  ///
  /// An interaction of the library also describes itself, for the command line and for callers in other languages:
  ///
  ///     static constexpr std::string_view formula = "exp(-|r|^2 / sigma^2)", source = "...";
  ///     static constexpr std::string_view inputs = "charge", outputs = "potential";
  ///     static constexpr std::array point_parameters{point_parameter{"eps", parameter_range::not_negative, "length"}};
  ///     static constexpr auto parameters()
  ///     {
  ///       return std::array{parameter<gaussian>{"sigma", &gaussian::sigma, parameter_range::positive, "length"}};
  ///     }
  ///
  /// `parameters()` names the members that a caller may set, `point_parameters` the columns after the coordinates.
  ///
  /// One that evaluates exp, erfc or the like may say `static constexpr bool calls_functions = true`: its register blocks
  /// are then wider, which gains up to 45 % with one output in double on AVX2.
  ///
  /// One that is regular (is_singular) whatever its parameters may say `static constexpr bool is_regular = true`, and takes
  /// less time to compile.
  ///
  /// An interaction that ends may say where: `NEARFIELD_FN double cutoff() const`, a length. K must be zero where |r| >=
  /// cutoff(): sums of one right-hand side leave such pairs out where that pays (one-sided ones on a GPU and, if K is not
  /// radial, those of CPUs).
  template <class K>
  concept interaction = detail::has_shape<K> && (detail::callable_with_r<K, double> ||
                                                 detail::callable_with_parameters<K, double> ||
                                                 detail::radial_interaction<K>);

  namespace detail
  {
    /// What K reads of a pair of points.
    template <class K, class V, int P = parameters_of<K>>
    struct pair_at
    {
      vec<V, K::dim> r; ///< x_target - x_source
      vec<V, P> target, source;
    };
    template <class K, class V>
    struct pair_at<K, V, 0>
    {
      vec<V, K::dim> r;
    };
  }

  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    /// The pair of a target and a source, given by their columns.
    template <class K, class V>
    NEARFIELD_FN pair_at<K, V> between(vec<V, point_columns<K>> const& target,
                                       vec<V, point_columns<K>> const& source)
    {
      pair_at<K, V> pair;
      NEARFIELD_UNROLL
      for (int d = 0; d < K::dim; ++d) pair.r[d] = target[d] - source[d];
      if constexpr (parameters_of<K> > 0)
      {
        NEARFIELD_UNROLL
        for (int p = 0; p < parameters_of<K>; ++p)
        {
          pair.target[p] = target[K::dim + p];
          pair.source[p] = source[K::dim + p];
        }
      }
      return pair;
    }

    /// The pair at r whose parameters are all 1.
    template <class K, class V>
    NEARFIELD_FN pair_at<K, V> unit_pair(vec<V, K::dim> const& r)
    {
      pair_at<K, V> pair{};
      pair.r = r;
      if constexpr (parameters_of<K> > 0)
      {
        NEARFIELD_UNROLL
        for (int p = 0; p < parameters_of<K>; ++p) pair.target[p] = pair.source[p] = V(1);
      }
      return pair;
    }

    /// The map K of a pair; inv_r is that of a radial interaction.
    template <class K, class V, class... Root>
    NEARFIELD_FN auto map_of(K const& k, pair_at<K, V> const& pair, Root const&... inv_r)
    {
      if constexpr (parameters_of<K> > 0)
        return k(pair.r, inv_r..., pair.target, pair.source);
      else
        return k(pair.r, inv_r...);
    }

    /// The same, whether or not K is radial.
    template <class K, class V>
    NEARFIELD_FN auto evaluate(K const& k, pair_at<K, V> const& pair)
    {
      if constexpr (radial_interaction<K>)
        return map_of(k, pair, math<V>::rsqrt(dot(pair.r, pair.r)));
      else
        return map_of(k, pair);
    }
    /// With parameters of 1, if K has any.
    template <class K, class V>
    NEARFIELD_FN auto evaluate(K const& k, vec<V, K::dim> const& r)
    {
      return evaluate(k, unit_pair<K>(r));
    }

    /// The parity of output o, for a map without `back`.
    template <class K>
    constexpr parity parity_of(int o)
    {
      if constexpr (requires { K::symmetry[0]; })
        return K::symmetry[o];
      else
        return K::symmetry;
    }

    /// Negates the odd outputs. Parities are passed as template arguments, since device code cannot read the
    /// static array K::symmetry.
    template <class K, class V, int... O>
    NEARFIELD_FN void turn_odd(vec<V, K::n_out>& values, std::integer_sequence<int, O...>)
    {
      auto const turn = [&]<bool IsOdd>(V& value, std::bool_constant<IsOdd>)
      {
        if constexpr (IsOdd) value = -value;
      };
      (turn(values[O], std::bool_constant < parity_of<K>(O) == parity::odd > {}), ...);
    }

    /// K(-r) q from the map of K(r).
    template <class K, class Map, class V>
    NEARFIELD_FN vec<V, K::n_out> apply_back(Map const& map, vec<V, K::n_in> const& q)
    {
      if constexpr (requires { map.back(q); })
        return map.back(q);
      else
      {
        static_assert(
            requires { K::symmetry; },
            "a mutual kernel needs K(-r): give the interaction a `static constexpr auto "
            "symmetry = nearfield::parity::even` (or odd, or one per output), or return "
            "a map with a member back(q)");
        vec<V, K::n_out> result = map.to(q);
        turn_odd<K>(result, std::make_integer_sequence<int, K::n_out>{});
        return result;
      }
    }

    /// One parity for several outputs would be wrong for some in silence: a value is even and its gradient odd.
    template <class K>
    struct has_parity_of_each_output
    {
      static constexpr int count()
      {
        if constexpr (requires { K::symmetry[0]; })
          return static_cast<int>(std::size(K::symmetry));
        else
          return 1;
      }
      static_assert(count() == K::n_out,
                    "`symmetry` needs a parity for each output: static constexpr std::array "
                    "symmetry{nearfield::parity::even, nearfield::parity::odd, ...}; or return a "
                    "map with a member back(q)");
      static constexpr bool value = true;
    };

    template <class K>
    concept has_way_back = requires(K const& k, vec<double, K::dim> r, vec<double, K::n_in> q) {
      evaluate(k, r).back(q);
    } || (requires { K::symmetry; } && has_parity_of_each_output<K>::value);
  }
}

namespace nearfield
{
  class any_interaction; // nearfield/kernels/any_interaction.hpp

  namespace detail
  {
    /// What calls ask of an interaction besides its kernels, parameters and zero.
    struct interaction_shape
    {
      std::string_view name;
      int dim, n_x, n_in, n_out; ///< n_x: columns of points
      double flops;
      bool has_way_back;
      bool has_cutoff;
    };

    /// An interaction that is known at run time only.
    template <class K>
    concept run_time_interaction = std::same_as<K, any_interaction>;

    /// What calls take.
    template <class K>
    concept called_interaction = interaction<K> || run_time_interaction<K>;

    /// What mutual calls take; those that are known at run time refuse one without K(-r) there.
    template <class K>
    concept mutual_interaction = run_time_interaction<K> || has_way_back<K>;
  }

  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    /// The shape of an interaction: constants of a type, and what any_interaction found.
    template <interaction K>
    constexpr interaction_shape shape_of(K const&)
    {
      return {K::name,         K::dim,       point_columns<K>,
              K::n_in,         K::n_out,     static_cast<double>(K::flops),
              has_way_back<K>, has_cutoff<K>};
    }
    template <run_time_interaction K>
    interaction_shape const& shape_of(K const& k)
    {
      return k.erased().type->shape;
    }

    /// What compiled kernels take.
    template <called_interaction K>
    void const* value_at(K const& k)
    {
      if constexpr (run_time_interaction<K>)
        return k.erased().value;
      else
        return &k;
    }

    /// The length where K ends; 0 if it does not.
    template <called_interaction K>
    double cutoff_of(K const& k)
    {
      if constexpr (run_time_interaction<K>)
        return k.erased().cutoff;
      else if constexpr (has_cutoff<K>)
        return k.cutoff();
      else
        return 0;
    }
  }
}

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// Whether K(0), with parameters of 1, is finite in T.
  template <class T, interaction K>
  bool is_finite_at_zero(K const& k)
  {
    auto const map = evaluate(k, vec<T, K::dim>{});
    for (int i = 0; i < K::n_in; ++i)
    {
      vec<T, K::n_in> q{};
      q[i] = 1;
      auto const value = map.to(q);
      for (int o = 0; o < K::n_out; ++o)
        if (!std::isfinite(value[o])) return false;
    }
    return true;
  }
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  /// Whether K(0), computed in T with parameters of 1, is not finite. A pair at distance zero then contributes zero; a regular
  /// interaction (a Gaussian, a softened one) counts it like any other pair.
  template <class T = double, detail::called_interaction K>
  bool is_singular(K const& k)
  {
    if constexpr (detail::run_time_interaction<K>)
      return k.erased().template zero<T>().is_singular;
    else if constexpr (detail::always_regular<K>)
      return false;
    else
      return !detail::is_finite_at_zero<T>(k);
  }
}

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// Whether the loop must test for pairs at distance zero: to leave them out of a singular interaction, or
  /// to give a radial one 1/|r| = 0.
  template <class T, called_interaction K>
  bool tests_for_zero(K const& k)
  {
    if constexpr (run_time_interaction<K>)
      return k.erased().template zero<T>().is_tested;
    else
      return radial_interaction<K> || is_singular<T>(k);
  }
}
