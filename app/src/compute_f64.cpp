#include "compute_impl.hpp"

template nearfield::app::run_result
nearfield::app::compute<double>(named_points const&, named_points const*, interaction_choice const&,
                                cut_options const&, step_options const&, std::size_t);
