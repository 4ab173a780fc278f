#pragma once

/// \file
/// Built-in interactions by name, for programs whose users choose one: files, command lines, other languages.
///
///     nearfield::any_interaction const k("gaussian", 3, {{{"sigma", 0.1}}});
///     nearfield::p2p_inner(nearfield::simd, k, x, q, phi);
///
/// Every call that takes an interaction takes it, on CPUs and GPUs, in StarPU tasks and over ranks, with the same
/// kernels, results and errors; what a type would tell the compiler, such as the number of columns, is checked at run
/// time.

#include <nearfield/core/config.hpp>
#include <nearfield/core/interaction.hpp>
#include <nearfield/kernels/builtin.hpp>

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace nearfield
{
  /// A parameter that all pairs of points share.
  struct parameter_info
  {
    std::string_view name; ///< such as "sigma"
    double by_default;     ///< its value unless another is given
    parameter_range range; ///< the values that it may have
    std::string_view unit; ///< such as "length"
  };

  /// What a built-in interaction is.
  struct interaction_info
  {
    std::string_view name;                      ///< the same in each dimension
    std::string_view group;                     ///< for NEARFIELD_KERNELS
    int dim;                                    ///< of the points: 2 or 3
    int n_in;                                   ///< inputs of a source
    int n_out;                                  ///< outputs of a target
    int flops;                                  ///< of one pair
    bool has_mutual;                            ///< whether it has mutual forms
    bool is_built;                              ///< whether this build has its kernels
    std::span<parameter_info const> parameters; ///< that all pairs share
    /// columns of points, after the coordinates
    std::span<point_parameter const> point_parameters;
    std::string_view formula; ///< K(r), r = x_target - x_source
    std::string_view source;  ///< the paper it is from, if any
    std::string_view inputs;  ///< what q is
    std::string_view outputs; ///< what is summed
  };

  /// All built-in interactions, in each dimension that they have, also those whose group this build leaves out.
  NEARFIELD_API std::span<interaction_info const> interaction_infos();

  namespace detail
  {
    /// "eps is -1; give ...", or an empty text for a value that is finite and in range.
    NEARFIELD_API std::string wrong_value(std::string_view name, parameter_range range,
                                          std::string_view unit, double value);

    /// A built-in interaction without its type.
    struct erased_type
    {
      int number; ///< in builtin_interactions
      interaction_shape shape;
      interaction_info const* info;
      void const* by_default; ///< the interaction with default parameters
      std::size_t size;       ///< of its value
      double& (*parameter)(void* k, int p);
      bool (*is_singular_float)(void const* k);
      bool (*is_singular_double)(void const* k);
      bool is_radial;
      double (*cutoff)(void const* k); ///< 0 if there is none
      /// K for r and the parameters of both points: entry (o, i) at [o * n_in + i]; r is not zero
      void (*matrix)(void const* k, long double const* r, long double const* target,
                     long double const* source, long double* entries);
    };

    /// All built-in interactions, by number.
    NEARFIELD_API std::span<erased_type const> erased_types();

    struct erased_interaction;
    /// Throws nearfield::error for a parameter whose square, or its reciprocal, leaves the range of T.
    template <class T>
    NEARFIELD_API void refuse_squares(erased_interaction const& k);

    /// A built-in interaction and its parameters, which calls read.
    struct erased_interaction
    {
      /// What pairs at distance zero need in one precision.
      struct at_zero
      {
        bool is_singular, is_tested;
        bool fits; ///< squares of the parameters, and their reciprocals, are in range
      };

      erased_type const* type;
      double cutoff; ///< 0 if there is none
      at_zero in_float, in_double;
      alignas(16) std::byte value[64];

      /// Throws nearfield::error if parameters do not fit T.
      template <class T>
      [[nodiscard]] at_zero const& zero() const
      {
        at_zero const& found = std::is_same_v<T, float> ? in_float : in_double;
        if (!found.fits) [[unlikely]]
          refuse_squares<T>(*this);
        return found;
      }
    };
  }

  /// A built-in interaction, known by its name at run time. Calls throw nearfield::error if the square of a parameter, or
  /// its reciprocal, leaves the range of the type of their columns.
  class NEARFIELD_API any_interaction
  {
  public:
    /// With these parameters, and others by default. Throws nearfield::error for a name, a dimension or a parameter that
    /// does not exist, for a value out of its range, and for a group that this build leaves out.
    any_interaction(std::string_view name, int dim,
                    std::span<std::pair<std::string_view, double> const> parameters = {});
    /// The same, of parameters that are listed: {{"sigma", 0.1}}.
    any_interaction(std::string_view name, int dim,
                    std::initializer_list<std::pair<std::string_view, double>> parameters)
        : any_interaction(name, dim, std::span(parameters.begin(), parameters.size()))
    {}
    /// Of a built-in interaction. Throws nearfield::error as above for its parameters and its group.
    template <detail::builtin_interaction K>
    any_interaction(K const& k) // NOLINT(google-explicit-constructor)
        : any_interaction(detail::builtin_interactions::index_of<K>(), &k)
    {}

    /// What it is.
    [[nodiscard]] interaction_info const& info() const { return *erased_.type->info; }
    /// The value of parameter p of info().parameters.
    [[nodiscard]] double parameter(std::size_t p) const;
    /// For calls.
    [[nodiscard]] detail::erased_interaction const& erased() const { return erased_; }

  private:
    any_interaction(int number, void const* k);
    void finish();

    detail::erased_interaction erased_{};
  };
}
