// Which pairs `nearfield search` leaves out: cutoffs by type, and pairs of a file.
#include "list_files.hpp"
#include "program.hpp"
#include "read_json.hpp"

#include "points.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  using list_of_pairs = std::vector<std::vector<std::int64_t>>;

  struct salt
  {
    std::vector<std::array<double, 3>> x;
    std::vector<std::string> types;
  };

  // On multiples of 1/64, where sums of squares are exact in float.
  salt random_salt(std::size_t n)
  {
    random_numbers random(3);
    salt made;
    for (std::size_t i = 0; i < n; ++i)
    {
      auto const coordinate = [&]
      {
        return static_cast<double>(random.below(64)) / 64;
      };
      made.x.push_back({coordinate(), coordinate(), coordinate()});
      made.types.push_back(std::array{"Na", "Cl", "K"}[random.below(3)]);
    }
    return made;
  }

  void write_xyz(std::filesystem::path const& path, salt const& of)
  {
    std::ostringstream text;
    text << of.x.size() << "\nLattice=\"1 0 0 0 1 0 0 0 1\" Properties=species:S:1:pos:R:3\n";
    for (std::size_t i = 0; i < of.x.size(); ++i)
      text << of.types[i] << " " << of.x[i][0] << " " << of.x[i][1] << " " << of.x[i][2] << "\n";
    write_text(path, text.str());
  }

  // Searches salt.xyz of the folder.
  ending search_salt(temporary_folder const& folder, std::vector<std::string> options)
  {
    options.insert(options.begin(), {"search", (folder / "salt.xyz").string(), "--radius", "0.25"});
    return run_program(options, {{"CUDA_VISIBLE_DEVICES", ""}});
  }

  // Na and Cl 0.2, Na and Na never, others 0.25; without pairs of indices in `excluded`.
  list_of_pairs pairs_that_count(salt const& of, std::set<std::pair<int, int>> const& excluded,
                                 bool by_type)
  {
    list_of_pairs found;
    auto const n = static_cast<int>(of.x.size());
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
      {
        auto const at = [&](int k)
        {
          return static_cast<std::size_t>(k);
        };
        double r2 = 0;
        for (std::size_t a = 0; a < 3; ++a)
        {
          double const d = of.x[at(i)][a] - of.x[at(j)][a];
          r2 += d * d;
        }
        auto const is = [&](char const* a, char const* b)
        {
          return (of.types[at(i)] == a && of.types[at(j)] == b) ||
                 (of.types[at(i)] == b && of.types[at(j)] == a);
        };
        double const cutoff = !by_type ? 0.25 : is("Na", "Cl") ? 0.1875 : is("Na", "Na") ? 0 : 0.25;
        bool const is_out = excluded.count({i, j}) + excluded.count({j, i}) > 0;
        if (i != j && r2 < cutoff * cutoff && !is_out) found.push_back({i, j});
      }
    return found;
  }
}

TEST(search_pairs, are_those_of_types_and_not_excluded)
{
  auto const made = random_salt(500);
  temporary_folder const folder;
  write_xyz(folder / "salt.xyz", made);
  std::string types, bonds = "# bonds\n";
  for (auto const& type : made.types) types += type + "\n";
  write_text(folder / "types.txt", types);
  std::set<std::pair<int, int>> excluded;
  auto const all = pairs_that_count(made, {}, false);
  for (std::size_t k = 0; k < all.size(); k += 7)
  {
    excluded.emplace(all[k][0], all[k][1]);
    bonds += std::to_string(all[k][0]) + " " + std::to_string(all[k][1]) + "\n";
  }
  write_text(folder / "bonds.txt", bonds);
  auto const types_file = (folder / "types.txt").string(),
             bonds_file = (folder / "bonds.txt").string(), out = (folder / "out.csv").string(),
             json = (folder / "out.json").string();
  std::vector<std::string> const of_types{"--types", "file", "--type-cutoffs",
                                          "Cl:Na=0.1875,Na:Na=0"};
  auto of_file = of_types;
  of_file[1] = types_file;
  std::vector<std::string> const exclude{"--exclude", bonds_file};
  auto both = of_types;
  both.insert(both.end(), exclude.begin(), exclude.end());
  struct restriction
  {
    std::vector<std::string> options;
    bool by_type, excludes;
  };
  std::vector<std::vector<std::string>> places{
      {"--backend", "scalar"}, {"--backend", "simd"}, {"--precision", "f32"}};
  if (NEARFIELD_APP_HAS_STARPU) places.push_back({"--workers", "2"});
  for (auto const& [restrict, by_type, excludes] :
       {restriction{of_types, true, false}, restriction{of_file, true, false},
        restriction{exclude, false, true}, restriction{both, true, true}})
  {
    auto const expected =
        pairs_that_count(made, excludes ? excluded : std::set<std::pair<int, int>>(), by_type);
    ASSERT_LT(expected.size(), all.size());
    for (auto options : places)
    {
      options.insert(options.end(), restrict.begin(), restrict.end());
      options.insert(options.end(), {"--output", out, "--json", json});
      auto full = options;
      full.insert(full.end(), {"--list", "full"});
      expect_success(search_salt(folder, full));
      auto found = read_csv(out, "i,j");
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, expected);
      expect_success(search_salt(folder, options));
      EXPECT_EQ(2 * read_csv(out, "i,j").size(), expected.size());
      auto const values = read_json(json);
      EXPECT_EQ(2 * std::stoull(values.at("pairs")), expected.size());
    }
  }
  auto const end = search_salt(folder, both);
  EXPECT_THAT(end.out, testing::ContainsRegex("\ntypes         .*, .*, .* .salt.xyz.\n"));
  EXPECT_THAT(end.out, testing::HasSubstr("\nexcluded      " + std::to_string(excluded.size()) +
                                          " pairs (bonds.txt)\n"));
  EXPECT_THAT(end.out, testing::HasSubstr("positions pos; types species; box 1 x 1 x 1"));
}

