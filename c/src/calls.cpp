#include "calls.hpp"

#include <nearfield/core/numbers.hpp>
#include <nearfield/cuda/device.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <new>

namespace nearfield::c
{
  namespace
  {
    thread_local char last_error[4096]; // allocates nothing, since memory may have run out

    nf_status status_of(error_kind kind)
    {
      switch (kind)
      {
      case error_kind::invalid_argument:
      case error_kind::invalid_data:
      case error_kind::file:
        return nf_invalid_argument;
      case error_kind::out_of_memory:
        return nf_out_of_memory;
      case error_kind::not_available:
        return nf_not_available;
      case error_kind::cuda_failure:
        return nf_cuda_failure;
      case error_kind::starpu_failure:
        break;
      }
      return nf_failure;
    }
  }

  nf_status failed(nf_status status, char const* message) noexcept
  {
    std::size_t const n = std::min(std::strlen(message), sizeof last_error - 1);
    std::memmove(last_error, message, n);
    last_error[n] = 0;
    // names and the like are the caller's
    for (char& letter : last_error)
      if (letter > 0 && letter < ' ') letter = ' ';
    return status;
  }

  nf_status failed() noexcept
  {
    try
    {
      throw;
    }
    catch (error const& e)
    {
      return failed(status_of(e.kind()), e.what());
    }
    catch (std::bad_alloc const&)
    {
      return failed(nf_out_of_memory, "too little memory; take fewer points");
    }
    catch (std::exception const& e)
    {
      return failed(nf_failure, e.what());
    }
    catch (...)
    {
      return failed(nf_failure, "an unknown exception");
    }
  }

  void refuse_null(char const* name)
  {
    throw error(std::string(name) + " is null; give a pointer");
  }

  void refuse_size(char const* name, std::size_t found, std::size_t expected)
  {
    throw error(std::string(name) + ": size is " + std::to_string(found) +
                ", and this library expects " + std::to_string(expected) +
                "; set size = sizeof, and compile with the header of the library");
  }

  void refuse_count(std::int64_t n, char const* name)
  {
    throw error(std::string(name) + " is " + std::to_string(n) + "; give 0 or more");
  }

  void refuse_real(char const* name, nf_real found)
  {
    throw error(std::string(name) + ": real is " + std::to_string(found) +
                (found == nf_float32 || found == nf_float64 ? "; give all columns one type"
                                                            : "; give nf_float32 or nf_float64"));
  }

  void refuse_width(char const* name, int found, int expected)
  {
    throw error(std::string(name) + " has " + std::to_string(found) + " columns; give " +
                std::to_string(expected));
  }

  void check_width(char const* name, int found)
  {
    constexpr int most = 1'000'000;
    if (found > most)
      throw error(std::string(name) + " has " + std::to_string(found) + " columns; give at most " +
                  std::to_string(most));
  }

  place::place(nf_place const* where)
  {
    if (where == nullptr) return;
    nf_place const of = options_of(where, "where");
    if (of.backend != nf_simd && of.backend != nf_scalar && of.backend != nf_cuda)
      throw error("where: backend is " + std::to_string(of.backend) +
                  "; give nf_simd, nf_scalar or nf_cuda");
    backend = of.backend;
    if (is_gpu() && of.threads != nullptr)
      throw error("where: a GPU takes no threads; set threads = NULL");
    if (!is_gpu() && of.stream != nullptr)
      throw error("where: only a GPU has streams; set stream = NULL, or backend = nf_cuda");
    if (of.threads != nullptr) threads = &of.threads->threads;
    stream = static_cast<cuda_stream>(of.stream);
  }

  void refuse_place(char const* name, bool handle_is_on_gpu)
  {
    throw error(std::string(name) + (handle_is_on_gpu ? " is on a GPU" : " is in host memory") +
                "; give the same place that it was made with");
  }

  near_field_options near_field_options_of(nf_near_field_options const* given)
  {
    nf_near_field_options const of = options_of(given, "options");
    if (of.form != nf_one_sided && of.form != nf_mutual && of.form != nf_automatic)
      throw error("form is " + std::to_string(of.form) +
                  "; give nf_one_sided, nf_mutual or nf_automatic");
    pair_form const form = of.form == nf_mutual      ? pair_form::mutual
                           : of.form == nf_automatic ? pair_form::automatic
                                                     : pair_form::one_sided;
    return {of.accumulate != 0, form, of.ranges_may_coincide != 0};
  }

  std::vector<index_type> indices_of(char const* name, std::int64_t const* numbers, std::size_t n)
  {
    if (n > 0) given(numbers, name);
    std::vector<index_type> result(n);
    for (std::size_t i = 0; i < n; ++i)
    {
      if (numbers[i] < 0 || numbers[i] > std::numeric_limits<index_type>::max())
        throw error(std::string(name) + ": number " + std::to_string(i) + " is " +
                    std::to_string(numbers[i]) + "; give 0 to 4294967295");
      result[i] = static_cast<index_type>(numbers[i]);
    }
    return result;
  }
}

using namespace nearfield;

int32_t nf_abi_version(void)
{
  return NF_ABI_VERSION;
}

char const* nf_version(void)
{
  return NEARFIELD_VERSION;
}

char const* nf_last_error(void)
{
  return c::last_error;
}

nf_status nf_fail(nf_status status, char const* message)
{
  return c::failed(status, message == nullptr ? "" : message);
}

nf_status nf_threads_create(int32_t most, nf_threads** threads)
{
  return c::create(threads, "threads",
                   [&]
                   {
                     c::count_of(most, "most");
                     return new nf_threads{
                         nearfield::threads(most == 0 ? std::numeric_limits<int>::max() : most)};
                   });
}

void nf_threads_destroy(nf_threads* threads)
{
  delete threads;
}

int32_t nf_has_gpu(void)
{
  bool found = false;
  c::guarded(
      [&]
      {
        std::string const problem = cuda_problem();
        found = problem.empty();
        if (!found) c::failed(nf_not_available, problem.c_str());
      });
  return found;
}
