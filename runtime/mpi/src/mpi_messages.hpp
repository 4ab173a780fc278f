#pragma once

#include "runtime/src/messages.hpp"

#include <nearfield/starpu/runtime.hpp>

#include <starpu_mpi.h>

#include <cstdint>
#include <string>

namespace nearfield::starpu_mpi::detail
{
  using starpu::detail::message;

  /// Messages of StarPU-MPI, each kind with a tag.
  class mpi_messages final : public starpu::detail::messages
  {
  public:
    mpi_messages(MPI_Comm communicator, std::int64_t first_tag)
        : comm_(communicator), first_tag_(first_tag)
    {}

    void send(starpu_data_handle_t data, int to, message what) override
    {
      starpu::check(starpu_mpi_isend_detached(data, to, tag_of(what), comm_, nullptr, nullptr),
                    "starpu_mpi_isend_detached to rank " + std::to_string(to));
    }
    void receive(starpu_data_handle_t data, int from, message what) override
    {
      starpu::check(starpu_mpi_irecv_detached(data, from, tag_of(what), comm_, nullptr, nullptr),
                    "starpu_mpi_irecv_detached from rank " + std::to_string(from));
    }

  private:
    [[nodiscard]] std::int64_t tag_of(message what) const
    {
      return first_tag_ + static_cast<std::int64_t>(what);
    }

    MPI_Comm comm_;
    std::int64_t first_tag_;
  };
}
