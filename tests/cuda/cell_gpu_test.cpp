// Images on the device: the bits and the counters of the host.
#include "random_cells.hpp"
#include "reduce_points.hpp"

#include <nearfield/cuda/device_array.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class T, int Dim>
    void expect_counters_of_the_host()
    {
      random_numbers random(21);
      std::size_t n_moved = 0;
      for (int k = 0; k < 200; ++k)
      {
        SCOPED_TRACE(k);
        detail::cell_frame<Dim> const frame(random_cell<Dim>(random, 1));
        auto const x = points_around<T, Dim>(random, frame, 1, 1000);
        std::vector<std::array<T, Dim>> given(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) given[i] = x[i];
        device_array<std::array<T, Dim>> const on_device{
            std::span<std::array<T, Dim> const>(given)};
        device_array<detail::reduced_point<T, Dim>> points(x.size());
        reduce_on_gpu<T, Dim>(frame, on_device.data(), points.data(), x.size());
        std::vector<detail::reduced_point<T, Dim>> found(x.size());
        points.copy_to(found);
        int different = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
        {
          auto const expected = frame.reduce(given[i]);
          different += found[i].at != expected.at || found[i].image != expected.image ||
                       found[i].fits != expected.fits;
          n_moved += expected.image != detail::image_counters<Dim>{};
        }
        EXPECT_EQ(different, 0);
      }
      EXPECT_GT(n_moved, 50000u);
    }
  }

  TEST(cell, counts_images_on_the_device_as_on_the_host)
  {
    expect_counters_of_the_host<double, 3>();
    expect_counters_of_the_host<float, 3>();
    expect_counters_of_the_host<double, 2>();
    expect_counters_of_the_host<float, 2>();
  }
}
