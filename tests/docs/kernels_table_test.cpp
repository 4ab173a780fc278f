// docs/kernels.md has a row for each built-in interaction and its parameters, and no other.

#include <nearfield/kernels/any_interaction.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    struct row
    {
      std::string dims; ///< such as "2D, 3D"
      std::set<std::string> parameters;

      friend bool operator==(row const&, row const&) = default;
      friend std::ostream& operator<<(std::ostream& to, row const& of)
      {
        to << of.dims;
        for (std::string const& name : of.parameters) to << " " << name;
        return to;
      }
    };

    /// What the document calls `in backquotes` there.
    std::vector<std::string> quoted(std::string const& cell)
    {
      static std::regex const name("`([^`]*)`");
      std::vector<std::string> names;
      for (std::sregex_iterator at(cell.begin(), cell.end(), name); at != std::sregex_iterator();
           ++at)
        names.push_back((*at)[1]);
      return names;
    }

    std::map<std::string, row> rows_of_document()
    {
      // | `name` (dimensions) | formula | inputs -> outputs | parameters | symmetry | range | source |, with \| in a cell
      std::string const cell = R"((?:[^|\\]|\\\|)*)";
      std::regex const line(R"(\| `(\w+)` \(([^)]*)\) \|)" + cell + R"(\|)" + cell + R"(\|()" +
                            cell + R"()\|)" + cell + R"(\|)" + cell + R"(\|)" + cell + R"(\|)");
      std::ifstream file(NEARFIELD_KERNELS_DOCUMENT);
      std::map<std::string, row> rows;
      for (std::string text; std::getline(file, text);)
      {
        std::smatch found;
        if (!text.starts_with("| `")) continue;
        EXPECT_TRUE(std::regex_match(text, found, line)) << text;
        if (found.empty()) continue;
        auto const parameters = quoted(found[3]);
        EXPECT_TRUE(
            rows.emplace(found[1], row{found[2], {parameters.begin(), parameters.end()}}).second)
            << text;
      }
      return rows;
    }
  }

  TEST(kernels_document, has_a_row_for_each_built_in_interaction)
  {
    std::map<std::string, row> expected;
    for (interaction_info const& info : interaction_infos())
    {
      row& of = expected[std::string(info.name)];
      of.dims += (of.dims.empty() ? "" : ", ") + std::to_string(info.dim) + "D";
      for (parameter_info const& each : info.parameters) of.parameters.emplace(each.name);
      for (point_parameter const& each : info.point_parameters) of.parameters.emplace(each.name);
    }
    auto const found = rows_of_document();
    for (auto const& [name, of] : expected)
      EXPECT_TRUE(found.contains(name) && found.at(name) == of) << name << ": expected " << of;
    for (auto const& [name, of] : found) EXPECT_TRUE(expected.contains(name)) << name;
  }
}
