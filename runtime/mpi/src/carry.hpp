#pragma once

#include "ranks.hpp"

#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

namespace nearfield::starpu_mpi::detail
{
  /// Sends values of `size` bytes, the first bytes of each `step`, as their points went. They arrive rank after rank.
  inline void carry(ranks const& all, journey const& way, void const* from, std::ptrdiff_t step,
                    std::size_t size, std::byte* arrived)
  {
    std::vector<std::byte> leaving;
    all.attempt([&] { leaving.resize(way.sent.size() * size); });
    for (std::size_t k = 0; k < way.sent.size(); ++k)
      std::memcpy(leaving.data() + k * size,
                  static_cast<std::byte const*>(from) + std::ptrdiff_t(way.sent[k]) * step, size);
    all.exchange_bytes(leaving.data(), way.sent_offsets, arrived, way.received_offsets, size);
  }

  /// The same, to own points: value way.received[k] of `to` is the one that arrived as number k.
  inline void carry_to_own(ranks const& all, journey const& way, void const* from,
                           std::ptrdiff_t step, std::size_t size, void* to)
  {
    std::vector<std::byte> arrived;
    all.attempt([&] { arrived.resize(way.received.size() * size); });
    carry(all, way, from, step, size, arrived.data());
    for (std::size_t k = 0; k < way.received.size(); ++k)
      std::memcpy(static_cast<std::byte*>(to) + way.received[k] * size, arrived.data() + k * size,
                  size);
  }
}
