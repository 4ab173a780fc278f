#include <nearfield/core/cell.hpp>

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace nearfield::detail
{
  namespace
  {
    template <std::size_t Dim>
    double dot(std::array<double, Dim> const& a, std::array<double, Dim> const& b)
    {
      double sum = 0;
      for (std::size_t c = 0; c < Dim; ++c) sum += a[c] * b[c];
      return sum;
    }

    /// The unit vector along v; exact if only one component is not 0, since the root of a rounded square is.
    template <std::size_t Dim>
    std::array<double, Dim> unit(std::array<double, Dim> v)
    {
      double const length = std::sqrt(dot(v, v));
      for (double& x : v) x /= length;
      return v;
    }

    /// A unit vector orthogonal to all rows but one.
    std::array<double, 2> normal_of(std::array<std::array<double, 2>, 2> const& rows, int axis)
    {
      auto const other = unit(rows[1 - axis]);
      return axis == 0 ? std::array{other[1], 0 - other[0]} : std::array{0 - other[1], other[0]};
    }
    std::array<double, 3> normal_of(std::array<std::array<double, 3>, 3> const& rows, int axis)
    {
      auto const a = unit(rows[(axis + 1) % 3]), b = unit(rows[(axis + 2) % 3]);
      return unit(std::array{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                             a[0] * b[1] - a[1] * b[0]});
    }

    template <int Dim>
    [[noreturn]] void refuse(cell<Dim> const& given, int axis, char const* why)
    {
      std::string text = "cell: vector " + std::to_string(axis) + ", (";
      for (int b = 0; b < Dim; ++b)
        text += (b > 0 ? ", " : "") + number_text(given.vectors[axis][b]);
      throw error(text + "), " + why);
    }

    /// Makes the basis of the periodic vectors a reduced one: none becomes shorter by adding others to it.
    template <int Dim>
    class basis_reduction
    {
    public:
      basis_reduction(cell_frame<Dim>& frame, cell<Dim> const& given) : frame_(frame), given_(given)
      {}

      void run()
      {
        for (int left = 1000; shorten_pairs() || shorten_by_all();)
          if (--left == 0)
            refuse_dependent(static_cast<int>(std::ranges::find(frame_.periodic, true) -
                                              frame_.periodic.begin()));
      }

    private:
      using row = std::array<double, Dim>;

      // a vector that is as long on both sides of another one would be moved to and fro
      static constexpr double tie = 0x1p-20;

      bool shorten_pairs()
      {
        bool any = false;
        for (int a = 0; a < Dim; ++a)
          for (int b = 0; b < Dim; ++b)
          {
            if (a == b || !frame_.periodic[a] || !frame_.periodic[b]) continue;
            double const along = dot(frame_.reduced[a], frame_.reduced[b]);
            double const square = dot(frame_.reduced[b], frame_.reduced[b]);
            if (2 * std::abs(along) <= (1 + tie) * square) continue;
            row coefficients = frame_.basis[a];
            double const n = std::round(along / square);
            for (int c = 0; c < Dim; ++c) coefficients[c] -= n * frame_.basis[b][c];
            replace(a, coefficients);
            any = true;
          }
        return any;
      }

      /// The longest vector plus or minus both others.
      bool shorten_by_all()
      {
        if (std::ranges::count(frame_.periodic, true) < 3) return false;
        auto const square = [](row const& v)
        {
          return dot(v, v);
        };
        int const a = static_cast<int>(std::ranges::max_element(frame_.reduced, {}, square) -
                                       frame_.reduced.begin());
        for (int const s : {1, -1})
          for (int const t : {1, -1})
          {
            row coefficients = frame_.basis[a];
            for (int c = 0; c < Dim; ++c)
              coefficients[c] +=
                  s * frame_.basis[(a + 1) % Dim][c] + t * frame_.basis[(a + 2) % Dim][c];
            if (square(vector_of(coefficients)) >= (1 - tie) * square(frame_.reduced[a])) continue;
            replace(a, coefficients);
            return true;
          }
        return false;
      }

      [[nodiscard]] row vector_of(row const& coefficients) const
      {
        row sum{};
        for (int a = 0; a < Dim; ++a)
          for (int b = 0; b < Dim; ++b) sum[b] += coefficients[a] * frame_.vectors[a][b];
        return sum;
      }

      void replace(int a, row const& coefficients)
      {
        row const vector = vector_of(coefficients);
        // of dependent vectors nothing is left, or rounding, which then has large coefficients
        for (double const n : coefficients)
          if (!std::isnormal(dot(vector, vector)) || std::abs(n) > 0x1p31) refuse_dependent(a);
        frame_.basis[a] = coefficients;
        frame_.reduced[a] = vector;
      }

      [[noreturn]] void refuse_dependent(int axis) const
      {
        refuse(
            given_, axis,
            "depends on the others up to rounding, or is too sheared; give independent vectors, or "
            "make an axis open");
      }

      cell_frame<Dim>& frame_;
      cell<Dim> const& given_;
    };

    /// Gives each open axis a unit vector orthogonal to the periodic ones and to each other: that of its own axis, if
    /// possible.
    template <int Dim>
    void complete(cell_frame<Dim>& frame)
    {
      std::array<bool, Dim> known = frame.periodic;
      for (int a = 0; a < Dim; ++a)
      {
        if (known[a]) continue;
        auto& vector = frame.reduced[a];
        auto const n_known = std::ranges::count(known, true);
        if (n_known == Dim - 1)
          vector = normal_of(frame.reduced, a);
        else if (n_known == 0)
          vector[a] = 1;
        else // 3D, and one vector is known
        {
          auto const other = unit(frame.reduced[std::ranges::find(known, true) - known.begin()]);
          int best = a;
          for (int b = 0; b < Dim; ++b)
            if (std::abs(other[b]) < std::abs(other[best])) best = b;
          for (int b = 0; b < Dim; ++b) vector[b] = (b == best ? 1 : 0) - other[best] * other[b];
          vector = unit(vector);
        }
        if (vector[a] < 0)
          for (double& x : vector) x = -x;
        known[a] = true;
      }
    }
  }

  template <int Dim>
  cell_frame<Dim>::cell_frame(cell<Dim> const& given)
      : periodic(given.periodic), origin(given.origin)
  {
    for (int a = 0; a < Dim; ++a)
    {
      if (!std::isfinite(origin[a]))
        throw error("cell: the origin is " + number_text(origin[a]) + " on axis " +
                    std::to_string(a) + "; give a finite one");
      basis[a][a] = 1;
      if (!periodic[a]) continue;
      vectors[a] = reduced[a] = given.vectors[a];
      if (!std::isnormal(dot(vectors[a], vectors[a])))
        refuse(
            given, a,
            "is zero, not finite, too long or too short; give a finite vector, make the axis open, "
            "or use other units of length");
    }
    basis_reduction<Dim>(*this, given).run();
    complete(*this);
    for (int a = 0; a < Dim; ++a)
    {
      normals[a] = normal_of(reduced, a);
      double const height = dot(normals[a], reduced[a]);
      for (double& x : normals[a]) x = height < 0 ? 0 - x : x + 0; // 0 for -0
      if (periodic[a])
        thickness[a] = std::abs(height);
      else
        vectors[a] = reduced[a];
      for (int b = 0; b < Dim; ++b) is_aligned &= normals[a][b] == (a == b ? 1 : 0);
    }
  }

  template struct cell_frame<2>;
  template struct cell_frame<3>;
}
