#include "rates.hpp"

#include <starpu.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace nearfield::starpu::detail
{
  double rate_of(pair_work const& work, backend where)
  {
    // one core of an AVX-512 machine, one H100: each within a factor of two of what bench/results has
    bool const is_mutual = work.form == pair_form::mutual, is_double = work.size_of_real == 8;
    double const values = 0.5 * (1 + work.k.n_out);
    double const points = work.points > 1 ? work.points : 1;
    switch (where)
    {
    case backend::cuda:
      return (is_double ? 1.2e12 : 2.8e12) * (is_mutual ? 1.4 : 1) / std::pow(values, 0.75) *
             points / (points + 24);
    case backend::scalar:
      return 3e8 / values;
    default:
      return (is_double ? 2.5e9 : 8e9) * (is_mutual ? 1.8 : 1) / values * points / (points + 8);
    }
  }

  int workers_of_a_gpu()
  {
    if (!starpu_is_initialized()) return 1;
    std::set<int> devices;
    int workers = 0;
    for (int worker = 0; worker < static_cast<int>(starpu_worker_get_count()); ++worker)
      if (starpu_worker_get_type(worker) == STARPU_CUDA_WORKER)
      {
        devices.insert(starpu_worker_get_devid(worker));
        ++workers;
      }
    return std::max(1, workers / std::max(1, static_cast<int>(devices.size())));
  }
}