TEST(search_pairs, mistakes_end_with_one_line)
{
  temporary_folder const folder;
  write_text(folder / "salt.xyz", "2\nProperties=species:S:1:pos:R:3\nNa 0 0 0\nCl 0.1 0 0\n");
  write_text(folder / "pairs.txt", "0 1\n1 2\n");
  write_text(folder / "types.txt", "Na\n");
  auto const pairs = (folder / "pairs.txt").string(), types = (folder / "types.txt").string();
  auto const n_files = folder.n_files();
  struct mistake
  {
    std::vector<std::string> options;
    std::string expected;
  };
  for (auto const& [options, expected] : {
           mistake{{"--types", "file"}, "--types: found no --type-cutoffs"},
           mistake{{"--type-cutoffs", "Na:Cl=0.1"}, "--type-cutoffs: found no --types"},
           mistake{{"--types", "file", "--type-cutoffs", "Na:Cl=0.5"},
                   "--type-cutoffs: found Na:Cl=0.5, more than --radius 0.25"},
           mistake{{"--types", "file", "--type-cutoffs", "Na:K=0.1"},
                   "found the type 'K' in Na:K=0.1, expected one of .*: Na, Cl"},
           mistake{{"--types", "file", "--type-cutoffs", "Na:Cl=0.1,Cl:Na=0.2"},
                   "found Cl:Na=0.2 and another cutoff"},
           mistake{{"--types", "file", "--type-cutoffs", "Na-Cl=0.1"},
                   "--type-cutoffs: found 'Na-Cl=0.1', expected A:B=R"},
           mistake{{"--types", "file", "--type-cutoffs", "Na:Cl=-1"},
                   "--type-cutoffs: found '-1', expected a finite length"},
           mistake{{"--types", "file", "--type-cutoffs", "Na:Cl=1e-25", "--precision", "f32"},
                   "Na:Cl=1e-25, whose square underflows in f32"},
           mistake{{"--types", types, "--type-cutoffs", "Na:Na=0.1"},
                   "types.txt: found 1 type, expected one for each of the 2 points"},
           mistake{{"--types", "none.txt", "--type-cutoffs", "Na:Na=0.1"}, "none.txt: cannot be"},
           mistake{{"--exclude", pairs}, "pairs.txt: line 2: found '2', expected an index"},
           mistake{{"--exclude", pairs, "--json", pairs}, "--json: .* is also .*pairs.txt"},
       })
    expect_refusal(search_salt(folder, options), expected);
  EXPECT_EQ(folder.n_files(), n_files);
}

TEST(search_pairs, a_column_of_numbers_of_points_is_none_of_types)
{
  temporary_folder const folder;
  std::string numbers = "4097\nProperties=species:S:1:pos:R:3\n";
  for (int i = 0; i < 4097; ++i) numbers += std::to_string(i) + " 0 0 " + std::to_string(i) + "\n";
  write_text(folder / "salt.xyz", numbers);
  expect_refusal(search_salt(folder, {"--types", "file", "--type-cutoffs", "0:1=0.1"}),
                 "--types: found 4097 types, such as '0', expected at most 4096");
}
