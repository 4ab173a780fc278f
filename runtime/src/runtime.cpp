#include <nearfield/starpu/runtime.hpp>

#include "conf.hpp"
#include "environment.hpp"
#include "gpu_memory.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/starpu/tasks.hpp>

#include <starpu.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace nearfield::starpu
{
  namespace
  {
    std::mutex mutex;
    int n_users = 0;
    bool started_here = false;
    int asked_workers = 0;
    int cpus = 0;                  ///< of the thread that made the first runtime
    std::string running_scheduler; // empty: StarPU's default, or the program's choice

    void check_scheduler(std::string const& name)
    {
      // only StarPU knows the policies of a library that the user loads
      if (name.empty() || std::getenv("STARPU_SCHED_LIB")) return;
      std::string known;
      for (starpu_sched_policy** policy = starpu_sched_get_predefined_policies(); policy && *policy;
           ++policy)
      {
        std::string const candidate = (*policy)->policy_name;
        if (candidate == name) return;
        if (!candidate.starts_with("modular")) known += (known.empty() ? "" : ", ") + candidate;
      }
      throw error("scheduler: StarPU " + version() + " has no '" + name + "'; take one of " +
                  known + ", or a modular one");
    }

    /// The number of GPUs that StarPU will use: all, unless STARPU_NCUDA or the options say fewer.
    int gpus_to_use(runtime::options_type const& options)
    {
      if (options.gpus && *options.gpus < 0)
        throw error("gpus: found " + std::to_string(*options.gpus) + "; give 0 or more");
      int const wanted = options.gpus.value_or(0);
      if (wanted > 0 && !has_cuda())
        throw error("gpus: found " + std::to_string(wanted) + ", but StarPU " + version() +
                        " was built without CUDA; ./dev starpu-cuda builds one with it",
                    error_kind::not_available);
      int there = has_cuda() ? static_cast<int>(gpus().size()) : 0;
      if (wanted > there)
        throw error("gpus: found " + std::to_string(wanted) + ", this machine has " +
                        std::to_string(there) + (there == 0 ? ": " + cuda_problem() : ""),
                    error_kind::not_available);
      if (char const* const limit = std::getenv("STARPU_NCUDA"); limit && !options.gpus)
        there = std::min(there, std::max(0, std::atoi(limit)));
      return options.gpus.value_or(there);
    }

    /// A variable of the environment that is not there meanwhile.
    class hidden_variable
    {
    public:
      explicit hidden_variable(char const* name) : name_(name)
      {
        if (char const* const value = std::getenv(name)) value_ = value;
        unsetenv(name);
      }
      ~hidden_variable()
      {
        if (value_) setenv(name_, value_->c_str(), 1);
      }
      hidden_variable(hidden_variable const&) = delete;
      hidden_variable& operator=(hidden_variable const&) = delete;

    private:
      char const* name_;
      std::optional<std::string> value_;
    };

    void start(runtime::options_type const& options)
    {
      int const n_gpus = gpus_to_use(options);
      if (n_gpus > 0) setenv("STARPU_NWORKER_PER_CUDA", "2", 0);
      if (options.workers < 0 || options.workers > STARPU_MAXCPUS)
        throw error("workers: found " + std::to_string(options.workers) +
                    "; this StarPU was built for 1 to " + std::to_string(STARPU_MAXCPUS) +
                    " CPU workers (./dev starpu builds one for 128); 0 uses what the machine has");
      starpu_conf conf;
      check(starpu_conf_init(&conf), "starpu_conf_init");
      // starpu_conf_init has read the environment; the caller's options take precedence
      conf.precedence_over_environment_variables = 1;
      if (options.workers > 0)
        conf.ncpus = options.workers;
      else
        detail::leave_a_core(conf, n_gpus, cpus);
      conf.ncuda = n_gpus;
      if (!options.scheduler.empty()) conf.sched_policy_name = options.scheduler.c_str();
      std::string const scheduler = conf.sched_policy_name ? conf.sched_policy_name : "";
      check_scheduler(scheduler);
      std::optional<hidden_variable> names_another; // StarPU would take a name in place of a policy
      if (!std::getenv("STARPU_SCHED_LIB")) // which may have policies of its own by these names
        conf.sched_policy = scheduler.empty() ? yielding_policy() : yielding_policy(scheduler);
      if (conf.sched_policy)
      {
        conf.sched_policy_name = nullptr;
        names_another.emplace("STARPU_SCHED");
      }
      detail::home const measurements;
      detail::check_room();
      // hwloc's plug-ins may take 40 MB of it, and the stack of each worker 8 MB
      detail::check_address_space(48 + 12 * static_cast<std::size_t>(std::max(conf.ncpus, 1)), 0);
      // StarPU's messages are about its calibration; errors are thrown
      setenv("STARPU_SILENT", "1", 0);
      // If StarPU has to measure the buses of this machine first, it then resets the GPUs.
      nearfield::detail::release_pools();
      check(starpu_init(&conf), "starpu_init");
      asked_workers = options.workers;
      running_scheduler = scheduler;
    }

    void stop()
    {
      if (!detail::is_running())
        return; // the program has stopped StarPU, or this is a child of fork()
      nearfield::detail::release_pools();
      starpu_shutdown();
    }

    int count_gpus()
    {
      return static_cast<int>(detail::workers_of_gpus().size());
    }

    /// Throws nearfield::error if StarPU is running with other options.
    void check_running(runtime::options_type const& options)
    {
      std::string const remedy = started_here
                                     ? "; set it for the first runtime, or destroy that one first"
                                     : "; the program itself started StarPU: set it there";
      int const running = static_cast<int>(starpu_cpu_worker_get_count());
      if (options.workers != 0 && options.workers != asked_workers && options.workers != running)
        throw error("workers: found " + std::to_string(options.workers) +
                    ", but StarPU already runs with " + std::to_string(running) + remedy);
      if (options.gpus && *options.gpus != count_gpus())
        throw error("gpus: found " + std::to_string(*options.gpus) +
                    ", but StarPU already runs with " + std::to_string(count_gpus()) + remedy);
      if (!options.scheduler.empty() && options.scheduler != running_scheduler)
        throw error("scheduler: found '" + options.scheduler + "', but StarPU already runs with " +
                    (running_scheduler.empty() ? "one that was not named here"
                                               : "'" + running_scheduler + "'") +
                    remedy);
    }
  }

  runtime::runtime(options_type const& options)
  {
    std::lock_guard const lock(mutex);
    detail::check_process();
    bool const is_first = n_users == 0;
    if (!is_first && !starpu_is_initialized())
      throw error("runtime: starpu_shutdown() was called while another nearfield::starpu::runtime "
                  "existed; destroy that one first");
    if (is_first)
    {
      started_here = !starpu_is_initialized();
      cpus = detail::allowed_cpus();
      asked_workers = 0;
      running_scheduler.clear();
      if (started_here) start(options);
    }
    try
    {
      check_running(options);
    }
    catch (...)
    {
      // nothing else would stop StarPU, for example if it has started with too few GPUs
      if (is_first && started_here) stop();
      throw;
    }
    ++n_users;
  }

  runtime::runtime(runtime const&)
  {
    std::lock_guard const lock(mutex);
    ++n_users;
  }

  runtime::~runtime()
  {
    std::lock_guard const lock(mutex);
    if (--n_users == 0 && started_here) stop();
  }

  int detail::cpus_at_start()
  {
    std::lock_guard const lock(mutex);
    return cpus;
  }

  int runtime::n_workers() const
  {
    return static_cast<int>(starpu_worker_get_count());
  }

  int runtime::n_gpus() const
  {
    return count_gpus();
  }

  std::optional<int> runtime::first_gpu() const
  {
    int const worker = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);
    if (worker < 0 || !built_with_cuda()) return std::nullopt;
    return starpu_worker_get_devid(worker);
  }

  std::vector<std::string> runtime::worker_names() const
  {
    std::vector<std::string> names;
    for (int worker = 0; worker < n_workers(); ++worker) names.push_back(worker_name(worker));
    return names;
  }

  std::string runtime::scheduler() const
  {
    std::lock_guard const lock(mutex);
    return running_scheduler;
  }

  void runtime::wait()
  {
    detail::wait_for_all_tasks();
    monitor::of_process().rethrow();
  }

  std::string version()
  {
    int major = 0, minor = 0, release = 0;
    starpu_get_version(&major, &minor, &release);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
  }

  std::string worker_limit()
  {
    return detail::worker_limit_of(detail::allowed_cores());
  }

  bool has_cuda() noexcept
  {
#if defined(STARPU_USE_CUDA)
    return true;
#else
    return false;
#endif
  }
}
