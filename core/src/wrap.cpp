#include <nearfield/core/cell.hpp>

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace nearfield::detail
{
  void refuse_to_wrap(int axis, std::size_t point, double coordinate)
  {
    throw error("wrap: coordinate " + std::to_string(axis) + " of point " + std::to_string(point) +
                " is " + number_text(coordinate) + "; give finite coordinates");
  }

  template <class T, int Dim>
  void wrap(strided<T, Dim> const& points, cell<Dim> const& box,
            strided<std::int32_t, Dim> const* images)
  {
    if (images && images->size() != points.size())
      throw error("wrap: images has " + std::to_string(images->size()) + " rows, expected " +
                  std::to_string(points.size()) + ", one for each point");
    cell_frame<Dim> const frame(box);
    std::vector<reduced_point<T, Dim>> reduced(points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
    {
      std::array<T, Dim> x;
      for (int d = 0; d < Dim; ++d) x[d] = points[d][i];
      reduced[i] = frame.reduce(x);
      if (reduced[i].fits) continue;
      for (int d = 0; d < Dim; ++d)
        if (!std::isfinite(points[d][i])) refuse_to_wrap(d, i, double(points[d][i]));
      throw error("wrap: point " + std::to_string(i) +
                  " is more than 2^29 boxes away from the box; subtract whole multiples of its "
                  "vectors first");
    }
    for (std::size_t i = 0; i < points.size(); ++i)
    {
      for (int d = 0; d < Dim; ++d) points[d][i] = reduced[i].at[d];
      for (int d = 0; d < Dim && images; ++d) (*images)[d][i] = reduced[i].image[d];
    }
  }

  template void wrap(strided<float, 2> const&, cell<2> const&, strided<std::int32_t, 2> const*);
  template void wrap(strided<float, 3> const&, cell<3> const&, strided<std::int32_t, 3> const*);
  template void wrap(strided<double, 2> const&, cell<2> const&, strided<std::int32_t, 2> const*);
  template void wrap(strided<double, 3> const&, cell<3> const&, strided<std::int32_t, 3> const*);
}
