#include <nearfield/tree/cuda_tree.hpp>

#include "../images.hpp"
#include "device_tree.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/tree/leaf_size.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace nearfield
{
  template <int Dim>
  cuda_tree<Dim>::cuda_tree(cuda_tree&&) noexcept = default;
  template <int Dim>
  cuda_tree<Dim>& cuda_tree<Dim>::operator=(cuda_tree&&) noexcept = default;
  template <int Dim>
  cuda_tree<Dim>::~cuda_tree() = default;

  template <int Dim>
  void cuda_tree<Dim>::reserve(double factor)
  {
    if (!(factor >= 1 && factor <= 1000))
      throw error("cuda_tree::reserve: the factor is " + detail::number_text(factor) +
                  "; give 1 to 1000");
    tree_->reserve(factor);
  }
  template <int Dim>
  void cuda_tree<Dim>::finish()
  {
    tree_->finish();
  }

  template <int Dim>
  index_type cuda_tree<Dim>::size() const
  {
    return tree_->found().lists.leaves;
  }
  template <int Dim>
  int cuda_tree<Dim>::depth() const
  {
    return static_cast<int>(tree_->found().lists.depth);
  }
  template <int Dim>
  cube<Dim> const& cuda_tree<Dim>::root() const
  {
    return tree_->root();
  }
  template <int Dim>
  std::span<detail::axis_piece const> cuda_tree<Dim>::pieces(int axis) const&
  {
    return tree_->pieces()[axis];
  }
  template <int Dim>
  leaf_order cuda_tree<Dim>::order() const
  {
    auto const& options = tree_->options();
    return options.order.value_or(options.level ? leaf_order::row_major : leaf_order::morton);
  }
  template <int Dim>
  bool cuda_tree<Dim>::has_one_set() const
  {
    return tree_->one_set();
  }
  template <int Dim>
  std::uint64_t cuda_tree<Dim>::interaction_count() const
  {
    return tree_->found().lists.pairs - (has_one_set() ? target_order().size() : 0);
  }
  template <int Dim>
  index_type cuda_tree<Dim>::largest_leaf() const
  {
    return tree_->found().lists.largest;
  }
  template <int Dim>
  cuda_stream cuda_tree<Dim>::stream() const
  {
    return tree_->stream();
  }

  template <int Dim>
  std::span<index_type const> cuda_tree<Dim>::target_offsets() const&
  {
    return {tree_->tables().target_offsets.data(), size() + std::size_t(1)};
  }
  template <int Dim>
  std::span<index_type const> cuda_tree<Dim>::source_offsets() const&
  {
    if (has_one_set()) return target_offsets();
    return {tree_->tables().source_offsets.data(), size() + std::size_t(1)};
  }
  template <int Dim>
  std::span<index_type const> cuda_tree<Dim>::target_order() const&
  {
    return {tree_->tables().target_order.data(), tree_->tables().n_targets};
  }
  template <int Dim>
  std::span<index_type const> cuda_tree<Dim>::source_order() const&
  {
    if (has_one_set()) return target_order();
    return {tree_->tables().source_order.data(), tree_->tables().n_sources};
  }
  template <int Dim>
  std::span<leaf_cell<Dim> const> cuda_tree<Dim>::cells() const&
  {
    return {tree_->tables().cells.data(), size()};
  }

  template <int Dim>
  interaction_list cuda_tree<Dim>::interactions() const&
  {
    auto const& tables = tree_->tables();
    return {{tables.own.data(), size()},
            {tables.range_offsets.data(), size() + std::size_t(1)},
            {tables.ranges.data(), tree_->found().lists.ranges},
            tree_->shifts()};
  }
  template <int Dim>
  interaction_list cuda_tree<Dim>::half_interactions() const&
  {
    if (!has_one_set())
      throw error("half_interactions: the tree has two sets of points; a half list needs one: "
                  "use interactions()");
    auto const& tables = tree_->tables();
    return {{tables.own.data(), size()},
            {tables.half_offsets.data(), size() + std::size_t(1)},
            {tables.half_ranges.data(), tree_->found().lists.half_ranges},
            tree_->shifts()};
  }

  template <int Dim>
  detail::device_leaves cuda_tree<Dim>::on_device() const&
  {
    auto const& tables = tree_->tables();
    detail::device_leaves result;
    index_type const* const boxes = tables.target_offsets.data();
    result.full = {boxes, tables.own.data(), tables.range_offsets.data(), tables.ranges.data(),
                   tree_->shifts().data()};
    if (has_one_set())
      result.half = {boxes, tables.own.data(), tables.half_offsets.data(),
                     tables.half_ranges.data(), tree_->shifts().data()};
    result.n_leaves = &tables.report.data()->lists.usable;
    result.target_order = target_order();
    result.source_order = source_order();
    result.target_moves = tree_->moves()[0];
    result.source_moves = tree_->moves()[1];
    result.one_set = has_one_set();
    result.stream = stream();
    tree_->limit(result);
    return result;
  }

  template <int Dim>
  tree<Dim> cuda_tree<Dim>::on_host() const
  {
    if (!tree_->is_known())
      throw error("cuda_tree::on_host: the tree of enqueue() is not finished; call finish()");
    auto const copy = [&]<class T>(std::span<T const> from)
    {
      detail::page_vector<T> to(from.size());
      detail::device_copy(to.data(), from.data(), from.size_bytes(), stream());
      return to;
    };
    auto const copy_list = [&](interaction_list const& from)
    {
      return detail::interaction_table{copy(from.own), copy(from.offsets), copy(from.ranges), {}};
    };
    typename tree<Dim>::parts parts;
    parts.root = root();
    parts.period = tree_->options().period;
    parts.pieces = tree_->pieces();
    parts.shifts.resize(tree_->shifts().size());
    detail::device_copy(parts.shifts.data(), tree_->shifts().data(), tree_->shifts().size_bytes(),
                        stream());
    parts.order = order();
    parts.depth = depth();
    parts.one_set = has_one_set();
    parts.cells = copy(cells());
    parts.target_offsets = copy(target_offsets());
    parts.target_order = copy(target_order());
    parts.full = copy_list(interactions());
    parts.interaction_count = interaction_count();
    if (has_one_set())
      parts.half = copy_list(half_interactions());
    else
    {
      parts.source_offsets = copy(source_offsets());
      parts.source_order = copy(source_order());
    }
    auto const moves_of =
        [&](std::array<double, 3> const* moves, detail::page_vector<index_type> const& order)
    {
      std::vector<std::array<double, 3>> of_index(moves ? order.size() : 0), sorted;
      detail::device_copy(of_index.data(), moves, of_index.size() * sizeof(*moves), stream());
      if (std::ranges::all_of(of_index, [](std::array<double, 3> const& move)
                              { return move == std::array<double, 3>(); }))
        return sorted;
      for (std::size_t p = 0; p < of_index.size(); ++p) sorted.push_back(of_index[order[p]]);
      return sorted;
    };
    parts.target_moves = moves_of(tree_->moves()[0], parts.target_order);
    parts.source_moves = moves_of(tree_->moves()[1], parts.source_order);
    return tree<Dim>(std::move(parts));
  }

  template <int Dim>
  template <class T>
  cuda_tree<Dim>::cuda_tree(cuda_backend where, detail::device_positions<T, Dim> const& points,
                            tree_options<Dim> const& given)
  {
    tree_options<Dim> options = given;
    if (!options.level && options.max_leaf_size == automatic)
      options.max_leaf_size = detail::choose_leaf_size(where, points, options).max_leaf_size;
    options.costs = nullptr; // they need not live as long
    tree_ = detail::device_tree<Dim>::make(where.stream, options);
    tree_->build(points);
  }
  template <int Dim>
  template <class T>
  void cuda_tree<Dim>::build(detail::device_positions<T, Dim> const& points)
  {
    tree_->build(points);
  }
  template <int Dim>
  template <class T>
  void cuda_tree<Dim>::enqueue(detail::device_positions<T, Dim> const& points)
  {
    tree_->enqueue(points);
  }

  template class cuda_tree<2>;
  template class cuda_tree<3>;

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template cuda_tree<Dim>::cuda_tree(cuda_backend, detail::device_positions<T, Dim> const&,        \
                                     tree_options<Dim> const&);                                    \
  template void cuda_tree<Dim>::build(detail::device_positions<T, Dim> const&);                    \
  template void cuda_tree<Dim>::enqueue(detail::device_positions<T, Dim> const&);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
#undef NEARFIELD_INSTANTIATE
}
