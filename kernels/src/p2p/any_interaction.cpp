#include <nearfield/kernels/any_interaction.hpp>

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/p2p/backend.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace nearfield
{
  namespace
  {
    using detail::erased_type;

    /// The parameters of K, in its order.
    template <class K>
    auto parameters_of_all()
    {
      if constexpr (requires { K::parameters(); })
        return K::parameters();
      else
        return std::array<parameter<K>, 0>{};
    }

    template <class K>
    std::span<parameter_info const> infos_of_parameters()
    {
      static auto const infos = []
      {
        std::vector<parameter_info> made;
        for (parameter<K> const& each : parameters_of_all<K>())
          made.push_back({each.name, K{}.*each.member, each.range, each.unit});
        return made;
      }();
      return infos;
    }

    template <class K>
    interaction_info info_of(int number)
    {
      interaction_info info{.name = K::name,
                            .group = detail::group_of(number),
                            .dim = K::dim,
                            .n_in = K::n_in,
                            .n_out = K::n_out,
                            .flops = K::flops,
                            .has_mutual = detail::has_way_back<K>,
                            .is_built = detail::is_built(detail::group_of(number)),
                            .parameters = infos_of_parameters<K>(),
                            .point_parameters = {},
                            .formula = {},
                            .source = {},
                            .inputs = {},
                            .outputs = {}};
      if constexpr (requires { K::point_parameters; }) info.point_parameters = K::point_parameters;
      if constexpr (requires { K::formula; }) info.formula = K::formula;
      if constexpr (requires { K::source; }) info.source = K::source;
      if constexpr (requires { K::inputs; }) info.inputs = K::inputs;
      if constexpr (requires { K::outputs; }) info.outputs = K::outputs;
      return info;
    }

    template <class K>
    void matrix_of(void const* k, long double const* r, long double const* target,
                   long double const* source, long double* entries)
    {
      detail::pair_at<K, long double> pair;
      std::copy_n(r, K::dim, pair.r.data);
      if constexpr (constexpr int n = detail::parameters_of<K>; n > 0)
      {
        std::copy_n(target, n, pair.target.data);
        std::copy_n(source, n, pair.source.data);
      }
      auto const map = detail::evaluate(*static_cast<K const*>(k), pair);
      for (int i = 0; i < K::n_in; ++i)
      {
        vec<long double, K::n_in> unit{};
        unit[i] = 1;
        auto const column = map.to(unit);
        for (int o = 0; o < K::n_out; ++o) entries[o * K::n_in + i] = column[o];
      }
    }

    template <class K>
    erased_type erased_type_of(int number, interaction_info const& info)
    {
      static_assert(std::is_trivially_copyable_v<K> &&
                    sizeof(K) <= sizeof(detail::erased_interaction::value) && alignof(K) <= 16);
      static K const by_default{};
      return {.number = number,
              .shape = detail::shape_of(by_default),
              .info = &info,
              .by_default = &by_default,
              .size = sizeof(K),
              .parameter = [](void* k, int p) -> double&
              {
                if constexpr (requires { K::parameters(); })
                  return static_cast<K*>(k)->*K::parameters()[static_cast<std::size_t>(p)].member;
                else
                  throw error("any_interaction: there is no parameter " + std::to_string(p));
              },
              .is_singular_float = [](void const* k)
              { return is_singular<float>(*static_cast<K const*>(k)); },
              .is_singular_double = [](void const* k)
              { return is_singular<double>(*static_cast<K const*>(k)); },
              .is_radial = detail::radial_interaction<K>,
              .cutoff = [](void const* k) { return detail::cutoff_of(*static_cast<K const*>(k)); },
              .matrix = &matrix_of<K>};
    }

    std::vector<interaction_info> const& all_infos()
    {
      static auto const infos = []
      {
        std::vector<interaction_info> made;
        detail::builtin_interactions::for_each(
            [&]<class K>() { made.push_back(info_of<K>(static_cast<int>(made.size()))); });
        return made;
      }();
      return infos;
    }

    /// Interactions compute squares of lengths, or their reciprocals, in the precision of a call.
    template <class T>
    bool has_square(double parameter)
    {
      double const square = parameter * parameter, largest = std::numeric_limits<T>::max();
      return parameter == 0 || (square <= largest && 1 / square <= largest);
    }

    [[noreturn]] void refuse_name(std::string_view name, int dim)
    {
      std::string names, dims;
      std::string_view last;
      for (interaction_info const& info : all_infos())
      {
        if (info.name == name) dims += (dims.empty() ? "" : ", ") + std::to_string(info.dim) + "D";
        // dimensions of an interaction follow each other
        if (info.name != std::exchange(last, info.name))
          names += (names.empty() ? "" : ", ") + std::string(info.name);
      }
      std::string const wanted(name);
      if (dims.empty())
        throw error("interaction: there is no '" + wanted + "'; built in are " + names);
      throw error("interaction: " + wanted + " does not exist in " + std::to_string(dim) +
                  "D; choose another, or points in " + dims);
    }

    erased_type const& find(std::string_view name, int dim)
    {
      for (erased_type const& type : detail::erased_types())
        if (type.info->name == name && type.info->dim == dim) return type;
      refuse_name(name, dim);
    }
  }

  std::string detail::wrong_value(std::string_view name, parameter_range range,
                                  std::string_view unit, double value)
  {
    bool const fits = range == parameter_range::any ||
                      (range == parameter_range::positive ? value > 0 : value >= 0);
    if (fits && std::isfinite(value)) return {};
    char const* const expected[] = {"a finite number", "a finite number, 0 or more",
                                    "a positive, finite number"};
    return std::string(name) + " is " + number_text(value) + "; give " +
           expected[static_cast<int>(range)] + " (" + std::string(unit) + ")";
  }

  std::span<interaction_info const> interaction_infos()
  {
    return all_infos();
  }

  std::span<detail::erased_type const> detail::erased_types()
  {
    static auto const types = []
    {
      std::vector<erased_type> made;
      builtin_interactions::for_each(
          [&]<class K>()
          {
            made.push_back(
                erased_type_of<K>(static_cast<int>(made.size()), all_infos()[made.size()]));
          });
      return made;
    }();
    return types;
  }

  any_interaction::any_interaction(std::string_view name, int dim,
                                   std::span<std::pair<std::string_view, double> const> parameters)
  {
    erased_.type = &find(name, dim);
    std::memcpy(erased_.value, erased_.type->by_default, erased_.type->size);
    auto const& known = info().parameters;
    for (std::size_t g = 0; g < parameters.size(); ++g)
    {
      auto const& given = parameters[g];
      if (std::ranges::find(parameters.first(g), given.first,
                            &std::pair<std::string_view, double>::first) !=
          parameters.first(g).end())
        throw error(std::string(name) + ": parameter " + std::string(given.first) +
                    " is given twice; give each once");
      auto const at = std::ranges::find(known, given.first, &parameter_info::name);
      if (at == known.end())
      {
        std::string names;
        for (parameter_info const& each : known)
          names += (names.empty() ? "; it has " : ", ") + std::string(each.name);
        throw error(std::string(name) + " has no parameter '" + std::string(given.first) + "'" +
                    (names.empty() ? "; it has none" : names));
      }
      erased_.type->parameter(erased_.value, static_cast<int>(at - known.begin())) = given.second;
    }
    finish();
  }

  any_interaction::any_interaction(int number, void const* k)
  {
    erased_.type = &detail::erased_types()[static_cast<std::size_t>(number)];
    std::memcpy(erased_.value, k, erased_.type->size);
    finish();
  }

  void any_interaction::finish()
  {
    erased_type const& type = *erased_.type;
    if (!info().is_built) detail::refuse_left_out(type.number);
    for (std::size_t p = 0; p < info().parameters.size(); ++p)
    {
      parameter_info const& of = info().parameters[p];
      if (auto const wrong = detail::wrong_value(of.name, of.range, of.unit, parameter(p));
          !wrong.empty())
        throw error(std::string(info().name) + ": " + wrong);
    }
    erased_.cutoff = type.cutoff(erased_.value);
    bool const in_float = type.is_singular_float(erased_.value),
               in_double = type.is_singular_double(erased_.value);
    erased_.in_float = {in_float, in_float || type.is_radial, true};
    erased_.in_double = {in_double, in_double || type.is_radial, true};
    for (std::size_t p = 0; p < info().parameters.size(); ++p)
    {
      erased_.in_float.fits &= has_square<float>(parameter(p));
      erased_.in_double.fits &= has_square<double>(parameter(p));
    }
  }

  template <class T>
  void detail::refuse_squares(erased_interaction const& k)
  {
    interaction_info const& of = *k.type->info;
    auto value = k; // a copy, since the accessor gives what may be written
    for (std::size_t p = 0; p < of.parameters.size(); ++p)
      if (double const given = k.type->parameter(value.value, static_cast<int>(p));
          !has_square<T>(given))
        throw error(std::string(of.name) + ": " + std::string(of.parameters[p].name) + " is " +
                    number_text(given) + ", whose square underflows or overflows in " +
                    (sizeof(T) == 4 ? "f32" : "f64") + "; use other units of length");
  }
  template void detail::refuse_squares<float>(erased_interaction const&);
  template void detail::refuse_squares<double>(erased_interaction const&);

  double any_interaction::parameter(std::size_t p) const
  {
    if (p >= info().parameters.size())
      throw error(std::string(info().name) + ": parameter " + std::to_string(p) + " of " +
                  std::to_string(info().parameters.size()) + "; give a number below");
    auto k = erased_; // a copy, since the accessor gives what may be written
    return k.type->parameter(k.value, static_cast<int>(p));
  }
}
