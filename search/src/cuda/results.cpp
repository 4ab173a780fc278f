// Copies of results from device memory to the host, and the check of a search's stream.

#include <nearfield/core/error.hpp>
#include <nearfield/search/cuda.hpp>

namespace nearfield
{
  namespace
  {
    template <class V>
    void copy(device_array<V> const& from, page_array<V>& to)
    {
      if (from.size() == 0) return;
      to.resize(from.size());
      from.copy_to({to.data(), to.size()});
    }

    template <class T, int Dim>
    void copy_geometry(detail::device_pair_geometry<T, Dim> const& from,
                       detail::pair_geometry<T, Dim>& to)
    {
      copy(from.r2, to.r2);
      for (int a = 0; a < Dim; ++a)
      {
        copy(from.displacements[a], to.displacements[a]);
        copy(from.images[a], to.images[a]);
      }
      copy(from.packed_images, to.packed_images);
    }
  }

  pair_counts device_counts::to_host() const
  {
    pair_counts result;
    result.total = total;
    copy(per_point, result.per_point);
    return result;
  }

  template <class T, int Dim>
  coo<T, Dim> device_coo<T, Dim>::to_host() const
  {
    coo<T, Dim> result;
    copy(i, result.i);
    copy(j, result.j);
    copy_geometry(*this, result);
    return result;
  }

  template <class T, int Dim>
  csr<T, Dim> device_csr<T, Dim>::to_host() const
  {
    csr<T, Dim> result;
    copy(offsets, result.offsets);
    copy(columns, result.columns);
    copy_geometry(*this, result);
    return result;
  }

  neighbour_table device_table::to_host() const
  {
    neighbour_table result;
    result.width = width;
    result.overflow = overflow;
    copy(counts, result.counts);
    copy(columns, result.columns);
    return result;
  }

  template struct device_coo<float, 2>;
  template struct device_coo<float, 3>;
  template struct device_coo<double, 2>;
  template struct device_coo<double, 3>;
  template struct device_csr<float, 2>;
  template struct device_csr<float, 3>;
  template struct device_csr<double, 2>;
  template struct device_csr<double, 3>;

  void detail::check_same_stream(cuda_stream where, cuda_stream of_list)
  {
    if (where != of_list)
      throw error("radius_search: the cell list was built on another stream; search on that "
                  "stream");
  }
}
