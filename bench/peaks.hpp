#pragma once

#include <nearfield/core/where.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>

/// \file
/// The bound of a row: the time that the machine it ran on needs at least, by peaks measured in the same run.
/// docs/performance.md ("Bounds") says what counts.

namespace bench
{
  /// What a part of a machine does at best in a second.
  struct machine
  {
    double f32 = 0, f64 = 0; ///< multiplications, or fma, each lane counted
    double bytes = 0;        ///< read and written in memory
    double bus = 0;          ///< bytes from the host's pinned memory to a GPU; 0 for cores
    /// operations on those units of one root: a core's seed and Newton steps, or what is left to a GPU's
    double root_f32 = 4, root_f64 = 6;
    bool adds_too = false; ///< additions take the units of multiplications, as on GPUs
  };
  /// n machines.
  machine operator*(int n, machine one);

  /// One core with this instruction set, measured when first asked for.
  machine one_core(nearfield::isa which = nearfield::selected_isa());
  /// Several cores: n times one, but memory no faster than all cores of this process have it.
  machine cores(int n, nearfield::isa which = nearfield::selected_isa());
  /// The first GPU, measured when first asked for; zeros in a build without CUDA. Programs link bench_cuda.
  machine const& gpu();

  /// Adds the peaks of cores, every instruction set of this machine, to the context of the output. Takes about
  /// half a second.
  void add_peaks_of_cores();
  /// The same for gpu().
  void add_peaks_of_gpu();
  /// The same for a machine of the caller's.
  void add_peaks(std::string const& prefix, machine const& peaks);

  /// The least time of an iteration, and what takes it: "fma", "bandwidth" or "bus".
  struct bound
  {
    double seconds;
    char const* by;
  };

  /// Of a row that reads and writes so many bytes at least, each once.
  inline bound memory_bound(machine const& on, double bytes)
  {
    return {bytes / on.bytes, "bandwidth"};
  }

  /// Of a row that sends so many bytes to a GPU, or receives them.
  inline bound bus_bound(machine const& on, double bytes)
  {
    return {bytes / on.bus, "bus"};
  }

  /// Of a tree of n points in three dimensions: their positions are read; their order and both lists are written.
  template <class T>
  bound tree_bound(machine const& on, std::size_t n, auto const& tree)
  {
    auto const bytes = [](auto const& list)
    {
      return double(list.offsets.size_bytes() + list.ranges.size_bytes());
    };
    return memory_bound(on, double(n) * double(3 * sizeof(T) + sizeof(std::uint32_t)) +
                                bytes(tree.interactions()) + bytes(tree.half_interactions()));
  }

  /// Reports `of_bound`, the bound over the time measured, and the bound's kind in the label, behind `label`. Google
  /// Benchmark knows the time, so this is a rate to it.
  inline void report_bound(benchmark::State& state, bound const& least, std::string label = {})
  {
    state.counters["of_bound"] = benchmark::Counter(
        least.seconds * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
    if (!label.empty()) label += ", ";
    state.SetLabel(label + "bound by " + least.by);
  }
}
