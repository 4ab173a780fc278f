#include "nanoflann_pairs.hpp"

#include <nanoflann.hpp>

#include <cstdint>

namespace baseline
{
  namespace
  {
    template <class T>
    struct dataset
    {
      point_columns<T> const& points;

      // names required by nanoflann
      [[nodiscard]] std::size_t kdtree_get_point_count() const { return points.x.size(); }
      [[nodiscard]] T kdtree_get_pt(std::size_t i, std::size_t d) const
      {
        return d == 0 ? points.x[i] : d == 1 ? points.y[i] : points.z[i];
      }
      template <class Box>
      bool kdtree_get_bbox(Box&) const
      {
        return false;
      }
    };

    /// Appends the neighbours of one point directly to the columns; nanoflann's own result set would
    /// first store each with its distance.
    template <class T>
    struct half_row
    {
      pair_columns& pairs;
      T cutoff2;
      int i = 0;

      // nanoflann's interface of a result set; it adds points strictly nearer than the worst distance
      bool addPoint(T, std::uint32_t j)
      {
        if (int(j) > i)
        {
          pairs.i.push_back(i);
          pairs.j.push_back(int(j));
        }
        return true;
      }
      [[nodiscard]] T worstDist() const { return cutoff2; }
      [[nodiscard]] std::size_t size() const { return pairs.i.size(); }
      [[nodiscard]] bool full() const { return true; }
    };
  }

  template <class T>
  void find_nanoflann_pairs(point_columns<T> const& points, T cutoff, int leaf_size,
                            pair_columns& pairs)
  {
    pairs.i.clear();
    pairs.j.clear();
    using metric = nanoflann::L2_Simple_Adaptor<T, dataset<T>>;
    dataset<T> const all{points};
    nanoflann::KDTreeSingleIndexAdaptor<metric, dataset<T>, 3> const tree(
        3, all, nanoflann::KDTreeSingleIndexAdaptorParams(static_cast<std::size_t>(leaf_size)));
    // the distances of this metric are squared
    half_row<T> row{pairs, cutoff * cutoff};
    // queries in the order of the leaves find their data in cache
    for (std::uint32_t const i : tree.vAcc)
    {
      T const point[3] = {points.x[i], points.y[i], points.z[i]};
      row.i = static_cast<int>(i);
      tree.findNeighbors(row, point, nanoflann::SearchParams(32, 0, false));
    }
  }

  template void find_nanoflann_pairs<float>(point_columns<float> const&, float, int, pair_columns&);
  template void find_nanoflann_pairs<double>(point_columns<double> const&, double, int,
                                             pair_columns&);
}
