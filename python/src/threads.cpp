#include "threads.hpp"

#include "arrays.hpp"

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace nearfield::python
{
  namespace
  {
    /// The first number of OMP_NUM_THREADS; 0 if there is none.
    int omp_num_threads()
    {
      char const* const text = std::getenv("OMP_NUM_THREADS");
      return text == nullptr ? 0 : std::max(0, std::atoi(text));
    }
  }

  nf_threads* threads_for(int n_threads, bool is_worth_it)
  {
    if (n_threads < 0)
      throw nb::value_error(
          ("n_threads is " + std::to_string(n_threads) + "; give 0 for all, or a number").c_str());
    if (!is_worth_it) return nullptr;
    int const n = n_threads == 0 ? omp_num_threads() : n_threads;
    if (n == 1) return nullptr;
    static std::mutex mutex;
    static auto& teams = *new std::map<int, nf_threads*>; // never ends: threads may be in use then
    std::lock_guard const lock(mutex);
    nf_threads*& team = teams[n];
    if (team == nullptr) check(nf_threads_create(n, &team));
    return team;
  }

  nf_place place_on(nf_threads* threads)
  {
    nf_place place{};
    place.size = sizeof place;
    place.threads = threads;
    return place;
  }
}
