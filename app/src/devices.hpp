#pragma once

#include "options.hpp"

#include <string>

namespace nearfield::app
{
  /// Throws nearfield::error if the options of a run contradict each other about GPUs, or ask for GPUs that
  /// this program or this machine does not have.
  void check_devices(execution_options const& options);

  /// Throws nearfield::error for more workers than StarPU can have; `remedy`: what else to give.
  void check_workers(int workers, std::string const& remedy);

  /// Why StarPU cannot compute on GPUs here, in a few words; empty if it can.
  std::string no_gpu_tasks();
  /// The same for the calling thread.
  std::string no_gpu();

  /// Whether StarPU is built in.
  bool has_tasks();
}
