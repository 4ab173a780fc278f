#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/p2p/cuda.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    /// Columns of `n` values in device memory, and pointers to them.
    template <class T>
    struct filled_columns
    {
      std::vector<device_array<T>> memory;
      std::vector<T*> pointers;

      template <class Value>
      filled_columns(int count, std::size_t n, cuda_stream stream, Value const& value)
      {
        std::vector<T> column(n);
        for (int c = 0; c < count; ++c)
        {
          for (std::size_t i = 0; i < n; ++i) column[i] = value(c, i);
          pointers.push_back(memory.emplace_back(std::span<T const>(column), stream).data());
        }
      }
    };

    /// Seconds of a step over boxes on the current device.
    template <class T>
    double time_step(cuda_function<T> kernel, cost_subject const& subject, bool singular,
                     cuda_stream stream, boxes const& points, interaction_list const& list,
                     std::size_t n)
    {
      cuda_list const on_device(cuda_backend{stream}, points, list, n,
                                subject.is_mutual ? pair_form::mutual : pair_form::one_sided);
      // multiples of irrational numbers fill the unit cube; fmod would take longer than all launches
      double const steps[] = {0.8191725134, 0.6710436067, 0.5497004779};
      filled_columns<T> const x(subject.dim + subject.n_parameters, n, stream,
                                [&](int d, std::size_t i)
                                {
                                  if (d >= subject.dim) return T(1);
                                  double const at = steps[d] * double(i + 1);
                                  return static_cast<T>(at - double(std::int64_t(at)));
                                });
      filled_columns<T> const q(subject.n_in, n, stream, [](int, std::size_t) { return T(1); });
      filled_columns<T> const out(subject.n_out, n, stream, [](int, std::size_t) { return T(0); });
      cuda_job<T> job;
      on_device.describe_to(job);
      job.target_x = job.source_x = x.pointers.data();
      job.target_q = job.source_q = q.pointers.data();
      job.target_out = out.pointers.data();
      job.own_is_self = true;
      job.singular = singular;
      job.stream = stream;
      auto const launch = [&](int n_steps)
      {
        auto const start = std::chrono::steady_clock::now();
        for (int s = 0; s < n_steps; ++s) check_cuda(kernel(subject.k, job), "pair_cost_of");
        synchronize(stream);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      };
      launch(1); // loads the kernel
      if (double const alone = launch(1); alone > 5e-3)
        return alone; // beside which a launch is nothing
      // one behind another: the difference leaves out what it takes to launch and to wait
      double best = 0;
      for (int run = 0; run < 3; ++run)
      {
        double const one = launch(1), five = launch(5);
        double const seconds = std::max((five - one) / 4, five / 20);
        if (run == 0 || seconds < best) best = seconds;
      }
      return best;
    }
  }

  template <class T>
  pair_cost cost_on_gpu(cuda_backend where, cuda_function<T> kernel, cost_subject subject,
                        bool singular)
  {
    std::string const problem = cuda_problem();
    if (!problem.empty()) throw error("pair_cost_of: " + problem, error_kind::not_available);
    subject.worker = "cuda " + gpus().at(static_cast<std::size_t>(current_device())).name;
    return cost_of<T>(
        subject, [=](boxes const& points, interaction_list const& list, std::size_t n)
        { return time_step(kernel, subject, singular, where.stream, points, list, n); });
  }

  pair_cost cost_of_faster_form(pair_cost const& one_sided, pair_cost const& mutual, int n_out)
  {
    std::vector<pair_cost::sample> samples;
    double const least = cuda_mutual_least_points(n_out);
    for (auto const& sample : one_sided.samples())
      if (sample.targets < least) samples.push_back(sample);
    for (auto const& sample : mutual.samples())
      if (sample.targets >= least) samples.push_back(sample);
    return {std::move(samples), std::max(one_sided.from(), mutual.from())};
  }

  template pair_cost cost_on_gpu(cuda_backend, cuda_function<float>, cost_subject, bool);
  template pair_cost cost_on_gpu(cuda_backend, cuda_function<double>, cost_subject, bool);
}
