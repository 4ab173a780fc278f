#include "rates.hpp"

#include "cpu_workers.hpp"
#include "gpu_memory.hpp"
#include "p2p_codelet.hpp"

#include "core/src/cuda/on_device.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/pair_cost.hpp>

#include <starpu.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace nearfield::starpu::detail
{
  namespace
  {
    /// Cores at work share their clock, caches and, with SMT, their units, so that each is slower than one alone, by up to
    /// a half.
    double on_cpu_workers(std::function<double()> const& time)
    {
      std::vector<double> seconds(static_cast<std::size_t>(n_cpu_workers()));
      run_on_cpu_workers(static_cast<int>(seconds.size()),
                         [&](int worker) { seconds[static_cast<std::size_t>(worker)] = time(); });
      return std::accumulate(seconds.begin(), seconds.end(), 0.) /
             static_cast<double>(seconds.size());
    }

    constexpr index_type most_leaves = 4096; // more of them tell the same

    double rate(pair_cost const& cost, leaf_groups_view const& leaves)
    {
      double pairs = 0, seconds = 0;
      index_type const n = leaves.targets.size(), stride = 1 + n / most_leaves;
      for (index_type b = 0; b < n; b += stride)
      {
        double const targets = leaves.targets.count(b);
        double sources = leaves.full.own[b].end - leaves.full.own[b].begin;
        for (interaction_list::range const& range : leaves.full.neighbours(b))
          sources += range.end - range.begin;
        pairs += targets * sources;
        seconds += cost(targets, sources);
      }
      return seconds > 0 ? pairs / seconds : 0;
    }

    template <class T>
    nearfield::detail::cost_subject subject_of(kernel<T> const& k, bool is_mutual,
                                               std::string_view worker)
    {
      return nearfield::detail::cost_subject_of(*k.type, k.type->type_name, is_mutual,
                                                k.tests_for_zero, k.k.get(), worker);
    }
  }

  template <class T>
  double rate_of(kernel<T> const& k, pair_form form, backend where, leaf_groups_view const& leaves)
  {
    bool const is_mutual = form == pair_form::mutual;
    kernel_type<T> const& type = *k.type;
    auto subject = subject_of(k, is_mutual, worker_of(type, where));
    auto const measured = [&]
    {
      if (where == backend::cuda)
      {
        auto const kernels = type.cuda(type.number);
        // the caller's device may be another model, which StarPU does not use
        int const worker = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);
        nearfield::detail::on_device const there(worker < 0 ? -1 : starpu_worker_get_devid(worker));
        return nearfield::detail::cost_on_gpu<T>(
            cuda, is_mutual ? kernels.mutual : kernels.one_sided, subject, k.is_singular);
      }
      auto const kernels =
          where == backend::scalar ? type.scalar(type.number) : type.simd(type.number);
      subject.worker.append(", one of ").append(std::to_string(n_cpu_workers()));
      return nearfield::detail::cost_on_core<T>(is_mutual ? kernels.mutual : kernels.one_sided,
                                                subject, on_cpu_workers);
    };
    return rate(measured(), leaves);
  }

  template <class T>
  double rough_rate_of(kernel<T> const& k, backend where)
  {
    auto const worker = [&]() -> std::string_view
    {
      try
      {
        return worker_of(*k.type, where);
      }
      catch (error const&)
      {
        return "scalar"; // such tasks ask for no instruction set; others report it themselves
      }
    };
    return nearfield::detail::table_cost<T>(subject_of(k, k.type->has_way_back, worker()))
        .rate(1000, 1000);
  }

  int workers_of_a_gpu()
  {
    auto const gpus = workers_of_gpus();
    return gpus.empty() ? 1 : static_cast<int>(gpus.begin()->second.size());
  }

  template double rate_of(kernel<float> const&, pair_form, backend, leaf_groups_view const&);
  template double rate_of(kernel<double> const&, pair_form, backend, leaf_groups_view const&);
  template double rough_rate_of(kernel<float> const&, backend);
  template double rough_rate_of(kernel<double> const&, backend);
}
