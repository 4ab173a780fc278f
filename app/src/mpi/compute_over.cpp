#include "mpi/compute_over.hpp"

#include "mpi/check.hpp"
#include "mpi/field_over.hpp"

namespace nearfield::app
{
  namespace
  {
    template <class T, int Dim>
    run_result compute_in(ranks const& all, named_points const& targets,
                          named_points const* sources, interaction_choice const& interaction,
                          cut_options const& cut, execution_options const& how, std::size_t n_check)
    {
      run_result result;
      runtime_over const runtime(all, how);
      field_over<T, Dim> field(all, runtime, cut, how);
      with_interaction<Dim>(interaction,
                            [&]<class K>(K const& k)
                            {
                              field.start(targets, sources, k);
                              field.compute();
                              field.describe(result);
                              result.tree_seconds = all.greatest(field.tree_seconds());
                              result.step.seconds = all.greatest(field.seconds());
                              result.outputs = in_double(std::vector(field.outputs()));
                              result.output_names =
                                  output_names(K::name, Dim, field.points().n_inputs() / K::n_in);
                              if (n_check == 0) return;
                              auto const start = std::chrono::steady_clock::now();
                              result.check = check_over(all, field.points(), field.tree(), k,
                                                        result.outputs, n_check);
                              result.check_seconds = all.greatest(seconds_since(start));
                            });
      return result;
    }
  }

  template <class T>
  run_result compute_over(ranks const& all, named_points const& targets,
                          named_points const* sources, interaction_choice const& interaction,
                          cut_options const& cut, execution_options const& step,
                          std::size_t n_check)
  {
    all.attempt([&] { check_interaction(interaction, targets.points.dim); });
    return (targets.points.dim == 2 ? &compute_in<T, 2> : &compute_in<T, 3>)(all, targets, sources,
                                                                             interaction, cut, step,
                                                                             n_check);
  }

  template run_result compute_over<float>(ranks const&, named_points const&, named_points const*,
                                          interaction_choice const&, cut_options const&,
                                          execution_options const&, std::size_t);
  template run_result compute_over<double>(ranks const&, named_points const&, named_points const*,
                                           interaction_choice const&, cut_options const&,
                                           execution_options const&, std::size_t);
}
