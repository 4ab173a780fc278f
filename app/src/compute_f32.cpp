#include "compute_impl.hpp"

template nearfield::app::run_result
nearfield::app::compute<float>(named_points const&, named_points const*, interaction_choice const&,
                               cut_options const&, step_options const&, std::size_t);
