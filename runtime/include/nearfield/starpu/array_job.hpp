#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/starpu/handles.hpp>

#include <array>
#include <string>

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The points of a handle of that many columns, counted once for each right-hand side.
  template <int Columns>
  double points_of(starpu_data_handle_t data)
  {
    return static_cast<double>(starpu_vector_get_nx(data)) / Columns;
  }

  /// The points of one side of a P2P task, as a codelet finds them: coordinates, inputs unless they are
  /// null, outputs unless they are null.
  template <class K, class T>
  class array_side
  {
  public:
    /// Throws error when the sizes of the buffers do not fit together.
    array_side(char const* codelet, void* x, void* q, void* out) : x_(x, K::dim)
    {
      index_type const n = x_.n;
      auto const n_rhs = [&](char const* what, void* buffer, int columns_each)
      {
        std::size_t const values = STARPU_VECTOR_GET_NX(buffer);
        std::size_t const each = std::size_t(n) * static_cast<std::size_t>(columns_each);
        bool const fits = each == 0 ? values == 0 : values > 0 && values % each == 0;
        if (STARPU_VECTOR_GET_ELEMSIZE(buffer) != sizeof(T) || !fits)
          throw error(std::string(codelet) + ": " + what + " has " + std::to_string(values) +
                      " values of " + std::to_string(STARPU_VECTOR_GET_ELEMSIZE(buffer)) +
                      " bytes, x has " + std::to_string(n) + " points; give " +
                      std::to_string(columns_each) + " values of " + std::to_string(sizeof(T)) +
                      " bytes for each point and right-hand side");
        return each == 0 ? 1 : static_cast<int>(values / each);
      };
      if (n_rhs("x", x, K::dim) != 1)
        throw error(std::string(codelet) + ": x has no whole number of points");
      if (q) n_rhs_ = n_rhs("q", q, K::n_in);
      if (out)
      {
        int const of_out = n_rhs("out", out, K::n_out);
        if (q && of_out != n_rhs_)
          throw error(std::string(codelet) + ": q has " + std::to_string(n_rhs_) +
                      " right-hand sides, out has " + std::to_string(of_out) +
                      "; give one output for each");
        n_rhs_ = of_out;
      }
      for (int d = 0; d < K::dim; ++d) x_columns_[d] = x_[d];
      if (q) q_ = columns<T const>(q, n_rhs_ * K::n_in);
      if (out) out_ = columns<T>(out, n_rhs_ * K::n_out);
    }

    [[nodiscard]] index_type size() const { return x_.n; }
    [[nodiscard]] int n_rhs() const { return n_rhs_; }

    /// The right-hand side that the job is for.
    void select(int rhs)
    {
      if (q_.first)
        for (int i = 0; i < K::n_in; ++i) q_columns_[i] = q_[rhs * K::n_in + i];
      if (out_.first)
        for (int o = 0; o < K::n_out; ++o) out_columns_[o] = out_[rhs * K::n_out + o];
    }
    template <class Job>
    void as_targets(Job& job) const
    {
      job.target_x = x_columns_.data();
      job.target_q = q_columns_.data();
      job.target_out = out_columns_.data();
    }
    template <class Job>
    void as_sources(Job& job) const
    {
      job.source_x = x_columns_.data();
      job.source_q = q_columns_.data();
      if constexpr (requires { job.source_out; })
        job.source_out = out_columns_.data();
      else if (!job.own_is_self)
        job.halo_out = out_columns_.data();
    }

  private:
    columns<T const> x_, q_;
    columns<T> out_;
    int n_rhs_ = 1;
    std::array<T const*, K::dim> x_columns_{};
    std::array<T const*, K::n_in> q_columns_{};
    std::array<T*, K::n_out> out_columns_{};
  };

  /// The right-hand sides of two sides that meet: none where one has no points, which has no number of
  /// them. Throws error when the numbers differ.
  template <class K, class T>
  int right_hand_sides(char const* codelet, array_side<K, T> const& targets,
                       array_side<K, T> const& sources)
  {
    if (targets.size() == 0 || sources.size() == 0) return 0;
    if (targets.n_rhs() != sources.n_rhs())
      throw error(std::string(codelet) + ": the targets have " + std::to_string(targets.n_rhs()) +
                  " right-hand sides, the sources " + std::to_string(sources.n_rhs()) +
                  "; give one output for each");
    return targets.n_rhs();
  }

  /// Calls launch(job) for each right-hand side of two sides, with their columns in the job.
  template <class K, class T, class Job, class Launch>
  void for_each_right_hand_side(char const* codelet, array_side<K, T>& targets,
                                array_side<K, T>& sources, Job job, Launch&& launch)
  {
    int const n_rhs = right_hand_sides(codelet, targets, sources);
    for (int rhs = 0; rhs < n_rhs; ++rhs)
    {
      targets.select(rhs);
      sources.select(rhs);
      targets.as_targets(job);
      sources.as_sources(job);
      launch(job);
    }
  }

  /// The two sides as one box each, by a kernel of the CPU.
  template <class K, class T>
  void run_box(char const* codelet, p2p_function<T> kernel, K const& k, array_side<K, T>& targets,
               array_side<K, T>& sources)
  {
    nearfield::detail::single_box<T, K> const box(targets.size(), sources.size());
    p2p_job<T> job = box.job(k);
    job.own_is_self = &targets == &sources;
    for_each_right_hand_side(codelet, targets, sources, job,
                             [&](p2p_job<T> const& ready) { kernel(&k, ready); });
  }

  /// The same by a kernel of the GPU.
  template <class K, class T>
  void run_box(char const* codelet, cuda_function<T> kernel, K const& k, array_side<K, T>& targets,
               array_side<K, T>& sources, cuda_stream stream)
  {
    cuda_job<T> job = nearfield::detail::cuda_job_of<T>(cuda_backend{stream}, k);
    job.n_targets = targets.size();
    job.n_sources = sources.size();
    job.own_is_self = &targets == &sources;
    for_each_right_hand_side(codelet, targets, sources, job,
                             [&](cuda_job<T> const& ready)
                             { check_cuda(kernel(&k, ready), codelet); });
  }
}
