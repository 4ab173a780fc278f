#include "p2p_buffers.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/check.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace nearfield::starpu::detail
{
  namespace
  {
    std::string values_of(std::size_t values, std::size_t size)
    {
      return std::to_string(values) + " values of " + std::to_string(size) + " bytes";
    }
  }

  p2p_buffers::p2p_buffers(char const* codelet, layout const& expected, starpu_task* task,
                           void** buffers)
      : codelet_(codelet)
  {
    unsigned const n = STARPU_TASK_GET_NBUFFERS(task);
    for (unsigned b = 0; b < n; ++b)
    {
      starpu_data_handle_t const data = STARPU_TASK_GET_HANDLE(task, b);
      add(data, STARPU_TASK_GET_MODE(task, b),
          buffers ? buffers[b] : starpu_data_get_interface_on_node(data, STARPU_MAIN_RAM));
    }
    choose_layout(expected);
  }

  p2p_buffers::p2p_buffers(char const* codelet, layout const& expected,
                           std::span<p2p_handles const> roles)
      : codelet_(codelet), roles_(roles)
  {
    for (p2p_handles const& each : roles)
      for (starpu_data_handle_t const data : each.handles)
      {
        if (!data)
          throw error(std::string(codelet) + ": handle " + std::to_string(buffers_.size()) +
                      " (counted from 0, over all that the task is given) is null; register the "
                      "data first");
        add(data, each.mode(), starpu_data_get_interface_on_node(data, STARPU_MAIN_RAM));
      }
    choose_layout(expected);
  }

  void p2p_buffers::add(starpu_data_handle_t data, starpu_data_access_mode mode, void* interface)
  {
    p2p_buffer buffer{data, mode};
    switch (starpu_data_get_interface_id(data))
    {
    case STARPU_VECTOR_INTERFACE_ID:
      buffer.first = reinterpret_cast<void*>(STARPU_VECTOR_GET_PTR(interface));
      buffer.element_size = STARPU_VECTOR_GET_ELEMSIZE(interface);
      buffer.bytes = STARPU_VECTOR_GET_NX(interface) * buffer.element_size;
      break;
    case STARPU_VARIABLE_INTERFACE_ID:
      buffer.first = reinterpret_cast<void*>(STARPU_VARIABLE_GET_PTR(interface));
      buffer.bytes = STARPU_VARIABLE_GET_ELEMSIZE(interface);
      break;
    default:
      throw error(std::string(codelet_) + ": buffer " + std::to_string(buffers_.size()) +
                  " is neither a vector nor a variable; register it with "
                  "starpu_vector_data_register or starpu_variable_data_register");
    }
    buffers_.push_back(buffer);
  }

  void p2p_buffers::choose_layout(layout const& expected)
  {
    int const n = static_cast<int>(buffers_.size());
    overwrites_ = expected.overwrites;
    is_packed_ = n == expected.roles;
    if (is_packed_) return;
    int const of_values = n - expected.coordinates;
    if (of_values <= 0 || of_values % expected.values != 0)
      throw error(std::string(codelet_) + ": found " + std::to_string(n) + " buffers; give " +
                  std::to_string(expected.roles) +
                  ", each with its columns one after the other, or " +
                  std::to_string(expected.coordinates) + " + " + std::to_string(expected.values) +
                  " for each right-hand side, one for each column");
    n_rhs_ = of_values / expected.values;
  }

  std::span<p2p_buffer const> p2p_buffers::take(char const* what, int n_columns, bool is_output)
  {
    std::span<p2p_buffer const> const all(buffers_.begin(), buffers_.end());
    auto const taken = all.subspan(next_, is_packed_ ? 1 : static_cast<std::size_t>(n_columns));
    next_ += taken.size();
    std::size_t const number = next_role_++;
    if (!roles_.empty() && roles_[number].handles.size() != taken.size())
      throw error(
          std::string(codelet_) + ": " + what + " has " +
          std::to_string(roles_[number].handles.size()) + " handles; with " +
          std::to_string(buffers_.size()) + " in all it takes " + std::to_string(taken.size()) +
          ". Give one for each column and right-hand side, or one for each of x, q and out");
    for (p2p_buffer const& buffer : taken) check_access(what, buffer, is_output);
    return taken;
  }

  std::size_t p2p_buffers::values_in(char const* what, p2p_buffer const& buffer,
                                     std::size_t size_of_real) const
  {
    if (buffer.element_size != 0 && buffer.element_size != size_of_real)
      throw error(std::string(codelet_) + ": " + what + " has " +
                  values_of(buffer.bytes / buffer.element_size, buffer.element_size) +
                  ", the tasks are those of reals of " + std::to_string(size_of_real) +
                  " bytes; give handles of " + (size_of_real == 4 ? "float" : "double") +
                  ", or take p2p<K, " + (size_of_real == 4 ? "double" : "float") + ">");
    if (buffer.bytes % size_of_real != 0)
      throw error(std::string(codelet_) + ": " + what + " has " + std::to_string(buffer.bytes) +
                  " bytes, not a whole number of reals of " + std::to_string(size_of_real) +
                  " bytes");
    return buffer.bytes / size_of_real;
  }

  p2p_buffers::role p2p_buffers::coordinates(char const* what, int n_columns,
                                             std::size_t size_of_real)
  {
    role taken;
    taken.buffers_ = take(what, n_columns, false);
    taken.is_packed_ = is_packed_;
    std::size_t const values = values_in(what, taken.buffers_[0], size_of_real);
    if (is_packed_ && values % static_cast<std::size_t>(n_columns) != 0)
      throw error(std::string(codelet_) + ": " + what + " has " + std::to_string(values) +
                  " values, not a whole number of points; give " + std::to_string(n_columns) +
                  " for each point");
    std::size_t const n = is_packed_ ? values / static_cast<std::size_t>(n_columns) : values;
    for (p2p_buffer const& column : taken.buffers_)
      if (!is_packed_ && values_in(what, column, size_of_real) != n)
        throw error(std::string(codelet_) + ": the columns of " + what + " have " +
                    std::to_string(n) + " and " +
                    std::to_string(values_in(what, column, size_of_real)) +
                    " values; give columns of one length");
    nearfield::detail::check_box_size(n, 0);
    taken.n_ = static_cast<index_type>(n);
    return taken;
  }

  p2p_buffers::role p2p_buffers::values(char const* what, int n_columns, std::size_t size_of_real,
                                        index_type n, bool is_output)
  {
    role taken;
    taken.buffers_ = take(what, n_rhs_ * n_columns, is_output);
    taken.is_packed_ = is_packed_;
    taken.n_ = n;
    taken.n_rhs_ = n_rhs_;
    std::size_t const each = n * (is_packed_ ? static_cast<std::size_t>(n_columns) : 1);
    for (p2p_buffer const& buffer : taken.buffers_)
    {
      std::size_t const found = values_in(what, buffer, size_of_real);
      bool const fits = each == 0    ? found == 0
                        : is_packed_ ? found > 0 && found % each == 0
                                     : found == each;
      if (!fits)
        throw error(std::string(codelet_) + ": " + what + " has " + values_of(found, size_of_real) +
                    ", x has " + std::to_string(n) + " points; give " +
                    (is_packed_ ? std::to_string(n_columns) + " for each point and right-hand side"
                                : "one for each point"));
      if (is_packed_ && each > 0) taken.n_rhs_ = static_cast<int>(found / each);
    }
    return taken;
  }

  void p2p_buffers::check_access(char const* what, p2p_buffer const& buffer, bool is_output) const
  {
    if (!is_output)
    {
      if ((buffer.mode & STARPU_R) == 0)
        throw error(std::string(codelet_) + ": " + what +
                    " is an input, and not accessed as STARPU_R");
      return;
    }
    bool const adds = (buffer.mode & STARPU_RW) == STARPU_RW || (buffer.mode & STARPU_REDUX) != 0;
    bool const writes = overwrites_ && (buffer.mode & STARPU_W) != 0;
    if (!adds && !writes)
      throw error(std::string(codelet_) + ": " + what + " is not accessed as " +
                  (overwrites_ ? "STARPU_W or STARPU_RW, but the task writes it"
                               : "STARPU_RW, STARPU_RW | STARPU_COMMUTE or STARPU_REDUX, but the "
                                 "task adds to it"));
    auto const shares_memory = [&](p2p_buffer const& other)
    {
      // two handles may have been registered over one array
      return other.handle == buffer.handle ||
             (buffer.first && other.first &&
              nearfield::detail::overlap(static_cast<std::byte const*>(buffer.first), buffer.bytes,
                                         static_cast<std::byte const*>(other.first), other.bytes));
    };
    if (std::ranges::count_if(buffers_, shares_memory) > 1)
      throw error(
          std::string(codelet_) + ": " + what +
          " shares its memory with another x, q or out of the task; give each output a handle of "
          "its own (and a box with itself to the inner codelet)");
  }
}
