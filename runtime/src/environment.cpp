#include "environment.hpp"

#include "conf.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <latch>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/stat.h>
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
        {"DISABLE_KERNELS"},
        {"DISABLE_PINNING"},
        {"DISK_SWAP_SIZE"},
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
        {"MAIN_THREAD_COREID"},
        {"MAIN_THREAD_CPUID"},
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
      std::string const end = most < INT_MAX ? " to " + std::to_string(most) : " or more";
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

    /// The directory of StarPU's measurements, and the variable that determines it.
    struct measurements
    {
      std::string variable;
      std::filesystem::path folder;
    };

    measurements find_measurements()
    {
      char const* const folder = std::getenv("STARPU_PERF_MODEL_DIR");
      if (folder && *folder != '\0') return {"STARPU_PERF_MODEL_DIR", folder};
      for (char const* const name : {"XDG_CACHE_HOME", "STARPU_HOME", "HOME"})
        if (char const* const home = std::getenv(name))
          return {name, std::string(home) + "/.starpu/sampling"};
      return {};
    }

    [[noreturn]] void refuse(measurements const& of, std::string const& problem,
                             std::string const& wanted)
    {
      throw error(of.variable + ": StarPU cannot " + problem + "; set " +
                      (of.variable == "HOME" ? "STARPU_HOME" : of.variable) + " to a folder " +
                      wanted,
                  error_kind::file);
    }

    /// The machine's name in StarPU's file names.
    std::string host_name()
    {
      char const* const given = std::getenv("STARPU_HOSTNAME");
      if (given && *given != '\0') return given;
      char name[256] = {};
      gethostname(name, sizeof(name) - 1);
      return std::string(name).substr(0, std::string_view(name).find('.'));
    }

    /// Throws nearfield::error if StarPU would cut the names of the files that it reads.
    void check_length(measurements const& of)
    {
      std::size_t const longest = 255 - ("//bus/" + host_name() + ".bandwidth").size();
      if (std::size_t const found = of.folder.native().size(); found > longest)
        refuse(of,
               "use " + of.folder.string() + ", whose name has " + std::to_string(found) +
                   " characters, more than " + std::to_string(longest),
               "with a shorter name");
    }

    /// Creates the directory. Throws nearfield::error if that fails, or if the directory is not writable
    /// and empty. One with contents may be read-only: schedulers without models do not write to it.
    void make(measurements const& of, std::filesystem::path const& folder)
    {
      std::error_code failed;
      std::filesystem::create_directories(folder, failed);
      if (!failed && access(folder.c_str(), W_OK | X_OK) != 0)
      {
        std::error_code const refused(errno, std::generic_category());
        if (std::filesystem::is_empty(folder, failed)) failed = refused;
      }
      if (failed)
        refuse(of, "write to " + folder.string() + ": " + failed.message(),
               "that you can write to");
    }

    /// Throws nearfield::error if StarPU would abort when it reads its measurements of this machine's buses: an
    /// empty file, as a full disk leaves it, or none where StarPU cannot write one.
    void check_bus(measurements const& of)
    {
      std::filesystem::path const folder = of.folder / "bus";
      for (auto const* extension : {".config", ".affinity"})
      {
        std::filesystem::path const file = folder / (host_name() + extension);
        std::error_code failed;
        // another process may be writing it
        for (int time = 0; time < 100 && file_size(file, failed) == 0; ++time)
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (file_size(file, failed) == 0)
          throw error(file.string() + ": the file is empty; remove it, and StarPU writes a new one",
                      error_kind::file);
        if (failed && std::string_view(extension) == ".config" && access(folder.c_str(), W_OK) != 0)
          refuse(of, "write to " + folder.string() + ", which has no " + file.filename().string(),
                 "that you can write to");
      }
    }

    std::filesystem::path temporary_home()
    {
      std::error_code failed;
      std::filesystem::path const folder = std::filesystem::temp_directory_path(failed) /
                                           ("nearfield-starpu-" + std::to_string(geteuid()));
      // Other users can create this name in a shared directory: it must be ours, and not a link.
      struct stat found;
      if (failed || (mkdir(folder.c_str(), 0700) != 0 &&
                     (lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
                      found.st_uid != geteuid())))
        throw error(
            "STARPU_HOME: " + folder.string() +
                " cannot be created or is not your folder; set STARPU_HOME to a folder that "
                "you can write to",
            error_kind::file);
      return folder;
    }
  }

  void check_variables()
  {
    for (auto const& [name, least, most] : numbers)
    {
      std::string const variable = std::string("STARPU_") + name;
      check_number(variable, std::getenv(variable.c_str()), least, most);
    }
    // StarPU counts the CPUs of a core in the same way
    check_number("STARPU_NTHREADS_PER_CORE", std::getenv("STARPU_NTHREADS_PER_CORE"), 1,
                 allowed_cpus() / allowed_cores());
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

  void make_home()
  {
    measurements found = find_measurements();
    if (found.variable.empty() ||
        (found.variable == "HOME" && access(std::getenv("HOME"), W_OK) != 0))
    {
      setenv("STARPU_HOME", temporary_home().c_str(), 1);
      found = find_measurements();
    }
    check_length(found);
    for (char const* const part : {"bus", "codelets"}) make(found, found.folder / part);
    check_bus(found);
  }

  void check_threads(int n)
  {
    std::vector<std::thread> threads;
    std::latch all_started(1);
    std::error_code failed;
    try
    {
      threads.reserve(static_cast<std::size_t>(n));
      while (static_cast<int>(threads.size()) < n)
        threads.emplace_back(
            [&all_started]
            {
              all_started.wait();
              // A thread's heap takes much of a small address space. Making it while the stacks of
              // all threads exist shows that a worker's heap fits and leaves room for the stacks.
              void* volatile const anything = std::malloc(1); // volatile: otherwise optimised away
              std::free(anything);
            });
    }
    catch (std::system_error const& failure)
    {
      failed = failure.code();
    }
    catch (std::bad_alloc const&) // the threads already started must be joined in this case too
    {
      failed = std::make_error_code(std::errc::not_enough_memory);
    }
    all_started.count_down();
    std::size_t const n_started = threads.size();
    for (std::thread& thread : threads) thread.join();
    if (failed)
      throw error("StarPU: the system can start " + std::to_string(n_started) + " of " +
                      std::to_string(n) + " threads (" + failed.message() +
                      "); use fewer workers, or raise the limits on processes and address space "
                      "(ulimit -u, ulimit -v)",
                  error_kind::out_of_memory);
  }

  namespace
  {
    bool is_child_of_workers = false;
    [[maybe_unused]] int const watches_fork = pthread_atfork(
        nullptr, nullptr, [] { is_child_of_workers |= starpu_is_initialized() != 0; });
  }

  bool is_running()
  {
    return starpu_is_initialized() && !is_child_of_workers;
  }

  void check_process()
  {
    if (is_child_of_workers)
      throw error("StarPU: this process was created by fork() while StarPU was running, and has no "
                  "workers; start StarPU after fork(), or use it only in the parent",
                  error_kind::not_available);
  }

  void check_running()
  {
    check_process();
    if (!starpu_is_initialized())
      throw error("StarPU is not running: call starpu_init, or keep a nearfield::starpu::runtime "
                  "alive, as long as there are data and tasks",
                  error_kind::not_available);
  }

  void check_room()
  {
    // A handle makes forty allocations, each of which may take a page. As much again is left for the
    // workers, which allocate at the same time. glibc maps the first block of this size; once it is
    // freed, later ones come from the heap and are as cheap as small blocks.
    constexpr std::size_t enough = std::size_t(1) << 18;
    void* const volatile room = ::operator new(enough); // volatile: otherwise optimised away
    ::operator delete(room);
  }
}
