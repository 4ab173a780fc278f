#include "peaks.hpp"
#include "baselines/core_peak_table.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

namespace nf = nearfield;

namespace bench
{
  namespace
  {
    /// The best of many short runs, by processor time: other programs make some of them slow. f returns what it did.
    double best_rate(int n, std::function<double()> const& f)
    {
      double best = 0;
      for (int i = 0; i < n; ++i)
      {
        double const begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        double const done = f();
        best = std::max(best, done / (seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin));
      }
      return best;
    }

    /// What a compiler makes of a plain loop is a bound for other plain loops.
    baseline::core_peak_table scalar_table()
    {
      return {baseline::multiply<float, float, false>, baseline::multiply<double, double, false>};
    }

    baseline::core_peak_table table_of(nf::isa which)
    {
      switch (which)
      {
#if defined(NEARFIELD_WITH_SSE2)
      case nf::isa::sse2:
        return baseline::core_peak_sse2();
#endif
#if defined(NEARFIELD_WITH_AVX2)
      case nf::isa::avx2:
        return baseline::core_peak_avx2();
#endif
#if defined(NEARFIELD_WITH_AVX512)
      case nf::isa::avx512:
        return baseline::core_peak_avx512();
#endif
#if defined(NEARFIELD_WITH_NEON64)
      case nf::isa::neon64:
        return baseline::core_peak_neon64();
#endif
      default:
        return scalar_table();
      }
    }

    double rate_of(double (*multiply)(long))
    {
      constexpr long rounds = 100'000; // a third of a millisecond
      return best_rate(60, [=] { return multiply(rounds); });
    }

    /// A core's share of memory that does not fit its caches.
    class memory_piece
    {
    public:
      explicit memory_piece(std::size_t size) : bytes(size), from_(size, 1), to_(size, 2) {}

      /// The fastest of reading, writing and copying, in bytes per second.
      double best()
      {
        double const read = best_rate(5,
                                      [&]
                                      {
                                        sum();
                                        return double(bytes);
                                      });
        double const written = best_rate(5,
                                         [&]
                                         {
                                           std::memset(to_.data(), 3, bytes);
                                           benchmark::ClobberMemory();
                                           return double(bytes);
                                         });
        double const copied = best_rate(5,
                                        [&]
                                        {
                                          std::memcpy(to_.data(), from_.data(), bytes);
                                          benchmark::ClobberMemory();
                                          return 2. * double(bytes);
                                        });
        return std::max({read, written, copied});
      }

    private:
      void sum()
      {
        std::uint64_t sums[8] = {};
        for (std::size_t i = 0; i < bytes; i += 64)
        {
          std::uint64_t line[8];
          std::memcpy(line, from_.data() + i, sizeof(line));
          for (int k = 0; k < 8; ++k) sums[k] += line[k];
        }
        for (std::uint64_t& value : sums) benchmark::DoNotOptimize(value);
      }

      std::size_t const bytes;
      std::vector<unsigned char> from_, to_;
    };

    double bandwidth_of_one()
    {
      static double const rate = memory_piece(std::size_t(64) << 20).best();
      return rate;
    }

    /// The sum of what all cores have at once.
    double bandwidth_of_all()
    {
      static double const rate = []
      {
        std::vector<double> rates(std::max(1U, std::thread::hardware_concurrency()));
        std::vector<std::thread> threads;
        for (double& of_one : rates)
          threads.emplace_back([&of_one] { of_one = memory_piece(std::size_t(16) << 20).best(); });
        for (std::thread& thread : threads) thread.join();
        double sum = 0;
        for (double const of_one : rates) sum += of_one;
        return std::max(sum, bandwidth_of_one());
      }();
      return rate;
    }
  }

  machine operator*(int n, machine one)
  {
    for (double* const rate : {&one.f32, &one.f64, &one.bytes, &one.bus}) *rate *= n;
    return one;
  }

  machine one_core(nf::isa which)
  {
    static std::map<nf::isa, machine> known;
    which = nf::detail::available(which); // `best` is one of the others
    auto const [found, is_new] = known.try_emplace(which);
    if (is_new)
    {
      auto const table = table_of(which);
      found->second.f32 = rate_of(table.f32);
      found->second.f64 = rate_of(table.f64);
      found->second.bytes = bandwidth_of_one();
    }
    return found->second;
  }

  machine cores(int n, nf::isa which)
  {
    machine all = n * one_core(which);
    if (n > 1) all.bytes = std::min(all.bytes, bandwidth_of_all());
    return all;
  }

  void add_peaks(std::string const& prefix, machine const& peaks)
  {
    auto const add = [&](char const* name, double rate)
    {
      if (rate == 0) return;
      std::ostringstream text;
      text.precision(4);
      text << rate;
      benchmark::AddCustomContext("peak_" + prefix + "_" + name, text.str());
    };
    add("fma_f32/s", peaks.f32);
    add("fma_f64/s", peaks.f64);
    add("bytes/s", peaks.bytes);
    add("bus_bytes/s", peaks.bus);
  }

  void add_peaks_of_cores()
  {
    for (nf::isa const which : nf::available_isas())
    {
      machine const peaks = one_core(which);
      add_peaks("core_" + std::string(nf::name_of(which)), {.f32 = peaks.f32, .f64 = peaks.f64});
    }
    add_peaks("core", {.bytes = bandwidth_of_one()});
    add_peaks("all_cores", {.bytes = bandwidth_of_all()});
  }

#if !defined(NEARFIELD_HAVE_CUDA)
  machine const& gpu()
  {
    static machine const none;
    return none;
  }
  void add_peaks_of_gpu() {}
#endif
}
