#include "mpi/compute_over.hpp"

#include "mpi/check.hpp"
#include "mpi/field_over.hpp"

namespace nearfield::app
{
  namespace
  {
    template <class T, int Dim>
    run_result compute_in(ranks const& all, run_options const& options, named_points const& targets,
                          named_points const* sources, cut_options const& cut)
    {
      run_result result;
      runtime_over const runtime(all, options.step);
      field_over<T, Dim> field(all, runtime, cut, options.step);
      with_interaction<Dim>(options.interaction,
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
                              if (options.check == 0) return;
                              auto const start = std::chrono::steady_clock::now();
                              result.check = check_over(all, field.points(), field.tree(), k,
                                                        result.outputs, options.check);
                              result.check_seconds = all.greatest(seconds_since(start));
                            });
      return result;
    }
  }

  run_result compute_over(ranks const& all, run_options const& options, named_points const& targets,
                          named_points const* sources, cut_options const& cut)
  {
    all.attempt([&] { check_interaction(options.interaction, targets.points.dim); });
    return with_types(options.precision, targets.points.dim,
                      [&]<class T, int Dim>()
                      { return compute_in<T, Dim>(all, options, targets, sources, cut); });
  }
}
