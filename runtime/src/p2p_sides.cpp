#include "p2p_sides.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/check.hpp>

#include <algorithm>
#include <array>
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

  template <class T>
  p2p_sides<T>::p2p_sides(p2p_form const& form, kernel_shape const& k, starpu_task* task,
                          void** buffers)
      : form_(form), width_{k.n_x, k.n_in, k.n_out}
  {
    unsigned const n = STARPU_TASK_GET_NBUFFERS(task);
    for (unsigned b = 0; b < n; ++b)
    {
      starpu_data_handle_t const data = STARPU_TASK_GET_HANDLE(task, b);
      add({data, STARPU_TASK_GET_MODE(task, b)},
          buffers ? buffers[b] : starpu_data_get_interface_on_node(data, STARPU_MAIN_RAM));
    }
    read({});
  }

  template <class T>
  p2p_sides<T>::p2p_sides(p2p_form const& form, kernel_shape const& k,
                          std::span<column_handles const* const> handles)
      : form_(form), width_{k.n_x, k.n_in, k.n_out}
  {
    for (std::size_t r = 0; r < handles.size(); ++r)
      for (starpu_data_handle_t const data : handles[r]->get())
      {
        if (!data)
          fail("handle " + std::to_string(buffers_.size()) +
               " (counted from 0, over all that the task is given) is null; register the data "
               "first");
        bool const is_output = form.roles[r].what == p2p_roles::out;
        add({data, is_output ? form.output : STARPU_R},
            starpu_data_get_interface_on_node(data, STARPU_MAIN_RAM));
      }
    read(handles);
  }

  template <class T>
  double p2p_sides<T>::pairs() const
  {
    double const n = targets().n, m = sources().n;
    if (n == 0 || m == 0) return 0;
    return n_rhs_ * (is_one_ ? n * (n - 1) : sources()[p2p_roles::out] ? 2 * n * m : n * m);
  }

  template <class T>
  void p2p_sides<T>::add_buffers_to(task& to) const
  {
    for (buffer const& each : buffers_) to.add(each.data.handle, each.data.mode);
  }

  template <class T>
  void p2p_sides<T>::add(starpu_data_descr const& data, void* interface)
  {
    buffer made{data};
    switch (starpu_data_get_interface_id(data.handle))
    {
    case STARPU_VECTOR_INTERFACE_ID:
      made.first = reinterpret_cast<void*>(STARPU_VECTOR_GET_PTR(interface));
      made.element_size = STARPU_VECTOR_GET_ELEMSIZE(interface);
      made.bytes = STARPU_VECTOR_GET_NX(interface) * made.element_size;
      break;
    case STARPU_VARIABLE_INTERFACE_ID:
      made.first = reinterpret_cast<void*>(STARPU_VARIABLE_GET_PTR(interface));
      made.bytes = STARPU_VARIABLE_GET_ELEMSIZE(interface);
      break;
    default:
      fail("buffer " + std::to_string(buffers_.size()) +
           " is neither a vector nor a variable; register it with starpu_vector_data_register or "
           "starpu_variable_data_register");
    }
    buffers_.push_back(made);
  }

  template <class T>
  void p2p_sides<T>::read(std::span<column_handles const* const> handles)
  {
    choose_layout();
    std::array<std::span<buffer const>, std::size(p2p_roles::outer_mutual)> of_roles;
    std::span<buffer const> rest(buffers_.begin(), buffers_.end());
    for (std::size_t r = 0; r < form_.roles.size(); ++r)
    {
      role const& here = form_.roles[r];
      std::size_t const n = is_packed_ ? 1 : n_columns(here);
      if (!handles.empty() && handles[r]->get().size() != n)
        fail(std::string(here.name) + " has " + std::to_string(handles[r]->get().size()) +
             " handles; with " + std::to_string(buffers_.size()) + " in all it takes " +
             std::to_string(n) +
             ". Give one for each column and right-hand side, or one for each of x, q and out");
      of_roles[r] = rest.first(n);
      rest = rest.subspan(n);
      for (buffer const& each : of_roles[r]) check_access(here, each);
      side& of = sides_[here.of];
      if (here.what == p2p_roles::x)
        of.n = count_points(here, of_roles[r]);
      else
        of.n_rhs = count_rhs(here, of_roles[r]);
    }
    side const &one = targets(), &other = sources();
    if (one.n > 0 && other.n > 0 && one.n_rhs != other.n_rhs)
      fail("the targets have " + std::to_string(one.n_rhs) + " right-hand sides, the sources " +
           std::to_string(other.n_rhs) + "; give one output for each");
    n_rhs_ = std::max(one.n_rhs, other.n_rhs); // packed columns without points do not tell
    for (std::size_t r = 0; r < form_.roles.size(); ++r)
    {
      side& of = sides_[form_.roles[r].of];
      for (std::size_t c = 0; c < n_columns(form_.roles[r]); ++c)
      {
        T* const first = static_cast<T*>(of_roles[r][is_packed_ ? 0 : c].first);
        // data that StarPU has not allocated yet have no address
        of.columns[form_.roles[r].what].push_back(is_packed_ && first ? first + c * of.n : first);
      }
    }
  }

  template <class T>
  void p2p_sides<T>::choose_layout()
  {
    std::size_t const n = buffers_.size(), n_roles = form_.roles.size();
    std::size_t x = 0, values = 0; // columns; of values for a right-hand side
    for (role const& each : form_.roles)
    {
      (each.what == p2p_roles::x ? x : values) += n_columns(each);
      is_one_ = is_one_ && each.of == p2p_roles::targets;
    }
    is_packed_ = n == n_roles;
    if (is_packed_) return;
    if (n <= x || (n - x) % values != 0)
      fail("found " + std::to_string(n) + " buffers; give " + std::to_string(n_roles) +
           ", each with its columns one after the other, or " + std::to_string(x) + " + " +
           std::to_string(values) + " for each right-hand side, one for each column");
    n_rhs_ = static_cast<int>((n - x) / values);
  }

  template <class T>
  index_type p2p_sides<T>::count_points(role const& of, std::span<buffer const> buffers) const
  {
    std::size_t const values = values_in(of, buffers[0]);
    std::size_t const each = is_packed_ ? n_columns(of) : 1;
    if (values % each != 0)
      fail(std::string(of.name) + " has " + std::to_string(values) +
           " values, not a whole number of points; give " + std::to_string(each) +
           " for each point");
    for (buffer const& column : buffers)
      if (std::size_t const found = values_in(of, column); found != values)
        fail("the columns of " + std::string(of.name) + " have " + std::to_string(values) +
             " and " + std::to_string(found) + " values; give columns of one length");
    nearfield::detail::check_box_size(values / each, 0);
    return static_cast<index_type>(values / each);
  }

  template <class T>
  int p2p_sides<T>::count_rhs(role const& of, std::span<buffer const> buffers) const
  {
    side const& points = sides_[of.of];
    int n_rhs = n_rhs_;
    std::size_t const each = points.n * (is_packed_ ? n_columns(of) : 1);
    for (buffer const& column : buffers)
    {
      std::size_t const found = values_in(of, column);
      bool const fits = each == 0    ? found == 0
                        : is_packed_ ? found > 0 && found % each == 0
                                     : found == each;
      if (!fits)
        fail(std::string(of.name) + " has " + values_of(found, sizeof(T)) + ", x has " +
             std::to_string(points.n) + " points; give " +
             (is_packed_ ? std::to_string(n_columns(of)) + " for each point and right-hand side"
                         : "one for each point"));
      if (is_packed_ && each > 0) n_rhs = static_cast<int>(found / each);
    }
    if (points.n_rhs > 0 && points.n_rhs != n_rhs)
      fail("q has " + std::to_string(points.n_rhs) + " right-hand sides, " + of.name + " has " +
           std::to_string(n_rhs) + "; give one output for each");
    return n_rhs;
  }

  template <class T>
  void p2p_sides<T>::check_access(role const& of, buffer const& one) const
  {
    std::string const what = of.name;
    auto const has = [&](starpu_data_access_mode mode)
    {
      return (one.data.mode & mode) == mode;
    };
    if (of.what != p2p_roles::out)
    {
      if (!has(STARPU_R)) fail(what + " is an input, and not accessed as STARPU_R");
      return;
    }
    bool const overwrites = form_.output == STARPU_W;
    if (!has(STARPU_RW) && !has(overwrites ? STARPU_W : STARPU_REDUX))
      fail(
          what + " is not accessed as " +
          (overwrites
               ? "STARPU_W or STARPU_RW, but the task writes it"
               : "STARPU_RW, STARPU_RW | STARPU_COMMUTE or STARPU_REDUX, but the task adds to it"));
    auto const shares_memory = [&](buffer const& other)
    {
      // two handles may have been registered over one array
      return other.data.handle == one.data.handle ||
             (one.first && other.first &&
              nearfield::detail::overlap(static_cast<std::byte const*>(one.first), one.bytes,
                                         static_cast<std::byte const*>(other.first), other.bytes));
    };
    if (std::ranges::count_if(buffers_, shares_memory) > 1)
      fail(what + " shares its memory with another x, q or out of the task; give each output a "
                  "handle of its own (and a box with itself to the inner codelet)");
  }

  template <class T>
  std::size_t p2p_sides<T>::values_in(role const& of, buffer const& one) const
  {
    constexpr std::size_t size = sizeof(T);
    constexpr bool is_float = size == 4;
    std::string const what = of.name;
    if (one.element_size != 0 && one.element_size != size)
      fail(what + " has " + values_of(one.bytes / one.element_size, one.element_size) +
           ", the tasks are those of reals of " + std::to_string(size) +
           " bytes; give handles of " + (is_float ? "float" : "double") + ", or take p2p<K, " +
           (is_float ? "double" : "float") + ">");
    if (one.bytes % size != 0)
      fail(what + " has " + std::to_string(one.bytes) + " bytes, not a whole number of reals of " +
           std::to_string(size) + " bytes");
    return one.bytes / size;
  }

  template <class T>
  void p2p_sides<T>::fail(std::string const& what) const
  {
    throw error(std::string(form_.task) + ": " + what);
  }

  template class p2p_sides<float>;
  template class p2p_sides<double>;
}
