#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/// \file
/// A minimal stand-in for ScalFMM 3: points, a group whose leaves are slices of columns, the tags, and a pass
/// that calls the operators unqualified. Names and signatures are ScalFMM's; its own operators exist only so
/// that overload resolution must reject them.

namespace scalfmm
{
  namespace matrix_kernels
  {
    enum struct homogeneity
    {
      homogenous,
      non_homogenous
    };
    enum struct symmetry
    {
      symmetric,
      non_symmetric
    };
  }

  namespace container
  {
    template <class V, std::size_t Dim = 3>
    struct point : std::array<V, Dim>
    {
      using value_type = V;
      static constexpr std::size_t dimension = Dim;
    };

    /// The columns of a particle.
    template <class T, std::size_t Dim, class TIn, std::size_t NIn, class TOut, std::size_t NOut,
              class... Variables>
    struct particle
    {
      using position_value_type = T;
      using inputs_value_type = TIn;
      using outputs_value_type = TOut;
      static constexpr std::size_t dimension = Dim, inputs_size = NIn, outputs_size = NOut;
    };

    template <class T, class Sequence>
    struct pointers;
    template <class T, std::size_t... C>
    struct pointers<T, std::index_sequence<C...>>
    {
      template <std::size_t>
      using pointer = T*;
      using type = std::tuple<pointer<C>...>;
    };
    template <class T, std::size_t N>
    using tuple_of = typename pointers<T, std::make_index_sequence<N>>::type;

    /// Some of the columns: a tuple of pointers to their begin in the group, and an index.
    template <class Pointers>
    class light_tuple_iterator
    {
    public:
      light_tuple_iterator(Pointers const& columns, int index) : columns_(columns), index_(index) {}
      [[nodiscard]] Pointers data() const { return columns_; }
      [[nodiscard]] int index() const { return index_; }
      [[nodiscard]] auto operator*() const
      {
        return std::apply([&](auto*... c) { return std::forward_as_tuple(c[index_]...); },
                          columns_);
      }

    private:
      Pointers columns_;
      int index_;
    };

    template <class Particle>
    struct particle_iterator
    {
      tuple_of<typename Particle::position_value_type, Particle::dimension> positions{};
      tuple_of<typename Particle::inputs_value_type, Particle::inputs_size> inputs{};
      tuple_of<typename Particle::outputs_value_type, Particle::outputs_size> outputs{};
      int index = 0;
    };

    template <class Particle>
    using particle_range = std::pair<particle_iterator<Particle>, particle_iterator<Particle>>;

    template <class Particle>
    auto position_begin(particle_range<Particle> const& range)
    {
      return light_tuple_iterator(range.first.positions, range.first.index);
    }
    template <class Particle>
    auto inputs_begin(particle_range<Particle> const& range)
    {
      return light_tuple_iterator(range.first.inputs, range.first.index);
    }
    template <class Particle>
    auto outputs_begin(particle_range<Particle> const& range)
    {
      return light_tuple_iterator(range.first.outputs, range.first.index);
    }
  }

  namespace component
  {
    template <class Particle>
    class leaf_view
    {
    public:
      using particle_type = Particle;
      using value_type = typename Particle::position_value_type;
      using position_type = container::point<value_type, Particle::dimension>;
      using range = container::particle_range<Particle>;

      struct symbolics
      {
        std::array<leaf_view*, 27> interaction_iterators{};
        std::size_t number_of_neighbors = 0;
        std::size_t existing_neighbors_in_group = 0;
      };

      leaf_view() = default;
      leaf_view(range particles, position_type const& center)
          : particles_(particles), center_(center)
      {}

      [[nodiscard]] std::size_t size() const
      {
        return static_cast<std::size_t>(particles_.second.index - particles_.first.index);
      }
      [[nodiscard]] position_type const& center() const { return center_; }
      [[nodiscard]] range const& particles() { return particles_; }
      [[nodiscard]] range const& cparticles() const { return particles_; }
      [[nodiscard]] symbolics const& csymbolics() const { return symbolics_; }
      [[nodiscard]] symbolics& symbolic_data() { return symbolics_; }

