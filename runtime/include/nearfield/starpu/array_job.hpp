#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/starpu/codelet.hpp>
#include <nearfield/starpu/p2p_buffers.hpp>

#include <array>
#include <span>
#include <string>

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The points of one side of a P2P task, as a codelet finds them: coordinates, and inputs and outputs where
  /// the task has them on this side.
  template <class K, class T>
  class array_side
  {
  public:
    void take_x(p2p_buffers& from, char const* what)
    {
      x_ = from.coordinates(what, K::dim, sizeof(T));
      for (int d = 0; d < K::dim; ++d) x_columns_[d] = x_.template column<T const>(d);
    }
    void take_q(p2p_buffers& from, char const* what)
    {
      q_ = from.values(what, K::n_in, sizeof(T), x_.size(), false);
      n_rhs_ = q_.n_rhs();
    }
    /// Throws error where inputs of this side were taken and have another number of right-hand sides.
    void take_out(p2p_buffers& from, char const* what)
    {
      out_ = from.values(what, K::n_out, sizeof(T), x_.size(), true);
      if (q_ && out_.n_rhs() != n_rhs_)
        throw error(std::string(from.codelet()) + ": q has " + std::to_string(n_rhs_) +
                    " right-hand sides, " + what + " has " + std::to_string(out_.n_rhs()) +
                    "; give one output for each");
      n_rhs_ = out_.n_rhs();
    }

    [[nodiscard]] index_type size() const { return x_.size(); }
    [[nodiscard]] int n_rhs() const { return n_rhs_; }

    /// The right-hand side that the job is for.
    void select(int rhs)
    {
      if (q_)
        for (int i = 0; i < K::n_in; ++i)
          q_columns_[i] = q_.template column<T const>(rhs * K::n_in + i);
      if (out_)
        for (int o = 0; o < K::n_out; ++o)
          out_columns_[o] = out_.template column<T>(rhs * K::n_out + o);
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
    p2p_buffers::role x_, q_, out_;
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

  /// An operation on arrays: what the operation itself does not say. It says
  ///
  ///     static constexpr p2p_buffers::layout layout;       // of its buffers
  ///     struct sides;                                      // taken from them: targets(), sources()
  ///     static auto kernel(Kernels const& of_interaction); // p2p_kernels<T> or cuda_kernels<T>
  ///     static double pairs(double n_targets, double n_sources);
  template <class Operation, class K, class T>
  struct array_operation
  {
    using interaction_type = K;
    using real = T;

    static void run(p2p_kernels<T> const& kernels, task_argument<K> const& argument, void** buffers)
    {
      p2p_buffers from(Operation::name, Operation::layout, buffers);
      typename Operation::sides sides(from);
      run_box(Operation::name, Operation::kernel(kernels), *argument.k, sides.targets(),
              sides.sources());
    }

    static void run(cuda_kernels<T> const& kernels, task_argument<K> const& argument,
                    void** buffers, cuda_stream stream)
    {
      p2p_buffers from(Operation::name, Operation::layout, buffers);
      typename Operation::sides sides(from);
      run_box(Operation::name, Operation::kernel(kernels), *argument.k, sides.targets(),
              sides.sources(), stream);
    }

    /// The directed pairs of a task with such buffers. Throws error where the task would.
    static double interactions(std::span<p2p_handles const> roles)
    {
      p2p_buffers from(Operation::name, Operation::layout, roles);
      return interactions(from);
    }

    /// 0 where the task will throw.
    static double interactions(starpu_task* task) noexcept
    {
      try
      {
        p2p_buffers from(Operation::name, Operation::layout, task);
        return interactions(from);
      }
      catch (...)
      {
        return 0;
      }
    }

  private:
    static double interactions(p2p_buffers& from)
    {
      typename Operation::sides sides(from);
      array_side<K, T> const &targets = sides.targets(), &sources = sides.sources();
      return right_hand_sides(Operation::name, targets, sources) *
             Operation::pairs(targets.size(), sources.size());
    }
  };
}
