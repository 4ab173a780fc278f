#include "environment.hpp"

#include "conf.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include <unistd.h>

namespace nearfield::starpu::detail
{
  namespace
  {
    struct number
    {
      char const* name; ///< without STARPU_
      long least = 0, most = INT_MAX;
    };

    // The variables that StarPU reads as integers when it starts, also for devices it was built without.
    constexpr number numbers[] = {
        {"BACKOFF_MAX", 0, 1000000}, // yields of a worker before it looks for tasks again
        {"BACKOFF_MIN", 0, 1000000},
        {"BUS_CALIBRATE"},
        {"BUS_STATS"},
        {"CALIBRATE"},
        {"CALIBRATE_MINIMUM"},
        {"CATCH_SIGNALS"},
        {"CODELET_PROFILING"},
        {"CUDA_ONLY_FAST_ALLOC_OTHER_MEMNODES"},
        {"CUDA_PIPELINE"},
        {"CUDA_THREAD_PER_DEV"},
        {"CUDA_THREAD_PER_WORKER"},
        {"DATA_LOCALITY_ENFORCE"},
        {"DIDUSE_BARRIER"},
        {"DISABLE_ASYNCHRONOUS_COPY"},
        {"DISABLE_ASYNCHRONOUS_CUDA_COPY"},
        {"DISABLE_ASYNCHRONOUS_HIP_COPY"},
        {"DISABLE_ASYNCHRONOUS_MAX_FPGA_COPY"},
        {"DISABLE_ASYNCHRONOUS_MIC_COPY"},
        {"DISABLE_ASYNCHRONOUS_MPI_MS_COPY"},
        {"DISABLE_ASYNCHRONOUS_OPENCL_COPY"},
        {"DISABLE_ASYNCHRONOUS_TCPIP_MS_COPY"},
        {"DISABLE_KERNELS", 0, 0}, // results would never be computed
        {"DISABLE_PINNING"},
        {"DISK_SWAP_SIZE", 16}, // MiB
        {"DISPLAY_BINDINGS"},
        {"ENABLE_CUDA_GPU_GPU_DIRECT"},
        {"ENABLE_MAP"},
        {"ENERGY_PROFILING"},
        {"EXPECTED_TRANSFER_TIME_WRITEBACK"},
        {"FXT_TRACE"},
        {"GENERATE_TRACE"},
        {"GLOBAL_ARBITER"},
        {"HISTORY_MAX_ERROR"},
        {"LIMIT_BANDWIDTH"},
        {"LIMIT_CPU_MEM"},
        {"LIMIT_CPU_NUMA_MEM"},
        {"LIMIT_CUDA_MEM"},
        {"LIMIT_OPENCL_MEM"},
        {"LIMIT_MAX_SUBMITTED_TASKS"},
        {"LIMIT_MIN_SUBMITTED_TASKS"},
        {"MAIN_THREAD_BIND"},
        {"MAX_MEMORY_USE"},
        {"MAX_PRIO"},
        {"MAX_WORKERSIZE"},
        {"MEMORY_STATS"},
        {"MINIMUM_AVAILABLE_MEM"},
        {"MINIMUM_CLEAN_BUFFERS"},
        {"MIN_PRIO"},
        {"MIN_WORKERSIZE"},
        {"MPI_THREAD_COREID"},
        {"MPI_THREAD_CPUID"},
        {"NCPU"},
        {"NCPUS"},
        {"NCUDA"},
        {"NHIP"},
        {"NMAX_FPGA"},
        {"NMIC"},
        {"NMPI_MS"},
        {"NOPENCL"},
        {"NTASKS_THRESHOLD"},
        {"NTCPIP_MS"},
        {"NWORKER_PER_CUDA", 1},
        {"OPENCL_ONLY_ON_CPUS"},
        {"OPENCL_ON_CPUS"},
        {"PCI_FLAT"},
        {"PERF_MODEL_HOMOGENEOUS_CPU"},
        {"PERF_MODEL_HOMOGENEOUS_CUDA"},
        {"PERF_MODEL_HOMOGENEOUS_MIC"},
        {"PERF_MODEL_HOMOGENEOUS_MPI_MS"},
        {"PERF_MODEL_HOMOGENEOUS_OPENCL"},
        {"PREFETCH"},
        {"RESERVE_NCPU"},
        {"SCHED_GRAPH_TEST_DESCENDANTS"},
        {"SCHED_READY"},
        {"SCHED_SORTED_ABOVE"},
        {"SCHED_SORTED_BELOW"},
        {"SILENT"},
        {"SIMGRID"},
        {"SINGLE_COMBINED_WORKER"},
        {"STATS"},
        {"SUBALLOCATOR"},
        {"SYNTHESIZE_ARITY_COMBINED_WORKER", 1},
        {"TARGET_AVAILABLE_MEM"},
        {"TARGET_CLEAN_BUFFERS"},
        {"TASK_BREAK_ON_EXEC"},
        {"TASK_BREAK_ON_POP"},
        {"TASK_BREAK_ON_PUSH"},
        {"TASK_BREAK_ON_SCHED"},
        {"TASK_PROGRESS"},
        {"TRACE_BUFFER_SIZE"},
        {"USE_NUMA"},
        {"WATCHDOG_CRASH"},
        {"WATCHDOG_DELAY"},
        {"WATCHDOG_TIMEOUT", 1, LONG_MAX}, // in microseconds; after 0 it ends the process
        {"WORKERS_GETBIND"},
        {"WORKERS_NOBIND"},
        {"WORKER_TREE"},
    };

