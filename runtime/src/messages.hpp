#pragma once

#include <starpu.h>

namespace nearfield::starpu::detail
{
  /// What messages between ranks carry.
  enum class message
  {
    positions_of_layer,
    inputs_of_layer,
    inputs_of_caller,
    outputs_of_caller
  };

  /// How the data of a step travel between the ranks of a communicator: all that a step knows of MPI. Both functions return
  /// at once, and order the message among the tasks that use the same data, as if it were one.
  class messages
  {
  public:
    virtual ~messages() = default;

    virtual void send(starpu_data_handle_t data, int to, message what) = 0;
    virtual void receive(starpu_data_handle_t data, int from, message what) = 0;
  };
}
