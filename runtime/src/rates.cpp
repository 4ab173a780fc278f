#include "rates.hpp"

#include "cpu_workers.hpp"
#include "p2p_codelet.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/pair_cost.hpp>

#include <starpu.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace nearfield::starpu::detail
{
  namespace
  {
    using nearfield::detail::cost_subject;

    /// Times a step on all CPU workers at once: cores share their clock, caches and, with SMT, their units, so that each is
    /// slower than one alone, by up to a half.
    template <class T>
    class step_on_workers
    {
    public:
      step_on_workers(p2p_function<T> kernel, cost_subject const& subject)
          : kernel_(kernel), subject_(subject)
      {}

      double operator()(boxes const& points, interaction_list const& list, std::size_t n)
      {
        // multiples of irrational numbers fill the unit cube
        double const steps[] = {0.8191725134, 0.6710436067, 0.5497004779};
        columns const x(subject_.dim, n,
                        [&](int d, std::size_t i)
                        { return static_cast<T>(std::fmod(steps[d] * double(i + 1), 1.)); });
        columns const q(subject_.n_in, n, [](int, std::size_t) { return T(1); });
        std::vector<double> seconds(static_cast<std::size_t>(n_cpu_workers()));
        run_on_cpu_workers(static_cast<int>(seconds.size()),
                           [&](int worker)
                           {
                             columns out(subject_.n_out, n, [](int, std::size_t) { return T(0); });
                             p2p_job<T> job;
                             static_cast<list_view&>(job) = {points.offsets.data(), list.own.data(),
                                                             list.offsets.data(),
                                                             list.ranges.data(), nullptr};
                             job.last_box = points.size();
                             job.own_is_self = true;
                             job.tests_for_zero = subject_.tests_for_zero;
                             job.target_x = job.source_x = x.pointers.data();
                             job.target_q = job.source_q = q.pointers.data();
                             job.target_out = job.source_out = out.pointers.data();
                             seconds[static_cast<std::size_t>(worker)] = time(job);
                           });
        return std::accumulate(seconds.begin(), seconds.end(), 0.) /
               static_cast<double>(seconds.size());
      }

    private:
      struct columns
      {
        std::vector<std::vector<T>> memory;
        std::vector<T*> pointers;

        template <class Value>
        columns(int count, std::size_t n, Value const& value)
        {
          for (int c = 0; c < count; ++c)
          {
            auto& column = memory.emplace_back(n);
            for (std::size_t i = 0; i < n; ++i) column[i] = value(c, i);
          }
          for (auto& column : memory) pointers.push_back(column.data());
        }
      };

      /// The mean of many runs: the shortest may have been one beside an idle core.
      double time(p2p_job<T> const& job) const
      {
        using clock = std::chrono::steady_clock;
        kernel_(subject_.k, job);
        auto const first = clock::now();
        for (int runs = 1;; ++runs)
        {
          kernel_(subject_.k, job);
          double const passed = std::chrono::duration<double>(clock::now() - first).count();
          if (passed > 1.5e-3) return passed / runs;
        }
      }

      p2p_function<T> kernel_;
      cost_subject const& subject_;
    };

    constexpr index_type most_leaves = 4096; // more of them tell the same

    double rate(pair_cost const& cost, leaf_groups_view const& leaves)
    {
      double pairs = 0, seconds = 0;
      index_type const n = leaves.targets.size(), stride = 1 + n / most_leaves;
      for (index_type b = 0; b < n; b += stride)
      {
        double const targets = leaves.targets.count(b);
        double sources = leaves.full.own[b].end - leaves.full.own[b].begin;
        for (source_range const& range : leaves.full.neighbours(b))
          sources += range.end - range.begin;
        pairs += targets * sources;
        seconds += cost(targets, sources);
      }
      return seconds > 0 ? pairs / seconds : 0;
    }
  }

  template <class T>
  double rate_of(kernel<T> const& k, pair_form form, backend where, leaf_groups_view const& leaves)
  {
    bool const is_mutual = form == pair_form::mutual;
    kernel_type<T> const& type = *k.type;
    auto subject = type.subject(k.k.get(), is_mutual, worker_of(type, where));
    auto const measured = [&]
    {
      if (where == backend::cuda)
      {
        auto const kernels = type.cuda();
        return nearfield::detail::cost_on_gpu<T>(
            cuda, is_mutual ? kernels.mutual : kernels.one_sided, subject, k.is_singular);
      }
      auto const kernels = where == backend::scalar ? type.scalar() : type.simd();
      subject.worker.append(", one of ").append(std::to_string(n_cpu_workers()));
      return nearfield::detail::cost_of<T>(
          subject, step_on_workers<T>(is_mutual ? kernels.mutual : kernels.one_sided, subject));
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
    return nearfield::detail::table_cost<T>(
               k.type->subject(k.k.get(), k.type->has_way_back, worker()))
        .rate(1000, 1000);
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

  template double rate_of(kernel<float> const&, pair_form, backend, leaf_groups_view const&);
  template double rate_of(kernel<double> const&, pair_form, backend, leaf_groups_view const&);
  template double rough_rate_of(kernel<float> const&, backend);
  template double rough_rate_of(kernel<double> const&, backend);
}