    private:
      range particles_{};
      position_type center_{};
      symbolics symbolics_;
    };
  }

  namespace operators
  {
    [[noreturn]] inline void lost(char const* name)
    {
      throw std::logic_error(std::string("ScalFMM's own ") + name + " was called");
    }

    template <class MatrixKernel, class Leaf, class Neighbours, class Array, class Value>
    void p2p_full_mutual(MatrixKernel const&, Leaf&, Neighbours const&, int const&, Array const&,
                         Value const&)
    {
      lost("p2p_full_mutual");
    }
    template <class MatrixKernel, class Leaf>
    void p2p_inner(MatrixKernel const&, Leaf&, bool = true)
    {
      lost("p2p_inner");
    }
    template <class MatrixKernel, class Target, class Source, class Array>
    void p2p_outer(MatrixKernel const&, Target&, Source const&, Array const&)
    {
      lost("p2p_outer");
    }
    template <class MatrixKernel, class Leaf, class Neighbours, class Array, class Value>
    void p2p_outer(MatrixKernel const&, Leaf&, Neighbours const&, int const, Array const&,
                   Value const&)
    {
      lost("p2p_outer");
    }
    template <class MatrixKernel, class Leaf, class Neighbours, class Array, class Value>
    void p2p_outer(MatrixKernel const&, Leaf&, Neighbours const&, Array const&, Value const&)
    {
      lost("p2p_outer");
    }

    template <class MatrixKernel>
    class near_field_operator
    {
    public:
      using matrix_kernel_type = MatrixKernel;
      explicit near_field_operator(bool mutual) : mutual_(mutual) {}
      near_field_operator(MatrixKernel const& kernel, bool mutual)
          : kernel_(kernel), mutual_(mutual)
      {}
      near_field_operator(near_field_operator const&) = delete;
      [[nodiscard]] MatrixKernel const& matrix_kernel() const { return kernel_; }
      [[nodiscard]] bool mutual() const { return mutual_; }

    private:
      MatrixKernel kernel_{};
      bool mutual_;
    };
  }

  namespace algorithms
  {
    /// Stands for a local of a pass that has returned, to which the tasks of ScalFMM's OpenMP passes keep
    /// references for the periods and the box width. Reading it is detected.
    struct gone
    {
      template <class T>
      operator T() const // NOLINT(google-explicit-constructor)
      {
        throw std::logic_error("a local of a pass that has returned was read");
      }
      bool operator[](std::size_t) const { return *this; }
    };

    /// The near field of one set of leaves, as ScalFMM's passes compute it. They pass valid periods and a valid
    /// width only if scalfmm_BUILD_PBC is defined.
    template <class Leaves, class NearField, class Array, class Value>
    void direct(Leaves& leaves, NearField const& near_field, [[maybe_unused]] Array const& periods,
                [[maybe_unused]] Value width)
    {
      using operators::p2p_full_mutual;
      using operators::p2p_inner;
      using operators::p2p_outer;
#ifdef scalfmm_BUILD_PBC
      Array const& period = periods;
      Value const& box_width = width;
#else
      gone const period, box_width;
#endif
      auto const& matrix_kernel = near_field.matrix_kernel();
      for (auto& leaf : leaves)
      {
        auto const& symbolics = leaf.csymbolics();
        if (symbolics.number_of_neighbors > 0)
        {
          if (near_field.mutual())
            p2p_full_mutual(matrix_kernel, leaf, symbolics.interaction_iterators,
                            symbolics.existing_neighbors_in_group, period, box_width);
          else
            p2p_outer(matrix_kernel, leaf, symbolics.interaction_iterators, period, box_width);
        }
        p2p_inner(matrix_kernel, leaf, near_field.mutual());
      }
    }
  }
}
