#include "lammps_style.hpp"
#include "text.hpp"

#include <algorithm>
#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    // the text before and after the first #
    struct commented
    {
      std::string_view text;
      std::string_view comment;
    };

    commented without_comment(std::string_view line)
    {
      auto const hash = line.find('#');
      if (hash == std::string_view::npos) return {trimmed(line), {}};
      return {trimmed(line.substr(0, hash)), trimmed(line.substr(hash + 1))};
    }

    /// A number of a file, and where it stands.
    struct numbered_line
    {
      std::int64_t number;
      std::size_t line, row;
      friend auto operator<=>(numbered_line const&, numbered_line const&) = default;
    };

    class lammps_reader
    {
    public:
      lammps_reader(std::string const& name, read_options const& options)
          : name_(name), options_(options)
      {
        points_.positions.resize(3);
      }

      point_set read(std::string_view content)
      {
        line_cursor lines(without_mark(content, name_));
        std::string_view line;
        if (!lines.next(line))
          fail_at_line(name_, 1, "the end of the file", "a title, the first line of LAMMPS data");
        while (lines.next(line))
        {
          line_ = lines.line();
          auto const [text, comment] = without_comment(line);
          if (text.empty()) continue;
          split(text, ' ', fields_);
          // a row may begin with the label of a type
          if (is_letter(text[0]) && !has_number(fields_))
            begin_section(text, comment);
          else if (section_.empty())
            read_header();
          else if (section_ == "Atoms")
            add_atom();
          else if (section_ == "Velocities")
            add_velocity();
          else if (section_ == "Masses")
            add_mass();
          else if (section_ == "Atom Type Labels")
            add_label();
        }
        finish(lines.line());
        make_planar(points_, options_);
        numbers_.move_to(points_);
        return std::move(points_);
      }

      void describe(file_report& report) const
      {
        report = {.format = "LAMMPS data"};
        if (atoms_) detail::io::describe(atoms_->map, "LAMMPS data, " + atoms_->style, &report);
        if (has_velocities_)
        {
          report.velocities = {"section Velocities"};
          report.lacks_components = false;
        }
        report.lacks_types = lacks_types_;
        if (lacks_types_)
          report.left_out.emplace_back("section Masses (without a column type)");
        else if (!masses_.empty() && atoms_)
          (atoms_->map.masses.empty() ? report.masses : report.left_out)
              .emplace_back("section Masses");
        if (has_images_) report.left_out.emplace_back("image flags");
        if (has_spins_) report.left_out.emplace_back("more columns of Velocities");
        report.left_out.insert(report.left_out.end(), left_out_.begin(), left_out_.end());
        if (has_box_) report.cell = cell_;
      }

    private:
      [[nodiscard]] place where() const { return {name_, line_}; }
      [[noreturn]] void fail(std::string const& found, std::string const& expected) const
      {
        fail_at_line(name_, line_, found, expected);
      }

      void begin_section(std::string_view text, std::string_view comment)
      {
        section_ = text;
        bool is_read = false;
        for (auto const* known : {"Atoms", "Velocities", "Masses", "Atom Type Labels"})
          if (lower(text) == lower(known))
          {
            section_ = known;
            is_read = true;
          }
        bool const is_second = !sections_.insert(section_).second;
        if (is_second && is_read) fail("a second " + section_ + " section", "one");
        if (section_ == "Atoms")
        {
          if (!announced_)
            fail("an Atoms section without a count before it", "a header line '<count> atoms'");
          atoms_ = columns_of_atoms(comment, options_, where());
          points_ = empty_set(atoms_->map);
        }
        else if (!is_read && !is_second)
          left_out_.push_back("section " + printable(text));
      }

      void read_header()
      {
        auto const n = fields_.size();
        std::vector<std::string> words;
        for (auto const field : fields_) words.push_back(lower(field));
        if (n == 2 && words[1] == "atoms")
        {
          auto const count = integer_in(fields_[0]).value_or(-1);
          if (count < 0) fail(in_quotes(fields_[0]), "the number of atoms");
          announced_ = static_cast<std::uint64_t>(count);
        }
        auto const number = [&](std::size_t k)
        {
          return read_finite(fields_[k], where(), "the box");
        };
        for (std::size_t a = 0; n == 4 && a < 3; ++a)
          if (words[3].size() == 3 && words[3][0] == "xyz"[a] && words[3].ends_with("hi"))
          {
            cell_.origin[a] = number(0);
            cell_.vectors[a][a] = number(1) - number(0);
            if (cell_.vectors[a][a] < 0)
              fail(in_quotes(fields_[0]) + " above " + in_quotes(fields_[1]),
                   "the box from lo to hi");
            has_box_ = true;
          }
        if (n == 6 && words[3] == "xy" && words[4] == "xz" && words[5] == "yz")
        {
          cell_.vectors[1][0] = number(0);
          cell_.vectors[2][0] = number(1);
          cell_.vectors[2][1] = number(2);
        }
        for (std::size_t a = 0; n == 4 && a < 3; ++a)
          if (words[3] == std::string(1, "abc"[a]) + "vec")
          {
            for (std::size_t d = 0; d < 3; ++d) cell_.vectors[a][d] = number(d);
            has_box_ = true;
          }
        if (n == 5 && words[3] == "abc" && words[4] == "origin")
          for (std::size_t d = 0; d < 3; ++d) cell_.origin[d] = number(d);
      }

      std::int64_t integer(std::size_t c, std::string const& what) const
      {
        if (auto const value = integer_in(fields_[c])) return *value;
        fail(in_quotes(fields_[c]) + " for " + what, "an integer, in " + style());
      }

      [[nodiscard]] std::string style() const { return atoms_ ? atoms_->style : section_; }

      // A type as a number, which the file may write as a label.
      std::int64_t type_in(std::size_t c) const
      {
        if (auto const value = integer_in(fields_[c])) return *value;
        if (auto const label = labels_.find(fields_[c]); label != labels_.end())
          return label->second;
        fail(in_quotes(fields_[c]) + " for type", "an integer, or a label of Atom Type Labels");
      }

      // The label of a type, or its number.
      [[nodiscard]] std::string name_of(std::int64_t type) const
      {
        for (auto const& [label, number] : labels_)
          if (number == type) return label;
        return std::to_string(type);
      }

      void add_atom()
      {
        if (points_.size() == announced_)
          fail("a row after the last atom",
               "the " + count_of(*announced_, "atom") + " of the header");
        auto const& map = atoms_->map;
        auto const n = map.names.size();
        if (fields_.size() != n && fields_.size() != n + 3)
          fail(count_of(fields_.size(), "field"),
               std::to_string(n) + " in " + style() + ", or 3 more with image flags");
        for (auto const c : atoms_->integers) (void)integer(c, map.titles[c]);
        for (auto c = n; c < fields_.size(); ++c) has_images_ |= integer(c, "an image flag") != 0;
        auto const row = points_.size();
        auto const& x = map.positions;
        add_point(points_, fields_[x[0]], fields_[x[1]], fields_[x[2]], options_, where());
        for (std::size_t k = 0; k < map.inputs.size(); ++k)
          points_.inputs[k].push_back(read_finite(fields_[map.inputs[k]], where(), "the charge"));
        for (std::size_t a = 0; a < map.velocities.size(); ++a)
          add_component(a, read_finite(fields_[map.velocities[a]], where(), "a velocity"), row);
        for (auto const c : map.masses)
          points_.masses.push_back(read_finite(fields_[c], where(), "the mass"));
        for (std::size_t k = 0; k < map.parameters.size(); ++k)
          points_.parameters[k].push_back(
              read_finite(fields_[map.parameters[k]], where(), map.parameter_names[k]));
        for (std::size_t k = 0; k < map.outputs.size(); ++k)
          points_.outputs[k].push_back(
              read_value(fields_[map.outputs[k]], where(), map.output_names[k]));
        if (atoms_->type < n) types_.push_back({type_in(atoms_->type), line_, row});
        for (auto const c : map.types)
          numbers_.add(c == atoms_->type ? name_of(types_.back().number) : std::string(fields_[c]),
                       where());
        if (atoms_->id < n) ids_.push_back({integer(atoms_->id, "id"), line_, row});
      }

      void add_component(std::size_t axis, double value, std::size_t row)
      {
        if (axis == 2 && options_.dim == 2 && value != 0)
          fail("the velocity " + detail::number_text(value) + " along z",
               "0, " + because_of_2d(options_));
        auto& column = points_.velocities[axis];
        if (column.size() <= row) column.resize(row + 1);
        column[row] = value;
      }

      void add_velocity()
      {
        if (!atoms_) fail("a section Velocities before Atoms", "one after it");
        if (!has_velocities_)
        {
          if (!atoms_->map.velocities.empty())
            fail("a section Velocities beside columns vx vy vz", "one of them");
          if (atoms_->id == atoms_->map.names.size())
            fail("a section Velocities",
                 "a column of --columns with the name id, to find its atoms");
          finish_atoms();
          has_velocities_ = true;
          points_.velocities.assign(3, std::vector<double>(points_.size()));
          seen_.assign(points_.size(), false);
        }
        if (fields_.size() < 4) fail(count_of(fields_.size(), "field"), "an id, vx, vy and vz");
        has_spins_ |= fields_.size() > 4; // of styles with angular velocities
        auto const number = integer_in(fields_[0]);
        if (!number) fail(in_quotes(fields_[0]) + " for id", "an integer, in section Velocities");
        auto const id = *number;
        auto const found = std::lower_bound(ids_.begin(), ids_.end(), numbered_line{id, 0, 0});
        if (found == ids_.end() || found->number != id)
          fail("the velocity of atom " + std::to_string(id), "an id of section Atoms");
        bool const is_unique = found + 1 == ids_.end() || (found + 1)->number != id;
        if (!is_unique || seen_[found->row])
          fail("the velocity of atom " + std::to_string(id) + " twice",
               "a unique id for each atom");
        seen_[found->row] = true;
        for (std::size_t a = 0; a < 3; ++a)
          add_component(a, read_finite(fields_[a + 1], where(), "a velocity"), found->row);
      }

      void add_mass()
      {
        if (fields_.size() != 2)
          fail(count_of(fields_.size(), "field"), "a type and its mass, in section Masses");
        auto const type = type_in(0);
        if (!masses_.emplace(type, read_finite(fields_[1], where(), "the mass")).second)
          fail("type " + std::to_string(type) + " twice in section Masses", "each type once");
      }

      void add_label()
      {
        if (fields_.size() != 2) fail(count_of(fields_.size(), "field"), "a type and its label");
        labels_.emplace(std::string(fields_[1]), integer(0, "type"));
      }

      // LAMMPS allows all ids to be 0 if they are not used.
      void finish_atoms()
      {
        if (points_.size() != *announced_)
          fail(section_ == "Velocities"
                   ? "section Velocities after " + count_of(points_.size(), "atom")
                   : "the end of the file after " + count_of(points_.size(), "atom"),
               "the " + count_of(*announced_, "atom") + " of the header");
        std::sort(ids_.begin(), ids_.end());
        auto const first =
            std::adjacent_find(ids_.begin(), ids_.end(), [](auto const& a, auto const& b)
                               { return a.number == b.number && a.number != 0; });
        if (first != ids_.end())
          fail_at_line(name_, (first + 1)->line,
                       "atom id " + std::to_string(first->number) + ", already used on line " +
                           std::to_string(first->line),
                       "a unique id for each atom");
      }

      void finish(std::size_t last)
      {
        line_ = last;
        section_ = "the file";
        if (!announced_) fail("the end of the file", "a header line '<count> atoms'");
        if (!atoms_ && *announced_ > 0)
          fail("the end of the file without an Atoms section",
               "the " + count_of(*announced_, "atom") + " of the header");
        finish_atoms();
        auto const n_seen = static_cast<std::size_t>(std::count(seen_.begin(), seen_.end(), true));
        if (has_velocities_ && n_seen != points_.size())
          fail("the velocities of " + count_of(n_seen, "atom"),
               "those of all " + std::to_string(points_.size()));
        if (!atoms_ || masses_.empty() || !atoms_->map.masses.empty()) return;
        lacks_types_ = atoms_->type == atoms_->map.names.size();
        if (lacks_types_) return;
        for (auto const& type : types_)
        {
          auto const mass = masses_.find(type.number);
          if (mass == masses_.end())
            fail_at_line(name_, type.line, "type " + std::to_string(type.number),
                         "one whose mass is in section Masses");
          points_.masses.push_back(mass->second);
        }
      }

      std::string const& name_;
      read_options const& options_;
      point_set points_;
      std::size_t line_ = 0; ///< the present one
      std::vector<std::string_view> fields_;
      std::string section_; ///< empty in the header
      std::set<std::string> sections_;
      std::optional<std::uint64_t> announced_;
      std::optional<atom_columns> atoms_;
      std::vector<numbered_line> ids_, types_;
      type_numbers numbers_; ///< of types, if they are asked for
      std::map<std::string, std::int64_t, std::less<>> labels_;
      std::map<std::int64_t, double> masses_;
      std::vector<bool> seen_; ///< which atoms have a velocity
      bool has_velocities_ = false, has_images_ = false, has_spins_ = false, has_box_ = false,
           lacks_types_ = false;
      file_report::periodic_cell cell_{.from = "xlo xhi"};
      std::vector<std::string> left_out_;
    };
  }

  point_set parse_lammps(std::string_view content, std::string const& name,
                         read_options const& options, file_report* report)
  {
    check_options(options, name, {.columns = true, .atom_style = true, .types = true});
    lammps_reader reader(name, options);
    auto points = reader.read(content);
    if (report) reader.describe(*report);
    return points;
  }
}
