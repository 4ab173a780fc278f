#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

/// \file
/// The strategies of the Kokkos P2P study of the CONCACE team, for 1/r in two and three dimensions: written anew from
/// their description, on one set of points (inner) or on two (outer), and at sizes of your choice. No header of Kokkos
/// is needed here: a back-end is compiled in files of its own, with the flags that Kokkos and our kernels have.

namespace baseline
{
  enum class strategy
  {
    flat_range,     ///< parallel_for over the targets, a loop over the sources
    reduce,         ///< a loop over the targets, parallel_reduce over the sources
    nested_teams,   ///< a team for each target, whose threads and lanes share the sources
    nested_vectors, ///< a thread for each target, whose lanes share the sources
    hierarchical, ///< a team for each chunk of sources, in scratch memory; then a sum over the chunks
    tiled, ///< a thread for each target, the chunks of sources one after the other in scratch memory
    simd ///< parallel_for over packs of targets (Kokkos::Experimental::simd), a loop over the sources
  };

  inline char const* name_of(strategy s)
  {
    constexpr char const* names[] = {"flat_range",   "reduce", "nested_teams", "nested_vectors",
                                     "hierarchical", "tiled",  "simd"};
    return names[static_cast<int>(s)];
  }

  /// Which arithmetic the compiler may use.
  enum class math
  {
    strict,   ///< the flags of our kernels
    fast,     ///< and -ffast-math, without which g++ vectorises no sum
    fast_wide ///< and vectors of 512 bits: for processors with AVX-512 g++ prefers 256
  };

  /// Threads of a team, lanes of a thread, sources in a team's scratch memory. Zero: the strategy has no such size.
  struct team_shape
  {
    int team = 0, lanes = 0, chunk = 0;
  };

  /// 1/r at targets, in the memory of Kokkos's default back-end.
  template <class T, int Dim, math Math>
  class kokkos_sum
  {
  public:
    /// Copies the points. `inner`: both sets are the same, and the pairs i = j are left out. A back-end for
    /// the CPU takes that many threads.
    kokkos_sum(std::size_t n_targets, T const* const* targets, std::size_t n_sources,
               T const* const* sources, T const* q, bool inner, int threads);
    ~kokkos_sum();
    kokkos_sum(kokkos_sum const&) = delete;
    kokkos_sum& operator=(kokkos_sum const&) = delete;

    /// The sizes to try, of those that this machine can run; empty if the back-end has no such strategy.
    [[nodiscard]] std::vector<team_shape> shapes(strategy s) const;
    /// Starts the sum, on the default stream of a GPU.
    void run(strategy s, team_shape const& shape);
    void wait() const;
    /// The sums at all targets.
    [[nodiscard]] std::vector<T> sums() const;

  private:
    class implementation;
    std::unique_ptr<implementation> self_;
  };

  /// Kokkos, from its start to its end, with that many threads on a CPU.
  class kokkos_runtime
  {
  public:
    explicit kokkos_runtime(int threads);
    ~kokkos_runtime();
    kokkos_runtime(kokkos_runtime const&) = delete;
    kokkos_runtime& operator=(kokkos_runtime const&) = delete;

    /// "Kokkos 4.6.1, OpenMP"
    [[nodiscard]] static std::string description();
    /// Threads of a back-end for the CPU.
    [[nodiscard]] static int concurrency();
    /// Bytes of its widest vector on the CPU, 0 if it has none: the instruction set that it was configured for.
    [[nodiscard]] static int register_bytes();
  };
}
