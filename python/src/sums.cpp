#include "sums.hpp"

#include "cells.hpp"
#include "threads.hpp"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace nearfield::python
{
  namespace
  {
    nf_interaction_info info_of(std::int32_t index)
    {
      nf_interaction_info info{};
      info.size = sizeof info;
      check(nf_interaction_info_get(index, &info));
      return info;
    }

    template <class Get>
    nb::list parameters_of(std::int32_t n, Get const& get)
    {
      static constexpr char const* ranges[] = {"any", "not negative", "positive"};
      nb::list found;
      for (std::int32_t p = 0; p < n; ++p)
      {
        nf_parameter_info of{};
        check(get(p, &of));
        found.append(nb::make_tuple(of.name, of.unit, of.by_default, ranges[of.range]));
      }
      return found;
    }

    nb::list interactions()
    {
      nb::list all;
      for (std::int32_t k = 0; k < nf_interaction_count(); ++k)
      {
        nf_interaction_info const of = info_of(k);
        nb::dict entry;
        entry["name"] = of.name;
        entry["group"] = of.group;
        entry["formula"] = of.formula;
        entry["source"] = of.source;
        entry["inputs"] = of.inputs;
        entry["outputs"] = of.outputs;
        entry["dim"] = of.dim;
        entry["n_in"] = of.n_in;
        entry["n_out"] = of.n_out;
        entry["flops"] = of.flops;
        entry["has_mutual"] = of.has_mutual != 0;
        entry["is_built"] = of.is_built != 0;
        entry["parameters"] =
            parameters_of(of.n_parameters, [k](std::int32_t p, nf_parameter_info* to)
                          { return nf_parameter_info_get(k, p, to); });
        entry["point_parameters"] =
            parameters_of(of.n_point_parameters, [k](std::int32_t p, nf_parameter_info* to)
                          { return nf_point_parameter_info_get(k, p, to); });
        all.append(entry);
      }
      return all;
    }

    /// Work that is not worth waking up threads for: so many pairs.
    constexpr double few_pairs = 1e5;

    void p2p(interaction const& k, nb::handle sources, nb::handle charges, nb::handle targets,
             nb::handle out, bool mutual, bool accumulate, int n_threads)
    {
      array const y("sources", sources), q("charges", charges), sums("out", out, true);
      std::optional<array> x;
      if (!targets.is_none()) x.emplace("targets", targets);
      double const n_pairs =
          static_cast<double>(y.size()) * static_cast<double>(x ? x->size() : y.size());
      nf_threads* const threads = threads_for(n_threads, n_pairs >= few_pairs);
      nf_place const where = place_on(threads);
      nf_columns const of_sources = y.columns(), of_targets = x ? x->columns() : of_sources;
      nf_status status;
      {
        nb::gil_scoped_release const free;
        if (!accumulate) sums.fill_with_zeros();
        status = x ? nf_p2p_outer(&where, k.k, of_targets, of_sources, q.columns(), sums.columns())
                 : mutual
                     ? nf_p2p_inner_mutual(&where, k.k, of_sources, q.columns(), sums.columns())
                     : nf_p2p_inner(&where, k.k, of_sources, q.columns(), sums.columns());
      }
      check(status);
    }

    /// A tree of points, on a CPU.
    class tree
    {
    public:
      tree(nb::handle points, nb::handle queries, int max_leaf_size, nb::handle level,
           nb::handle cell, nb::handle pbc, nb::handle origin, int n_threads)
          : has_two_sets_(!queries.is_none())
      {
        point_sets const given(points, queries, has_two_sets_);
        nf_tree_options options{};
        options.size = sizeof options;
        options.max_leaf_size = max_leaf_size;
        if (!level.is_none())
        {
          options.is_uniform = 1;
          if (!nb::try_cast(level, options.level))
            throw nb::type_error("level is no integer; give 0 or more");
        }
        options.box = box_of(given.dim(), cell, pbc, origin);
        threads_ = threads_for(n_threads, given.n_sources() >= few_points);
        nf_place const where = place_on(threads_);
        nf_status status;
        {
          nb::gil_scoped_release const free;
          status = nf_tree_create(&where, given.targets(), given.sources(), &options, &tree_);
        }
        check(status);
        info_.size = sizeof info_;
        check(nf_tree_info_get(tree_, &info_));
      }
      ~tree() { nf_tree_destroy(tree_); }
      tree(tree const&) = delete;

      [[nodiscard]] nf_tree_info const& info() const { return info_; }

      void near_field(nf_interaction const* k, nb::handle points, nb::handle queries,
                      nb::handle charges, nb::handle out, bool accumulate, int form) const
      {
        point_sets const given(points, queries, has_two_sets_);
        array const q("charges", charges), sums("out", out, true);
        nf_near_field_options const options = near_field_options(accumulate, form);
        nf_place const where = place_on(threads_);
        nf_status status;
        {
          nb::gil_scoped_release const free;
          status = nf_near_field_of_tree(&where, k, tree_, given.targets(), given.sources(),
                                         q.columns(), sums.columns(), &options);
        }
        check(status);
      }

    private:
      nf_tree* tree_ = nullptr;
      nf_threads* threads_ = nullptr;
      nf_tree_info info_{};
      bool has_two_sets_;
    };

    /// Numbers that belong to the tree, as an array that keeps it.
    nb::object numbers(nb::handle owner, std::uint32_t const* first, std::size_t n)
    {
      static constexpr std::uint32_t none = 0;
      return nb::cast(nb::ndarray<nb::numpy, std::uint32_t const, nb::ndim<1>>(
          first == nullptr ? &none : first, {n}, owner));
    }
  }

  interaction::interaction(char const* name, int dim, nb::dict const& parameters)
  {
    std::vector<std::string> names;
    std::vector<double> values;
    for (auto const [key, value] : parameters)
    {
      names.push_back(nb::cast<std::string>(key));
      if (!nb::try_cast(value, values.emplace_back(), true))
        throw nb::type_error(("parameter " + names.back() + " is no number").c_str());
    }
    std::vector<char const*> pointers;
    for (std::string const& each : names) pointers.push_back(each.c_str());
    check(nf_interaction_create(name, dim, static_cast<std::int32_t>(names.size()), pointers.data(),
                                values.data(), &k));
    for (std::int32_t index = 0; index < nf_interaction_count(); ++index)
      if (info = info_of(index); info.dim == dim && std::strcmp(info.name, name) == 0) break;
  }

  void bind_sums(nb::module_& m)
  {
    using namespace nb::literals;
    nb::class_<interaction>(m, "Interaction")
        .def(nb::init<char const*, int, nb::dict const&>(), "name"_a, "dim"_a, "parameters"_a)
        .def_prop_ro("dim", [](interaction const& of) { return of.info.dim; })
        .def_prop_ro("n_in", [](interaction const& of) { return of.info.n_in; })
        .def_prop_ro("n_out", [](interaction const& of) { return of.info.n_out; })
        .def_prop_ro("n_point_parameters",
                     [](interaction const& of) { return of.info.n_point_parameters; })
        .def_prop_ro("has_mutual", [](interaction const& of) { return of.info.has_mutual != 0; })
        .def_prop_ro("cutoff",
                     [](interaction const& of)
                     {
                       double cutoff = 0;
                       check(nf_interaction_cutoff(of.k, &cutoff));
                       return cutoff;
                     });
    m.def("interactions", &interactions);
    m.def("p2p", &p2p, "k"_a, "sources"_a.none(), "charges"_a.none(), "targets"_a.none(),
          "out"_a.none(), "mutual"_a, "accumulate"_a, "n_threads"_a);
    nb::class_<tree>(m, "Tree")
        .def(nb::init<nb::handle, nb::handle, int, nb::handle, nb::handle, nb::handle, nb::handle,
                      int>(),
             "positions"_a.none(), "queries"_a.none(), "max_leaf_size"_a, "level"_a.none(),
             "cell"_a.none(), "pbc"_a.none(), "origin"_a.none(), "n_threads"_a)
        .def_prop_ro("n_leaves", [](tree const& of) { return of.info().n_leaves; })
        .def_prop_ro("depth", [](tree const& of) { return of.info().depth; })
        .def_prop_ro("largest_leaf", [](tree const& of) { return of.info().largest_leaf; })
        .def_prop_ro("n_interactions", [](tree const& of) { return of.info().n_interactions; })
        .def_prop_ro("offsets",
                     [](nb::handle self)
                     {
                       auto const& info = nb::cast<tree const&>(self).info();
                       return numbers(self, info.source_offsets,
                                      static_cast<std::size_t>(info.n_leaves) + 1);
                     })
        .def_prop_ro("order",
                     [](nb::handle self)
                     {
                       auto const& info = nb::cast<tree const&>(self).info();
                       return numbers(self, info.source_order,
                                      info.n_leaves == 0 ? 0 : info.source_offsets[info.n_leaves]);
                     })
        .def(
            "near_field",
            [](tree const& of, interaction const& k, nb::handle positions, nb::handle queries,
               nb::handle charges, nb::handle out, bool accumulate, int form)
            { of.near_field(k.k, positions, queries, charges, out, accumulate, form); },
            "k"_a, "positions"_a.none(), "queries"_a.none(), "charges"_a.none(), "out"_a.none(),
            "accumulate"_a, "form"_a);
  }
}
