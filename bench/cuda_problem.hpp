#pragma once

#include "problem.hpp"

#include <nearfield/p2p/cuda.hpp>

#include <any>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench
{
  /// The expected number of pairs of a problem, to choose the number of iterations before it is made.
  template <int Dim>
  double expected_pairs(description const& d)
  {
    auto const size = static_cast<double>(d.size);
    if (d.shape == shape::box) return size * size;
    double const n = d.shape == shape::leaves ? size * std::exp2(Dim * leaves_level<Dim>) : 1e6;
    return n * size * std::pow(3, Dim);
  }

  /// Inputs of an interaction, all equal to the charges.
  template <int NIn, class T>
  nearfield::soa<T const, NIn> inputs(std::vector<T> const& q)
  {
    std::array<T const*, NIn> columns;
    columns.fill(q.data());
    return {columns, q.size()};
  }

  /// A problem and, on the GPU, its positions and interaction lists.
  template <class T, int Dim>
  class gpu_problem : public problem<T, Dim>
  {
  public:
    explicit gpu_problem(description const& d) : problem<T, Dim>(d), x_(this->positions())
    {
      if (this->is_box()) return;
      auto const& tree = this->tree();
      one_sided_.emplace(nearfield::cuda, tree.targets(), tree.interactions(), this->size());
      mutual_.emplace(nearfield::cuda, tree.targets(), tree.half_interactions(), this->size(),
                      nearfield::pair_form::mutual);
    }

    [[nodiscard]] nearfield::index_type n_leaves() const { return this->tree().size(); }
    [[nodiscard]] nearfield::cuda_list const& list(bool mutual) const
    {
      return mutual ? *mutual_ : *one_sided_;
    }
    /// on the GPU
    [[nodiscard]] nearfield::soa<T const, Dim> x() const { return x_.view(); }

    /// The reference sums of the sampled targets, computed once per interaction.
    template <class K>
    std::vector<plain_sum<K>> const& sums_of(K const& k)
    {
      std::any& kept = sums_[K::name];
      if (!kept.has_value())
      {
        auto const q = inputs<K::n_in>(this->q());
        std::vector<plain_sum<K>> sums;
        for (std::size_t s = 0; s < n_samples; ++s)
        {
          std::size_t const i = sample(s, this->size());
          sums.push_back(this->is_box() ? sum_of_box(k, i, this->positions(), q)
                                        : sum_of_tree(k, i, this->tree(), this->positions(), q));
        }
        kept = std::move(sums);
      }
      return std::any_cast<std::vector<plain_sum<K>> const&>(kept);
    }

  private:
    nearfield::device_columns<T, Dim> x_;
    std::optional<nearfield::cuda_list> one_sided_, mutual_;
    std::map<std::string_view, std::any> sums_;
  };
}
