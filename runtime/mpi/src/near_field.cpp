#include <nearfield/starpu_mpi/near_field.hpp>

#include "carry.hpp"
#include "mpi_messages.hpp"
#include "rank_plan.hpp"
#include "ranks.hpp"

#include "core/src/cuda/on_device.hpp"
#include "runtime/src/division.hpp"
#include "runtime/src/gpu_memory.hpp"
#include "runtime/src/step.hpp"
#include "tree/src/part_lists.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/check.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nearfield::starpu_mpi::detail
{
  using namespace starpu::detail;

  /// What is known of a tree without asking its GPU.
  struct tree_access
  {
    template <class T, int Dim>
    static auto const& way(distributed_tree<T, Dim> const& tree, bool of_sources)
    {
      return (of_sources ? tree.sources() : tree.targets()).way;
    }
    template <class T, int Dim>
    static index_type const* caller_rows(distributed_tree<T, Dim> const& tree)
    {
      return tree.caller_rows();
    }
    template <class T, int Dim>
    static std::optional<gpu_lists> lists_on_gpu(distributed_tree<T, Dim> const& tree,
                                                 pair_form form)
    {
      auto const made = tree.lists_on_gpu(form);
      if (!made) return {};
      nearfield::detail::on_device const here(*tree.gpu());
      cuda_backend const where{made->inner.leaves.stream};
      gpu_lists lists{made, cuda_list(where, made->inner, form), cuda_list(where, made->border),
                      made->inner.pairs, made->border.pairs};
      synchronize(where.stream); // tasks are in other streams
      return lists;
    }
  };

  namespace
  {
    template <class T, int Dim>
    rank_leaves leaves_of(distributed_tree<T, Dim> const& tree)
    {
      return {tree.known_leaves(),
              tree.known_sources(),
              tree.first_leaf(),
              tree.first_leaf() + tree.size(),
              {},
              tree.layers(),
              tree.has_one_set()};
    }

    /// Whether the columns of this rank's caller go to the GPU whole, in pieces: most of its points are own ones, and there
    /// is memory for values of so many bytes a point.
    template <class T, int Dim>
    bool takes_pieces(distributed_tree<T, Dim> const& tree, std::size_t bytes)
    {
      auto const& way = tree_access::way(tree, false);
      auto const me = static_cast<std::size_t>(ranks(tree.communicator()).rank());
      // all points of the caller cross, even those of other ranks; and a task has all pieces
      std::size_t const n_own = way.sent_offsets[me + 1] - way.sent_offsets[me],
                        n_points = way.sent.size();
      return tree.has_one_set() && n_own > 0 && 2 * n_own >= n_points &&
             fits(2. * double(bytes + 8) * double(n_points), smallest_gpu_memory());
    }

    /// Throws what plan_rank() and choose_form() throw.
    template <class T, int Dim>
    division divide(starpu::runtime const& starpu, distributed_tree<T, Dim> const& tree,
                    kernel<T> const& k, step_columns<T> const& columns, step_options const& options,
                    backend wanted)
    {
      rank_leaves leaves = leaves_of(tree);
      auto const& offsets = leaves.targets.offsets;
      division made{choose_backend(starpu, *k.type, wanted)};
      if (made.where == backend::automatic) made.where = backend::simd;
      auto of = form_case_of(*k.type, leaves.has_one_set, columns.n_rhs);
      of.points = offsets[leaves.last] - offsets[leaves.first];
      of.leaves = leaves.last - leaves.first;
      of.real_bytes = sizeof(T);
      made.form = nearfield::detail::choose_form("near_field", options.form, made.where, of);
      check_cuda_backend(*k.type, made.where);
      group_options groups = options.groups;
      rank_gpus gpus{};
      if (made.where == backend::cuda)
      {
        std::size_t const n_q = columns.q.columns.size(), n_out = columns.out.columns.size();
        gpus = {bytes_of(*k.type, columns, leaves.has_one_set), smallest_gpu_memory(),
                std::max({static_cast<std::size_t>(k.type->n_x), n_q, n_out})};
        groups.gpus = starpu.n_gpus();
        made.has_positions_on_gpu =
            starpu.n_gpus() == 1 && tree.gpu() && starpu.first_gpu() == tree.gpu();
        if (made.has_positions_on_gpu && takes_pieces(tree, sizeof(T) * std::max(n_q, n_out)))
          made.gpu = tree.gpu();
      }
      bool const is_one_group = groups.leaves_per_group == automatic &&
                                (groups.groups_per_gpu == 0 || groups.groups_per_gpu == 1);
      try
      {
        if (made.has_positions_on_gpu && is_one_group && fits_one_group(leaves, gpus))
          made.lists_on_gpu = tree_access::lists_on_gpu(tree, made.form);
      }
      catch (error const& e)
      {
        if (e.kind() != error_kind::out_of_memory) throw;
      }
      if (made.lists_on_gpu)
      {
        made.plan = plan_one_group(leaves, made.form, made.lists_on_gpu->inner_pairs,
                                   made.lists_on_gpu->border_pairs);
        return made;
      }
      leaves.lists = tree.interactions();
      made.plan = plan_rank(leaves, made.form, groups,
                            made.where == backend::cuda ? &gpus : nullptr, tree.threads());
      return made;
    }

    /// Throws nearfield::error for columns that fit neither the tree nor K.
    template <class T, int Dim>
    void check_columns(distributed_tree<T, Dim> const& tree, kernel<T> const& k,
                       step_columns<T> const& columns)
    {
      char const* const name = "near_field";
      std::size_t const n_sources = tree_access::way(tree, true).sent.size(),
                        n_targets = tree_access::way(tree, false).sent.size(),
                        n_parameters = static_cast<std::size_t>(k.type->n_x - Dim);
      nearfield::detail::check_view(name, "q", columns.q.view(), n_sources);
      nearfield::detail::check_view(name, "out", columns.out.view(), n_targets);
      auto const check = [&](char const* what, column_list<T const> const& given, std::size_t n)
      {
        if (given.columns.size() != n_parameters)
          throw error(std::string(name) + ": " + what + " have " +
                      std::to_string(given.columns.size()) +
                      " columns, and the interaction reads " + std::to_string(n_parameters) +
                      " parameters of a point; give a column for each");
        nearfield::detail::check_view(name, what, given.view(), n);
      };
      bool const has_some = !columns.x.columns.empty() || !columns.y.columns.empty();
      if (n_parameters == 0 && !has_some) return;
      if (has_some) nearfield::detail::check_sets(name, tree.has_one_set(), columns.has_one_set);
      check(columns.has_one_set ? "parameters" : "target_parameters", columns.x, n_targets);
      if (!columns.has_one_set) check("source_parameters", columns.y, n_sources);
    }

    /// By target and source, the columns of own points; of one set the first only.
    template <class T>
    using parameters = std::array<std::vector<nearfield::detail::page_vector<T>>, 2>;

    /// Collective.
    template <class T, int Dim>
    std::shared_ptr<parameters<T> const> own_parameters(distributed_tree<T, Dim> const& tree,
                                                        step_columns<T> const& columns)
    {
      ranks const all(tree.communicator());
      auto own = std::make_shared<parameters<T>>();
      for (std::size_t s = 0; s < (columns.has_one_set ? 1 : 2); ++s)
      {
        auto const& given = s == 0 ? columns.x : columns.y;
        journey const* way = nullptr;
        all.attempt(
            [&]
            {
              way = s == 0 ? &tree.way() : &tree.source_way();
              (*own)[s].resize(given.columns.size());
              for (auto& column : (*own)[s]) column.resize(way->received.size());
            });
        for (std::size_t c = 0; c < given.columns.size(); ++c)
          carry_to_own(all, *way, given.columns[c], given.stride * std::ptrdiff_t(sizeof(T)),
                       sizeof(T), (*own)[s][c].data());
      }
      return own;
    }

    /// The tree of a rank as it is now. Collective for an interaction with parameters of points.
    template <class T, int Dim>
    step_tree<T> tree_of(starpu::runtime const& starpu, distributed_tree<T, Dim> const& tree,
                         kernel<T> const& k, step_columns<T> const& columns,
                         step_options const& options)
    {
      auto const points = [&](bool of_sources)
      {
        auto const& way = tree_access::way(tree, of_sources);
        return points_view<T>{{},
                              way.sent_offsets,
                              way.received_offsets,
                              way.sent,
                              way.received,
                              [&tree, of_sources]
                              {
                                static_cast<void>(of_sources ? tree.source_way() : tree.way());
                              }};
      };
      step_tree<T> made;
      made.has_one_set = tree.has_one_set();
      made.rank = ranks(tree.communicator()).rank();
      made.sources = tree.known_sources();
      made.first_leaf = tree.first_leaf();
      made.caller_rows = tree_access::caller_rows(tree);
      made.targets = points(false);
      made.source_points = points(true);
      for (rank_layer const& layer : tree.layers())
        made.layers.push_back({layer.rank, layer.first_leaf, layer.last_leaf, layer.sent});
      std::shared_ptr<parameters<T> const> own;
      if (k.type->n_x == Dim)
        check_columns(tree, k, columns);
      else
      {
        ranks(tree.communicator()).attempt([&] { check_columns(tree, k, columns); });
        own = own_parameters(tree, columns);
      }
      made.memory = own;
      made.positions = [&tree, own](bool of_targets, bool on_gpu)
      {
        using list = column_list<T const>;
        list x(on_gpu       ? of_targets ? tree.positions_on_gpu() : tree.source_positions_on_gpu()
                     : of_targets ? tree.positions()
                            : tree.source_positions());
        if (own)
          for (auto const& column : (*own)[of_targets || tree.has_one_set() ? 0 : 1])
            x.columns.push_back(column.data()); // on the host, from where a GPU copies them
        return x;
      };
      made.divide = [&](backend wanted)
      {
        return divide(starpu, tree, k, columns, options, wanted);
      };
      return made;
    }
  }
}

