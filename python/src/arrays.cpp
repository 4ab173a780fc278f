#include "arrays.hpp"

#include <algorithm>
#include <utility>

namespace nearfield::python
{
  namespace
  {
    [[noreturn]] void refuse_value(std::string const& message)
    {
      throw nb::value_error(message.c_str());
    }
    [[noreturn]] void refuse_type(std::string const& message)
    {
      throw nb::type_error(message.c_str());
    }

    std::string kind_of(nb::handle of)
    {
      return nb::cast<std::string>(
          nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(of.ptr()))).attr("__name__"));
    }
  }

  void check(nf_status status)
  {
    if (status == nf_ok) return;
    char const* const message = nf_last_error();
    switch (status)
    {
    case nf_invalid_argument:
      throw nb::value_error(message);
    case nf_out_of_memory:
      PyErr_SetString(PyExc_MemoryError, message);
      throw nb::python_error();
    default:
      PyErr_SetString(PyExc_RuntimeError, message);
      throw nb::python_error();
    }
  }

  nb::dlpack::dtype type_of(nf_real real)
  {
    return real == nf_float32 ? nb::dtype<float>() : nb::dtype<double>();
  }

  array::array(char const* name, nb::handle from, bool is_output)
  {
    std::string const what = name;
    nb::ndarray<> writable;
    bool const is_taken =
        (!is_output || nb::try_cast(from, writable, false)) && nb::try_cast(from, owner_, false);
    if (!is_taken)
      refuse_type(what + " is " + kind_of(from) + "; give " + (is_output ? "a writable" : "an") +
                  " array of float32 or float64 in the byte order of this machine");
    if (owner_.device_type() != nb::device::cpu::value)
      refuse_value(what +
                   " is not in host memory; give arrays that are, or install nearfield-cu13");
    if (owner_.dtype() == nb::dtype<float>())
      real_ = nf_float32;
    else if (owner_.dtype() == nb::dtype<double>())
      real_ = nf_float64;
    else
      refuse_type(what + " has values of another type; give float32 or float64");
    if (owner_.ndim() < 1 || owner_.ndim() > 3)
      refuse_value(what + " has " + std::to_string(owner_.ndim()) +
                   " axes; give shape (n,) or (n, columns)");
    n_ = owner_.shape(0);
    width_ = owner_.ndim() == 1 ? 1 : owner_.shape(1);
    column_stride_ = owner_.ndim() == 1 ? 1 : owner_.stride(1);
    if (owner_.ndim() == 3)
    {
      if (owner_.shape(2) > 1 && owner_.shape(1) > 1 &&
          owner_.stride(1) != owner_.stride(2) * static_cast<std::int64_t>(owner_.shape(2)))
        refuse_value(
            what +
            ": axes 1 and 2 do not follow each other in memory; pass numpy.ascontiguousarray(" +
            what + ")");
      width_ *= owner_.shape(2);
      column_stride_ = owner_.shape(2) > 1 ? owner_.stride(2) : owner_.stride(1);
    }
    // NumPy's stride of an axis with one value may be anything
    stride_ = n_ > 1 ? owner_.stride(0) : static_cast<std::int64_t>(width_);
    if (width_ == 1) column_stride_ = 1;
    first_ = const_cast<void*>(owner_.data());
    std::size_t const bytes = real_ == nf_float32 ? 4 : 8;
    if (n_ > 0 && width_ > 0 && (stride_ < 1 || column_stride_ < 1))
      refuse_value(what + " descends or repeats in memory; pass numpy.ascontiguousarray(" + what +
                   ")");
    if (reinterpret_cast<std::uintptr_t>(first_) % bytes != 0)
      refuse_value(what + " is not aligned; pass numpy.require(" + what + ", requirements='A')");
    if (is_output && n_ > 1 && width_ > 1 &&
        stride_ < static_cast<std::int64_t>(width_) * column_stride_ &&
        column_stride_ < static_cast<std::int64_t>(n_) * stride_)
      refuse_value(what + " overlaps itself in memory; give another array");
    if (n_ == 0 || width_ == 0) first_ = const_cast<char*>("");
  }

  nf_columns array::columns() const
  {
    nf_columns view;
    view.first = first_;
    view.columns = nullptr;
    view.n_points = static_cast<std::int64_t>(n_);
    view.stride = stride_ < 1 ? 1 : stride_;
    view.column_stride = column_stride_;
    view.n_columns = static_cast<std::int32_t>(width_);
    view.real = real_;
    return view;
  }

  void array::fill_with_zeros() const
  {
    auto const fill = [&]<class T>(T* first)
    {
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t c = 0; c < width_; ++c)
          first[static_cast<std::int64_t>(i) * stride_ +
                static_cast<std::int64_t>(c) * column_stride_] = 0;
    };
    if (real_ == nf_float32)
      fill(static_cast<float*>(first_));
    else
      fill(static_cast<double*>(first_));
  }

  point_sets::point_sets(nb::handle points, nb::handle queries, bool has_two_sets)
      : points_("positions", points)
  {
    if (!has_two_sets && !queries.is_none())
      refuse_value("queries: there are none; give them to the constructor too");
    if (has_two_sets) queries_.emplace("queries", queries);
    sources_ = points_.columns();
    targets_ = queries_ ? queries_->columns() : sources_;
  }

  int point_sets::dim() const
  {
    if (points_.width() != 2 && points_.width() != 3)
      refuse_value("positions have " + std::to_string(points_.width()) +
                   " columns; give shape (n, 2) or (n, 3)");
    return static_cast<int>(points_.width());
  }

  namespace
  {
    template <class T>
    std::vector<T> values_of(char const* name, nb::handle from, char const* kind)
    {
      nb::ndarray<T const, nb::ndim<1>, nb::c_contig, nb::device::cpu> values;
      if (!nb::try_cast(from, values, true))
        refuse_type(std::string(name) + " is " + kind_of(from) +
                    "; give a one-dimensional array of " + kind);
      return {values.data(), values.data() + values.size()};
    }
  }

  std::vector<std::int64_t> indices(char const* name, nb::handle from)
  {
    return values_of<std::int64_t>(name, from, "int64");
  }

  double number(char const* name, nb::handle from)
  {
    double value;
    if (!nb::try_cast(from, value, true))
      refuse_type(std::string(name) + " is " + kind_of(from) + "; give a number");
    return value;
  }

  std::vector<double> lengths(char const* name, nb::handle from)
  {
    return values_of<double>(name, from, "float64");
  }

  nf_box box_of(int dim, nb::handle cell, nb::handle pbc, nb::handle origin)
  {
    nf_box box{};
    if (!cell.is_none())
    {
      nb::ndarray<double const, nb::c_contig, nb::device::cpu> vectors;
      if (!nb::try_cast(cell, vectors, true))
        refuse_type("cell is " + kind_of(cell) + "; give " + std::to_string(dim) +
                    " vectors, one a row, or lengths");
      auto const n = static_cast<std::size_t>(dim);
      if (vectors.ndim() == 1 && vectors.shape(0) == n)
        for (std::size_t a = 0; a < n; ++a) box.vectors[a][a] = vectors.data()[a];
      else if (vectors.ndim() == 2 && vectors.shape(0) == n && vectors.shape(1) == n)
        for (std::size_t a = 0; a < n; ++a)
          for (std::size_t b = 0; b < n; ++b) box.vectors[a][b] = vectors.data()[a * n + b];
      else
        refuse_value("cell has another shape; give (" + std::to_string(dim) + ", " +
                     std::to_string(dim) + ") or (" + std::to_string(dim) + ",)");
    }
    if (pbc.is_none())
      for (int a = 0; a < dim; ++a) box.periodic[a] = !cell.is_none();
    else
    {
      // a flag, or one for each axis: bool of Python or NumPy, or an integer
      auto const flag = [](nb::handle of)
      {
        bool value = false;
        std::int64_t number = 0;
        if (nb::try_cast(of, value)) return value;
        if (nb::try_cast(of, number)) return number != 0;
        if (kind_of(of) != "bool_" && kind_of(of) != "bool")
          refuse_type("pbc has a " + kind_of(of) + "; give flags");
        return PyObject_IsTrue(of.ptr()) == 1;
      };
      nb::ndarray<bool const, nb::ndim<1>, nb::c_contig, nb::device::cpu> flags;
      std::vector<bool> values;
      if (PyBytes_Check(pbc.ptr())) refuse_type("pbc is bytes; give flags");
      if (nb::try_cast(pbc, flags, false))
        values.assign(flags.data(), flags.data() + flags.size());
      else if (nb::hasattr(pbc, "__len__"))
        for (nb::handle const each : pbc) values.push_back(flag(each));
      else
        values.assign(static_cast<std::size_t>(dim), flag(pbc));
      if (values.size() != static_cast<std::size_t>(dim))
        refuse_value("pbc has another shape; give a flag, or " + std::to_string(dim) + " flags");
      for (int a = 0; a < dim; ++a) box.periodic[a] = values[static_cast<std::size_t>(a)];
    }
    if (!origin.is_none())
    {
      auto const corner = lengths("origin", origin);
      if (corner.size() != static_cast<std::size_t>(dim))
        refuse_value("origin has " + std::to_string(corner.size()) + " values; give " +
                     std::to_string(dim));
      for (int a = 0; a < dim; ++a) box.origin[a] = corner[static_cast<std::size_t>(a)];
    }
    return box;
  }

  result::result(nb::dlpack::dtype type, std::size_t n, std::size_t width)
      : type_(type), width_(width)
  {
    std::size_t const bytes = width * type.bits / 8;
    if (!bytes_.try_reserve(std::max<std::size_t>(n * bytes, 1)))
    {
      PyErr_SetString(PyExc_MemoryError, ("the system cannot provide " + std::to_string(n * bytes) +
                                          " bytes; use a smaller cutoff")
                                             .c_str());
      throw nb::python_error();
    }
  }

  nb::object result::take(std::size_t n, bool is_matrix) &&
  {
    std::size_t const bytes = n * width_ * type_.bits / 8;
    bytes_.resize(bytes);
    if (bytes_.capacity() > 2 * bytes + (std::size_t(1) << 16) && bytes > 0) bytes_.shrink_to_fit();
    std::size_t const shape[2] = {n, width_};
    if (bytes == 0) bytes_.resize(1);
    auto* const kept = new page_array<std::byte>(std::move(bytes_));
    nb::capsule const owner(kept, [](void* p) noexcept
                            { delete static_cast<page_array<std::byte>*>(p); });
    return nb::cast(
        nb::ndarray<nb::numpy>(kept->data(), is_matrix ? 2 : 1, shape, owner, nullptr, type_));
  }
}
