#include "interaction_lists.hpp"

#include "images.hpp"
#include "instantiate.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace nearfield::detail
{
  list_writer::list_writer(interaction_table& full, interaction_table& half, boxes const& targets,
                           boxes const& sources, bool one_set, char const* function,
                           char const* remedy, std::size_t rows, std::size_t ranges)
      : full_(full), half_(half), targets_(targets), sources_(sources), one_set_(one_set),
        function_(function), remedy_(remedy)
  {
    row_ = full.ranges.size();
    for (interaction_table* table : {&full, &half})
    {
      if ((table == &half && !one_set) || !table->offsets.empty()) continue;
      table->own.reserve(rows);
      table->ranges.reserve(table == &full ? ranges : ranges / 2);
      table->offsets.reserve(rows + 1);
      table->offsets.push_back(0);
    }
  }

  namespace
  {
    void check_size(std::size_t ranges, char const* function, char const* remedy)
    {
      if (ranges > std::numeric_limits<index_type>::max())
        throw error(std::string(function) +
                    ": the interaction list has more than 2^32 - 1 ranges; use " + remedy);
    }
  }

  void list_writer::close(index_type b)
  {
    auto const end_row = [&](interaction_table& table, std::size_t own_at)
    {
      check_size(table.ranges.size(), function_, remedy_);
      table.own.push_back({sources_.begin(b), sources_.end(b)});
      table.offsets.push_back(static_cast<index_type>(table.ranges.size()));
      if (notes_own_at_) table.own_at.push_back(static_cast<index_type>(own_at));
    };
    auto const row = std::span(full_.ranges).subspan(row_);
    if (notes_own_at_ && !has_own_images_)
      for (own_at_ = 0; own_at_ < row.size() && row[own_at_].begin < sources_.begin(b);) ++own_at_;
    end_row(full_, own_at_);
    std::uint64_t met = sources_.count(b) - index_type(one_set_); // a point does not meet itself
    bool const is_alone =
        n_boxes() == 1 && !has_own_images_; // and meets nothing but images of itself
    index_type const begin = sources_.begin(b), after = is_alone ? begin : sources_.end(b);
    for (source_range const& range : row) met += range.end - range.begin;
    if (one_set_)
    {
      std::size_t const first = half_.ranges.size();
      std::size_t own_at = 0;
      if (has_own_images_)
        for (std::size_t r = 0; r < row.size(); ++r)
        {
          if (r == own_at_) own_at = half_.ranges.size() - first;
          if (row[r].begin >= after || (row[r].begin == begin && row[r].end == after))
            half_.ranges.push_back(row[r]);
        }
      else
      {
        // The own box lies between the ranges, so none holds points from both sides of it.
        auto later = row.end();
        while (later != row.begin() && later[-1].begin >= after) --later;
        half_.ranges.insert(half_.ranges.end(), later, row.end());
      }
      if (own_at_ == row.size()) own_at = half_.ranges.size() - first;
      if (is_alone)
        half_.ranges.erase(std::remove_if(half_.ranges.begin() + static_cast<std::ptrdiff_t>(first),
                                          half_.ranges.end(), [](source_range const& r)
                                          { return !is_in_half(r.shift); }),
                           half_.ranges.end());
      end_row(half_, own_at);
    }
    pairs_ += targets_.count(b) * met;
    row_ = full_.ranges.size();
    has_ranges_ = false;
    own_at_ = 0;
  }

  void join(executor& on, std::span<list_pair> pieces, char const* function, char const* remedy,
            list_pair& whole, std::vector<list_pair>* kept)
  {
    constexpr std::array tables{&list_pair::full, &list_pair::half};
    std::vector<std::size_t> first; // box of each piece
    std::size_t boxes = whole.full.own.size();
    for (list_pair const& piece : pieces)
    {
      first.push_back(boxes);
      boxes += piece.full.own.size();
      whole.pairs += piece.pairs;
    }
    for (auto const table : tables)
    {
      if ((pieces[0].*table).offsets.empty()) continue; // two sets have no half list
      interaction_table& to = whole.*table;
      std::size_t ranges = to.ranges.size();
      for (list_pair& piece : pieces)
      {
        (piece.*table).offsets[0] = static_cast<index_type>(ranges);
        ranges += (piece.*table).ranges.size();
      }
      check_size(ranges, function, remedy);
      to.own.resize(boxes);
      to.offsets.resize(boxes + 1);
      to.offsets[first[0]] = (pieces[0].*table).offsets[0];
      to.ranges.resize(ranges);
      if (std::ranges::any_of(pieces, [&](list_pair const& piece)
                              { return !(piece.*table).own_at.empty(); }))
        to.own_at.resize(boxes);
    }
    if (kept) kept->resize(pieces.size());
    on.run(static_cast<int>(pieces.size()),
           [&](int part)
           {
             list_pair piece = std::move(pieces[part]);
             for (auto const table : tables)
             {
               interaction_table const& from = piece.*table;
               interaction_table& to = whole.*table;
               if (from.offsets.empty()) continue;
               index_type const before = from.offsets[0];
               std::ranges::copy(from.own, to.own.data() + first[part]);
               std::ranges::copy(from.ranges, to.ranges.data() + before);
               if (!from.own_at.empty())
                 std::ranges::copy(from.own_at, to.own_at.data() + first[part]);
               for (std::size_t b = 0; b < from.own.size(); ++b)
                 to.offsets[first[part] + b + 1] = before + from.offsets[b + 1];
             }
             if (kept) (*kept)[part] = std::move(piece);
           });
  }

  void clear(list_pair& lists)
  {
    for (interaction_table* table : {&lists.full, &lists.half})
    {
      table->own.clear();
      table->ranges.clear();
      table->offsets.clear();
      table->own_at.clear();
    }
    lists.pairs = 0;
  }

  namespace
  {
    constexpr int power_of_3(int exponent)
    {
      return exponent == 0 ? 1 : 3 * power_of_3(exponent - 1);
    }

    /// Cells of one size around a cell have numbers: digit d in base 3 is 0, 1 or 2 for one step down, none, or one step
    /// up along axis d. The children of a cell have numbers whose bit Dim - 1 - d is set for the upper half of axis d.
    template <int Dim>
    struct neighbours
    {
      static constexpr int n_cells = power_of_3(Dim);
      static constexpr int n_children = 1 << Dim;
      static constexpr int centre = n_cells / 2;

      /// A child of a neighbour, and its number around a child of the centre.
      struct child
      {
        std::uint8_t child, cell;
      };
      /// The children that touch, in Morton order.
      struct children
      {
        std::uint8_t n = 0;
        std::array<child, n_children> each{};
      };

      static constexpr int upper(int child, int axis) { return child >> (Dim - 1 - axis) & 1; }

      /// of neighbour `cell` around child `c` of the centre
      static constexpr children around_child(int c, int cell)
      {
        children result;
        for (int x = 0; x < n_children; ++x)
        {
          int number = 0, digits = cell;
          bool touches = true;
          for (int d = 0, weight = 1; d < Dim; ++d, digits /= 3, weight *= 3)
          {
            int const step = 2 * (digits % 3 - 1) + upper(x, d) - upper(c, d);
            touches &= -1 <= step && step <= 1;
            number += weight * (step + 1);
          }
          if (touches)
            result.each[result.n++] = {static_cast<std::uint8_t>(x),
                                       static_cast<std::uint8_t>(number)};
        }
        return result;
      }

      /// of neighbour `cell` around the centre, undivided
      static constexpr children around_centre(int cell)
      {
        children result;
        for (int x = 0; x < n_children; ++x)
        {
          bool touches = true;
          for (int d = 0, digits = cell; d < Dim; ++d, digits /= 3)
            touches &= digits % 3 == 1 || (digits % 3 == 0) == (upper(x, d) == 1);
          if (touches)
            result.each[result.n++] = {static_cast<std::uint8_t>(x),
                                       static_cast<std::uint8_t>(cell)};
        }
        return result;
      }

      using table = std::array<children, n_cells>;
      static constexpr std::array<table, n_children> of_children = []
      {
        std::array<table, n_children> result{};
        for (int c = 0; c < n_children; ++c)
          for (int cell = 0; cell < n_cells; ++cell) result[c][cell] = around_child(c, cell);
        return result;
      }();
      static constexpr table of_centre = []
      {
        table result{};
        for (int cell = 0; cell < n_cells; ++cell) result[cell] = around_centre(cell);
        return result;
      }();
    };

    /// Goes down the tree with the cells of one size around it, which are never searched for: those around a child are
    /// children of those around its parent. All come in the order of their leaves, unless some are images: then a row
    /// is sorted when it is complete.
    template <int Dim, bool HasImages>
    class descent
    {
    public:
      descent(leaf_set<Dim> const& leaves, int key_level, index_type first, index_type last,
              list_writer& lists)
          : leaves_(leaves), key_level_(key_level), first_(first), last_(last), lists_(lists)
      {}

      void run(std::array<double, Dim> const& period)
      {
        around root;
        for (std::uint8_t number = 0; number < around_::n_cells; ++number)
        {
          bool exists = true; // the root itself, or an image of it
          for (int d = 0, digits = number; d < Dim; ++d, digits /= 3)
            exists &= digits % 3 == 1 || (HasImages && period[d] > 0);
          if (exists) root.cells[root.n++] = {0, leaves_.size(), number};
        }
        if (!is_leaf(root.cells[0], 0))
          return visit(root, root.n == 1 ? last_level_of(root.cells[0]) : 0);
        for (int i = 0; i < root.n; ++i)
          if (root.cells[i].number != around_::centre)
            row_.push_back({0, shift_of(root.cells[i].number - around_::centre)});
        close(0);
      }

    private:
      using around_ = neighbours<Dim>;

      /// The leaves [begin, end) in a cell, or one that contains it.
      struct cell
      {
        index_type begin, end;
        std::uint8_t number;
      };
      /// A leaf that the one in the middle meets.
      struct met
      {
        index_type leaf;
        std::uint16_t shift;

        auto operator<=>(met const&) const = default;
      };
      /// A cell and those around it that hold leaves.
      struct around
      {
        int n = 0;
        std::array<cell, around_::n_cells> cells;
      };
      /// The leaves of child x of a cell are [ends[x], ends[x + 1]).
      using children = std::array<index_type, around_::n_children + 1>;

      [[nodiscard]] bool is_leaf(cell const& c, int level) const
      {
        return c.end - c.begin == 1 && leaves_.levels[c.begin] <= level;
      }

      [[nodiscard]] children children_of(cell const& c, int level) const
      {
        int const shift = Dim * (key_level_ - level - 1);
        auto const child_of = [&](index_type leaf)
        {
          return leaves_.keys[leaf] >> shift & (around_::n_children - 1);
        };
        children ends;
        if (c.end - c.begin < 64)
        {
          // A byte for each child, which the product sums up. No branch depends on keys.
          std::uint64_t counts = 0;
          for (index_type leaf = c.begin; leaf < c.end; ++leaf)
            counts += std::uint64_t(1) << (8 * child_of(leaf));
          std::uint64_t const sums = counts * 0x0101010101010101;
          ends[0] = c.begin;
          for (int x = 0; x < around_::n_children; ++x)
            ends[x + 1] = c.begin + static_cast<index_type>(sums >> (8 * x) & 255);
          return ends;
        }
        index_type first = c.begin;
        for (std::size_t x = 0; x < around_::n_children; ++x)
        {
          for (index_type n = c.end - first; n > 0;)
          {
            index_type const half = (n + 1) / 2;
            first += child_of(first + half - 1) < x ? half : 0;
            n -= half;
          }
          ends[x] = first;
        }
        ends[around_::n_children] = c.end;
        return ends;
      }

      /// The last level at which a cell that is no leaf holds the same leaves.
      [[nodiscard]] int last_level_of(cell const& c) const
      {
        if (c.end - c.begin == 1) return leaves_.levels[c.begin] - 1;
        return common_level<Dim>(leaves_.keys[c.begin], leaves_.keys[c.end - 1], key_level_);
      }

      /// The leaves below the middle cell, which is not empty and no leaf.
      void visit(around const& parent, int level)
      {
        int middle = 0;
        while (parent.cells[middle].number != around_::centre) ++middle;
        std::array<children, around_::n_cells> ends;
        std::array<bool, around_::n_cells> whole;
        for (int i = 0; i < parent.n; ++i)
        {
          whole[i] = is_leaf(parent.cells[i], level);
          if (!whole[i]) ends[i] = children_of(parent.cells[i], level);
        }

        for (int c = 0; c < around_::n_children; ++c)
        {
          cell const centre{ends[middle][c], ends[middle][c + 1], around_::centre};
          if (centre.begin == centre.end || centre.begin >= last_ || centre.end <= first_) continue;
          auto const for_each = [&](auto const& f)
          {
            for (int i = 0; i < parent.n; ++i)
            {
              cell const& from = parent.cells[i];
              auto const& touching = around_::of_children[c][from.number];
              for (int k = 0; k < touching.n; ++k)
              {
                auto const [x, number] = touching.each[k];
                cell const part = whole[i] ? cell{from.begin, from.end, number}
                                           : cell{ends[i][x], ends[i][x + 1], number};
                if (part.begin < part.end) f(part);
              }
            }
          };
          if (is_leaf(centre, level + 1))
          {
            // A larger leaf contains several cells, which follow each other.
            index_type before = centre.begin;
            if (lists_.has_targets(centre.begin))
              for_each(
                  [&](cell const& part)
                  {
                    if (part.number == around_::centre || part.begin == before) return;
                    if constexpr (HasImages)
                      shift_ = shift_at(leaves_.cells[centre.begin], part.number);
                    else
                      before = part.begin;
                    add(part, level + 1);
                  });
            close(centre.begin);
          }
          else
          {
            around child;
            for_each([&](cell const& part) { child.cells[child.n++] = part; });
            visit(child, child.n == 1 ? last_level_of(centre) : level + 1);
          }
        }
      }

      /// The leaves of a cell that touch the one in the middle.
      void add(cell const& c, int level)
      {
        if (is_leaf(c, level))
        {
          if constexpr (HasImages)
            row_.push_back({c.begin, shift_});
          else
            lists_.add(c.begin, c.begin + 1);
          return;
        }
        children const ends = children_of(c, level);
        auto const& touching = around_::of_centre[c.number];
        for (int k = 0; k < touching.n; ++k)
          if (int const x = touching.each[k].child; ends[x] < ends[x + 1])
            add({ends[x], ends[x + 1], c.number}, level + 1);
      }

      /// Of the image of a cell around a leaf.
      static std::uint16_t shift_at(leaf_cell<Dim> const& leaf, int number)
      {
        int image = 0;
        for (int d = 0; d < Dim; ++d, number /= 3)
        {
          std::int64_t const index = std::int64_t(leaf.index[d]) + number % 3 - 1;
          image += image_step(d) * (index < 0 ? -1 : int(index >> leaf.level));
        }
        return shift_of(image);
      }

      void close(index_type b)
      {
        if constexpr (HasImages)
        {
          std::ranges::sort(row_);
          row_.erase(std::unique(row_.begin(), row_.end()), row_.end());
          for (met const& one : row_) lists_.add(one.leaf, one.leaf + 1, one.shift);
          row_.clear();
        }
        lists_.close(b);
      }

      leaf_set<Dim> const& leaves_;
      int key_level_;
      index_type first_, last_;
      list_writer& lists_;
      // with images: the leaves that one leaf meets, and the shift of those that are being added
      std::vector<met> row_;
      std::uint16_t shift_ = 0;
    };
  }

  template <int Dim>
  void list_leaves(leaf_set<Dim> const& leaves, int key_level,
                   std::type_identity_t<std::array<double, Dim>> const& period, index_type first,
                   index_type last, list_writer& lists)
  {
    if (first == last) return;
    if (any_period(period))
      descent<Dim, true>(leaves, key_level, first, last, lists).run(period);
    else
      descent<Dim, false>(leaves, key_level, first, last, lists).run(period);
  }

#define NEARFIELD_INSTANTIATE(Dim)                                                                 \
  template void list_leaves(leaf_set<Dim> const&, int, std::array<double, Dim> const&, index_type, \
                            index_type, list_writer&);
  NEARFIELD_FOR_EACH_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