namespace nearfield::starpu_mpi
{
  template <nearfield::detail::kernel_real T>
  template <int Dim>
  near_field<T>::near_field(starpu::runtime const& starpu, distributed_tree<T, Dim> const& tree,
                            starpu::detail::kernel<T> const& k,
                            starpu::detail::step_columns<T> const& columns,
                            step_options const& options)
      : starpu::near_field<T>(std::make_unique<starpu::detail::step<T>>(
            starpu, [=, &tree] { return detail::tree_of(starpu, tree, k, columns, options); }, k,
            columns,
            starpu::step_options{options.accumulate, options.form, options.backend,
                                 options.delivery},
            std::make_unique<detail::mpi_messages>(tree.communicator(), options.first_tag)))
  {}

  template <nearfield::detail::kernel_real T>
  double near_field<T>::seconds() const
  {
    return static_cast<starpu::detail::step<T>&>(*this->step_).seconds();
  }

#define NEARFIELD_INSTANTIATE(T)                                                                   \
  template class near_field<T>;                                                                    \
  template near_field<T>::near_field(starpu::runtime const&, distributed_tree<T, 2> const&,        \
                                     starpu::detail::kernel<T> const&,                             \
                                     starpu::detail::step_columns<T> const&, step_options const&); \
  template near_field<T>::near_field(starpu::runtime const&, distributed_tree<T, 3> const&,        \
                                     starpu::detail::kernel<T> const&,                             \
                                     starpu::detail::step_columns<T> const&, step_options const&);
  NEARFIELD_INSTANTIATE(float)
  NEARFIELD_INSTANTIATE(double)
#undef NEARFIELD_INSTANTIATE
}
