#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

/// \file
/// What pairs cost on a core or a GPU, by the size of leaves: measured at first use, which takes about 50 ms, and kept on
/// disk for this machine ($XDG_CACHE_HOME/nearfield or ~/.cache/nearfield; the environment variable NEARFIELD_CACHE
/// names another folder, or says `no`).
///
///     auto const cost = nearfield::pair_cost_of<float>(nearfield::simd, nearfield::one_over_r<>{});
///     double const seconds = cost(64, 27 * 64); // of a leaf of 64 points that meets 27 like it

namespace nearfield
{
  /// What the near field of one interaction in one precision, one form and one right-hand side costs on one core or on
  /// one GPU. A leaf of n targets that meets S sources takes seconds(n) + S seconds_per_source(n), both linear in n
  /// between the samples, and beyond the last two of them.
  class NEARFIELD_API pair_cost
  {
  public:
    /// Where the figures come from.
    enum class origin
    {
      table,   ///< a rough one, of no machine in particular
      kept,    ///< measured before, and kept on disk
      measured ///< measured now
    };
    /// Leaves of one size.
    struct sample
    {
      double targets;            ///< of a leaf, on average
      double seconds;            ///< of the leaf, whatever it meets
      double seconds_per_source; ///< of each source that it meets
    };

    /// Throws nearfield::error unless there are samples, of ascending sizes from 1 on, with finite seconds that are not
    /// negative and some for each source.
    pair_cost(std::vector<sample> samples, origin from);

    /// Seconds of a leaf of that many targets that meets that many sources, its own points among them; 0 if there are
    /// none of either.
    double operator()(double targets, double sources) const;
    /// Directed pairs (target, source) per second in such leaves, those of a point with itself among them.
    [[nodiscard]] double rate(double targets, double sources) const
    {
      return targets * sources / (*this)(targets, sources);
    }

    /// The samples, in ascending order.
    [[nodiscard]] std::vector<sample> const& samples() const { return samples_; }
    /// Where they come from.
    [[nodiscard]] origin from() const { return from_; }

  private:
    std::vector<sample> samples_;
    origin from_;
  };

  namespace detail
  {
    /// What a cost is of, whatever the type of the interaction.
    struct cost_subject
    {
      std::string name; ///< of the interaction, without spaces, and the same for no other one
      int dim, n_parameters, n_in, n_out;
      double flops;
      bool is_mutual, tests_for_zero;
      void const* k;      ///< the interaction
      std::string worker; ///< the instruction set, or "cuda"
    };

    /// The name of a type, which tells interactions of one name apart; empty for built-in ones.
    template <class K>
    std::string_view type_name_of()
    {
      if constexpr (library_interaction<K>)
        return {};
      else
        return typeid(K).name();
    }

    /// Of an interaction without its type: its shape, the name of its type, whether its kernels test for zero, its value.
    inline cost_subject cost_subject_of(interaction_shape const& of, std::string_view type_name,
                                        bool is_mutual, bool tests_for_zero, void const* k,
                                        std::string_view worker)
    {
      std::string name(of.name);
      if (!type_name.empty()) name.append(".").append(type_name);
      return {name,     of.dim,    of.n_x - of.dim, of.n_in, of.n_out,
              of.flops, is_mutual, tests_for_zero,  k,       std::string(worker)};
    }
    template <class T, class K>
    cost_subject cost_subject_of(K const& k, bool is_mutual, std::string_view worker)
    {
      return cost_subject_of(shape_of(k), type_name_of<K>(), is_mutual, tests_for_zero<T>(k),
                             value_at(k), worker);
    }

    /// Calls a function on several cores at once, and gives the mean of what it returns there.
    using on_all_cores = std::function<double(std::function<double()> const&)>;
    /// The cost on this core, or of one of several at work, of a compiled kernel: one_sided or mutual, as the subject says.
    template <class T>
    NEARFIELD_API pair_cost cost_on_core(p2p_function<T> kernel, cost_subject const& subject,
                                         on_all_cores const& on_all = {});
    /// Without a machine.
    template <class T>
    NEARFIELD_API pair_cost table_cost(cost_subject const& subject);

    /// The seconds that one step over these boxes takes on a worker, which has n_points points.
    using timed_step =
        std::function<double(boxes const& points, interaction_list const&, std::size_t n_points)>;
    /// Recalls the cost, or measures and keeps it; a table's where measuring throws out_of_memory.
    template <class T>
    NEARFIELD_API pair_cost cost_of(cost_subject const& subject, timed_step const& time);
  }
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  /// The cost on the calling thread's core: for scalar and simd as near_field runs them in this form; automatic is
  /// mutual where the interaction has that form. Measures for about 50 ms if no figures are kept; where figures
  /// cannot be read or written, a process measures once. Throws nearfield::error for an instruction set that is not
  /// available, and for the mutual form of an interaction that has none.
  template <detail::kernel_real T, detail::cpu_backend Backend, detail::called_interaction K>
  pair_cost pair_cost_of(Backend where, K const& k, pair_form form = pair_form::automatic)
  {
    bool const is_mutual = detail::choose_form("pair_cost_of", form, backend::simd,
                                               detail::form_case_of(k, true)) == pair_form::mutual;
    auto const kernels = detail::kernels_for<T>(k, where);
    std::string_view worker = NEARFIELD_ISA_NAME; // of an interaction that this file compiles
    if constexpr (std::same_as<Backend, scalar_backend>)
      worker = name_of(isa::scalar);
    else if constexpr (detail::dispatched_interaction<K>)
      worker = name_of(detail::available(where.which));
    return detail::cost_on_core<T>(is_mutual ? kernels.mutual : kernels.one_sided,
                                   detail::cost_subject_of<T>(k, is_mutual, worker));
  }
}