    constexpr char const* reals[] = {"STARPU_EXP_LEN_THRESHOLD", "STARPU_IDLE_POWER",
                                     "STARPU_SCHED_ALPHA",       "STARPU_SCHED_BETA",
                                     "STARPU_SCHED_GAMMA",       "STARPU_WINDOW_TIME_SIZE"};

    constexpr char const* lists[] = {"STARPU_WORKERS_CPUID", "STARPU_WORKERS_COREID",
                                     "STARPU_WORKERS_CUDAID", "STARPU_WORKERS_OPENCLID"};

    // STARPU_LIMIT_CUDA_0_MEM and the like: one for each device
    bool is_limit_of_a_device(std::string_view name)
    {
      if (!name.ends_with("_MEM")) return false;
      name.remove_suffix(4);
      for (std::string_view const start :
           {"STARPU_LIMIT_CUDA_", "STARPU_LIMIT_CPU_NUMA_", "STARPU_LIMIT_OPENCL_"})
        if (name.starts_with(start))
          return name.find_first_not_of("0123456789", start.size()) == name.npos &&
                 name.size() > start.size();
      return false;
    }

    // as StarPU parses it: an empty string is 0
    bool is_number(char const* text, long least, long most)
    {
      char* end = nullptr;
      errno = 0;
      long const value = std::strtol(text, &end, 10);
      return *end == '\0' && errno == 0 && value >= least && value <= most;
    }

    void check_number(std::string const& variable, char const* found, long least, long most)
    {
      if (!found || is_number(found, least, most)) return;
      std::string const end = least == most    ? ""
                              : most < INT_MAX ? " to " + std::to_string(most)
                                               : " or more";
      throw error(variable + ": found '" + found + "'; give a whole number, " +
                  std::to_string(least) + end + ", or unset it");
    }

    // with an infinite weight a scheduler would wait for ever
    bool is_real(char const* text)
    {
      char* end = nullptr;
      return std::isfinite(std::strtof(text, &end)) && *end == '\0';
    }

    bool is_digit(char c)
    {
      return c >= '0' && c <= '9';
    }

    // "0 2", "0,2" or "0-3 6-". A dash that does not follow a digit is taken for a sign, and StarPU crashes.
    bool is_list(std::string_view text)
    {
      auto const first = text.find_first_not_of(' ');
      if (first == text.npos || !is_digit(text[first]) ||
          text.find_first_not_of("0123456789 ,-") != text.npos)
        return false;
      for (auto dash = text.find('-'); dash != text.npos; dash = text.find('-', dash + 1))
        if (!is_digit(text[dash - 1])) return false;
      return true;
    }

    // Whether a list ends before StarPU's array is full: it would not see the end, and abort. "6-" goes up to
    // the last CPU.
    bool is_short(char const* text)
    {
      char* end = nullptr;
      for (long n = 0; n < STARPU_NMAXWORKERS;)
      {
        long const first = std::strtol(text, &end, 10);
        if (end == text) return true;
        long last = first;
        text = end;
        if (*text == '-' && is_digit(text[1]))
        {
          last = std::strtol(text + 1, &end, 10);
          text = end;
        }
        else if (*text == '-')
        {
          last = allowed_cpus() - 1;
          text += text[1] == '\0' ? 1 : 2;
        }
        if (*text == ',') ++text;
        n += 1 + std::clamp(last - first, 0L, long(STARPU_NMAXWORKERS));
      }
      return false;
    }
  }

  void check_variables()
  {
    for (auto const& [name, least, most] : numbers)
    {
      std::string const variable = std::string("STARPU_") + name;
      check_number(variable, std::getenv(variable.c_str()), least, most);
    }
    // StarPU counts the CPUs of a core in the same way. Its numbers of CPUs are those of the machine, and it crashes
    // for larger ones.
    long const per_core = allowed_cpus() / allowed_cores(), cpus = sysconf(_SC_NPROCESSORS_ONLN);
    check_number("STARPU_NTHREADS_PER_CORE", std::getenv("STARPU_NTHREADS_PER_CORE"), 1, per_core);
    check_number("STARPU_MAIN_THREAD_CPUID", std::getenv("STARPU_MAIN_THREAD_CPUID"), 0, cpus - 1);
    check_number("STARPU_MAIN_THREAD_COREID", std::getenv("STARPU_MAIN_THREAD_COREID"), 0,
                 cpus / per_core - 1);
    for (char const* const* entry = environ; *entry; ++entry)
    {
      std::string_view const text = *entry;
      auto const name = text.substr(0, text.find('='));
      if (is_limit_of_a_device(name))
        check_number(std::string(name), *entry + name.size() + 1, 0, INT_MAX);
    }
    for (char const* const variable : reals)
      if (char const* const found = std::getenv(variable); found && !is_real(found))
        throw error(std::string(variable) + ": found '" + found + "'; give a number, or unset it");
    for (char const* const variable : lists)
      if (char const* const found = std::getenv(variable); found && !is_list(found))
        throw error(std::string(variable) + ": found '" + found +
                    "'; give numbers like '0 1' or '0-3', or unset it");
      else if (found && !is_short(found))
        throw error(std::string(variable) + ": found '" + found + "'; give at most " +
                    std::to_string(STARPU_NMAXWORKERS - 1) +
                    " numbers, for which this StarPU was built, or unset it");
    // becomes part of file names
    if (char const* const host = std::getenv("STARPU_HOSTNAME");
        host && (std::string_view(host).find('/') != std::string_view::npos ||
                 std::string_view(host).size() > 64))
      throw error("STARPU_HOSTNAME: found '" + std::string(host) +
                  "'; give a name without a slash, of at most 64 characters, or unset it");
  }
}
