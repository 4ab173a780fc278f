#include "calls.hpp"

#include <span>
#include <utility>

using namespace nearfield;

nf_status nf_leaf_list_create(nf_place const* where, nf_leaf_list_options const* options,
                              nf_leaf_list** leaves)
{
  return c::create(
      leaves, "leaves",
      [&]
      {
        c::place const on(where);
        nf_leaf_list_options const of = c::options_of(&c::given(options, "options"), "options");
        std::size_t const n = c::count_of(of.n_leaves, "n_leaves");
        auto const targets = c::indices_of("offsets", of.offsets, n + 1);
        auto const rows = c::indices_of("neighbour_offsets", of.neighbour_offsets, n + 1);
        auto const neighbours = c::indices_of("neighbours", of.neighbours, rows[n]);
        std::vector<std::uint16_t> shift_of;
        if (of.shift_of != nullptr)
          for (std::size_t i = 0; i < neighbours.size(); ++i)
          {
            if (of.shift_of[i] < 0 || of.shift_of[i] > 65535)
              throw error("shift_of: number " + std::to_string(i) + " is " +
                          std::to_string(of.shift_of[i]) + "; give 0 to 65535");
            shift_of.push_back(static_cast<std::uint16_t>(of.shift_of[i]));
          }
        std::vector<std::array<double, 3>> shifts(c::count_of(of.n_shifts, "n_shifts"));
        if (!shifts.empty()) c::given(of.shifts, "shifts");
        for (std::size_t s = 0; s < shifts.size(); ++s)
          shifts[s] = {of.shifts[s][0], of.shifts[s][1], of.shifts[s][2]};
        leaf_list::neighbour_lists const met{rows, neighbours, shift_of, shifts};
        auto const made = [&](leaf_list&& all)
        {
          if (!on.is_gpu()) return new nf_leaf_list{std::move(all)};
          return new nf_leaf_list{
              cuda_list(on.gpu(), all.targets(), all.interactions(), all.n_sources())};
        };
        if (of.source_offsets == nullptr) return made(leaf_list({targets}, met));
        auto const sources = c::indices_of("source_offsets", of.source_offsets, n + 1);
        return made(leaf_list({targets}, {sources}, met));
      });
}

void nf_leaf_list_destroy(nf_leaf_list* leaves)
{
  delete leaves;
}

namespace nearfield::c
{
  namespace
  {
    template <class T, int Dim>
    nf_tree* tree_of(place const& where, nf_columns const& x, nf_columns const* y,
                     tree_options<Dim> const& options)
    {
      auto const targets = view_of<T const, Dim>("x", x);
      auto const make = [&](auto const& on)
      {
        if (y == nullptr) return new nf_tree{build_tree(on, targets, options)};
        return new nf_tree{build_tree(on, targets, view_of<T const, Dim>("y", *y), options)};
      };
      return where.is_gpu() ? make(where.gpu()) : make(where.cpu());
    }

    template <int Dim>
    void put_offsets(nf_tree_info& to, tree<Dim> const& of)
    {
      to.target_offsets = of.targets().offsets.data();
      to.source_offsets = of.sources().offsets.data();
    }
    template <int Dim>
    void put_offsets(nf_tree_info& to, cuda_tree<Dim> const& of)
    {
      to.target_offsets = of.target_offsets().data();
      to.source_offsets = of.source_offsets().data();
    }
  }
}

nf_status nf_tree_create(nf_place const* where, nf_columns x, nf_columns const* y,
                         nf_tree_options const* options, nf_tree** tree)
{
  return c::create(tree, "tree",
                   [&]
                   {
                     c::place const on(where);
                     nf_tree_options const of = c::options_of(options, "options");
                     return c::with_points(
                         x, [&]<class T, int Dim>()
                         { return c::tree_of<T, Dim>(on, x, y, c::tree_options_of<Dim>(of)); });
                   });
}

void nf_tree_destroy(nf_tree* tree)
{
  delete tree;
}

nf_status nf_tree_info_get(nf_tree const* tree, nf_tree_info* info)
{
  return c::guarded(
      [&]
      {
        nf_tree_info& to = c::filled(info, "info");
        std::visit(
            [&](auto const& of)
            {
              to.n_leaves = of.size();
              to.depth = of.depth();
              to.largest_leaf = of.largest_leaf();
              to.n_interactions = static_cast<std::int64_t>(of.interaction_count());
              c::put_offsets(to, of);
              to.target_order = of.target_order().data();
              to.source_order = of.source_order().data();
            },
            c::given(tree, "tree").of);
      });
}
