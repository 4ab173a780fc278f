
#include <nearfield/core/error.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <string>

namespace nearfield::detail
{
  pair_form choose_form(char const* function, pair_form wanted, backend where, form_case const& of)
  {
    bool const is_possible = of.has_one_set && of.has_way_back;
    if (wanted == pair_form::mutual && !is_possible)
      throw error(std::string(function) + ": form mutual, but " +
                  (of.has_one_set ? std::string(of.interaction) + " has no mutual form"
                                  : std::string("there are two sets of points")) +
                  "; give one_sided or automatic");
    if (wanted != pair_form::automatic) return wanted;
    auto const least = static_cast<std::size_t>(
        cpu_mutual_least_points(of.real_bytes, of.n_out * of.n_rhs, of.plans_groups));
    bool const pays =
        where == backend::cuda
            ? !of.has_cutoff && cuda_mutual_pays(of.points, of.leaves, of.n_out, of.n_rhs)
            : of.points >= of.leaves * least;
    return is_possible && pays ? pair_form::mutual : pair_form::one_sided;
  }
}
