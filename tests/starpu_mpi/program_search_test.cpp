// `mpirun nearfield search` beside the same on one process.

#include "list_files.hpp"
#include "program_over_ranks.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  using list_rows = std::vector<std::vector<std::int64_t>>;

  /// The list of one process in the order of numbers.
  list_rows in_order(list_rows rows, std::string const& list)
  {
    for (auto& row : rows)
      if (list == "half" && row[1] < row[0])
      {
        std::swap(row[0], row[1]);
        for (std::size_t a = 2; a < row.size(); ++a) row[a] = -row[a];
      }
      else if (list == "table")
        std::sort(row.begin() + 2, row.end(),
                  [](auto j, auto k) { return k < 0 ? j >= 0 : j >= 0 && j < k; });
    std::ranges::sort(rows);
    return rows;
  }

  /// What ranks have written as CSV or NPY, with the columns of CSV.
  list_rows read_rows(std::filesystem::path const& path, std::string const& header,
                      std::size_t n_rows, std::size_t n_columns)
  {
    if (path.extension() == ".csv") return read_csv(path, header);
    bool const has_number = header.starts_with("i,count"), is_flat = header == "i,count";
    auto const width = n_columns - has_number;
    auto const values = read_npy(path, "(" + std::to_string(n_rows) +
                                           (is_flat ? "," : ", " + std::to_string(width)) + ")");
    list_rows rows;
    for (std::size_t r = 0; r < values.size() / width; ++r)
    {
      auto& row = rows.emplace_back(values.begin() + std::ptrdiff_t(r * width),
                                    values.begin() + std::ptrdiff_t((r + 1) * width));
      if (has_number) row.insert(row.begin(), std::int64_t(r));
    }
    return rows;
  }

  TEST(program_over_ranks, finds_the_pairs_of_one_process)
  {
    temporary_folder const folder;
    write_points(folder / "in.bfma", uniform_points(1200));
    write_points(folder / "in.csv", uniform_points(1200));
    struct run
    {
      int ranks;
      char const *list, *out;
      std::vector<std::string> options;
    };
    for (auto const& [n, list, out, options] :
         {run{1, "half", "many.csv", {}},
          {2, "half", "many.csv", {"--periodic", "1,0,1"}},
          {3, "half", "many.npy", {"--columns", "x,_,y,_", "--dim", "2"}},
          {3, "full", "many.npy", {"--precision", "f32", "--backend", "scalar"}},
          {2, "full", "many.npy", {"--cells-per-cutoff", "3"}},
          {2, "count", "many.csv", {"--workers", "1"}},
          {3, "count", "many.npy", {"--periodic", "1,1,1"}},
          // points outside the box, which is thinner than the radius
          {3, "half", "many.csv", {"--periodic", "0.8,0.11,0"}},
          {2, "half", "many.npy", {"--shifts", "--cell", "0.9,0,0,0.3,0.8,0,0.1,0.05,0.2"}},
          {3, "full", "many.csv", {"--shifts", "--cell", "0.4,0.4,0.1", "--pbc", "1,1,0"}},
          {2, "table", "many.csv", {"--cell", "0.9,0,0,-0.3,0.8,0,0.1,0.05,0.4"}},
          {3, "table", "many.csv", {}},
          {2, "table", "many.npy", {"--width", "3"}}})
    {
      SCOPED_TRACE(testing::Message() << list << " to " << out << ", " << n << " ranks");
      auto const in = !options.empty() && options[0] == "--columns" ? "in.csv" : "in.bfma";
      auto const with = [&, list = list](char const* to, std::vector<std::string> arguments)
      {
        arguments.insert(arguments.end(),
                         {(folder / in).string(), "--radius", "0.12", "--list", list, "--output",
                          (folder / to).string(), "--json", (folder / "out.json").string()});
        return arguments;
      };
      bool const is_cut = !options.empty() && options[0] == "--width";
      expect_success(
          run_alone(with("one.csv", is_cut ? std::vector<std::string>{} : options), "search"));
      auto text = read_text(folder / "one.csv");
      auto header = text.substr(0, text.find('\n'));
      auto wanted = in_order(read_csv(folder / "one.csv", header), list);
      ASSERT_GT(wanted.size(), 1000u);
      if (is_cut)
      {
        header = "i,count,j0,j1,j2";
        for (auto& row : wanted) row.resize(5);
      }
      auto const end = run_over(n, with(out, options), "search");
      expect_success(end);
      auto found = read_rows(folder / out, header, wanted.size(), wanted[0].size());
      if (n > 1)
      {
        EXPECT_TRUE(std::ranges::is_sorted(found, {}, [](auto const& row)
                                           { return std::pair(row[0], row[1]); }));
      }
      found = in_order(found, list); // images of a pair, too
      EXPECT_TRUE(found == wanted);
      auto const json = read_text(folder / "out.json");
      EXPECT_THAT(json, testing::HasSubstr("\"points\": 1200"));
      EXPECT_THAT(json, testing::HasSubstr(is_cut ? "\"overflow\": true" : "\"pairs\": "));
      if (n > 1)
      {
        EXPECT_THAT(json, testing::HasSubstr("\"ranks\": " + std::to_string(n)));
        EXPECT_THAT(end.out, testing::HasSubstr("points        1200, "));
        EXPECT_THAT(end.out, testing::HasSubstr(", on " + std::to_string(n) + " ranks\nsearch "));
      }
    }
  }

  TEST(program_over_ranks, leaves_out_the_pairs_that_one_process_leaves_out)
  {
    temporary_folder const folder;
    auto const points = uniform_points(600);
    std::string rows = "x,y,z,type\n", types, pairs;
    for (std::size_t i = 0; i < points.size(); ++i)
    {
      for (auto const& column : points.positions) rows += std::to_string(column[i]) + ",";
      std::string const type = i < 250 ? "a" : i % 3 == 0 ? "b" : "c"; // ranks see others first
      rows += type + "\n";
      types += type + "\n";
      for (std::size_t j = i % 7; j < 600; j += 7)
        pairs += std::to_string(i) + "," + std::to_string(j) + "\n";
    }
    auto const in = (folder / "in.csv").string(), of_types = (folder / "types.txt").string(),
               of_pairs = (folder / "pairs.csv").string(), one = (folder / "one.csv").string(),
               many = (folder / "many.csv").string(), json = (folder / "out.json").string();
    write_text(in, rows);
    write_text(of_types, types);
    write_text(of_pairs, pairs);
    for (std::string const& from : {std::string("file"), of_types})
    {
      auto const search = [&](std::string const& output)
      {
        return std::vector<std::string>{in,
                                        "--radius",
                                        "0.2",
                                        "--types",
                                        from,
                                        "--type-cutoffs",
                                        "c:b=0.15,c:c=0,a:c=0.1",
                                        "--exclude",
                                        of_pairs,
                                        "--output",
                                        output,
                                        "--json",
                                        json};
      };
      expect_success(run_alone(search(one), "search"));
      auto const wanted = in_order(read_csv(one, "i,j"), "half");
      ASSERT_GT(wanted.size(), 500u);
      auto const alone = read_json(json);
      expect_success(run_over(3, search(many), "search"));
      EXPECT_EQ(read_csv(many, "i,j"), wanted);
      auto const over = read_json(json);
      for (auto const* key : {"pairs", "excluded", "types.0", "types.1", "type_cutoffs.1"})
        EXPECT_EQ(over.at(key), alone.at(key)) << key;
    }
    write_text(of_types, types + "a\n");
    expect_the_refusal(
        folder,
        {in, "--radius", "0.2", "--types", of_types, "--type-cutoffs", "a:a=0.1", "--output", many},
        "search");
  }

  TEST(program_over_ranks, searches_fewer_points_than_ranks)
  {
    temporary_folder const folder;
    auto const out = (folder / "out.csv").string();
    write_text(folder / "none.fma", "8 4 3 1\n0 1 0 0 0\n");
    write_text(folder / "two.csv", "0,0,0\n1,0,0\n");
    for (auto const& [name, pairs] : {std::pair("none.fma", "i,j\n"), {"two.csv", "i,j\n0,1\n"}})
    {
      auto const in = (folder / name).string();
      expect_success(run_over(3, {in, "--radius", "2", "--output", out}, "search"));
      EXPECT_EQ(read_text(out), pairs);
    }
  }

  TEST(program_over_ranks, ends_a_search_with_the_message_of_one_process)
  {
    temporary_folder const folder;
    auto const in = (folder / "in.csv").string(), out = (folder / "out.csv").string();
    std::string rows = "x,y,z\n";
    for (int i = 0; i < 1000; ++i) rows += std::to_string(i) + ",2,3\n";
    write_text(in, rows);
    // on the last rank
    auto const far = (folder / "far.csv").string();
    write_text(far, rows + "1e300,2,3\n");
    expect_the_refusal(folder, {far, "--radius", "1.5", "--precision", "f32", "--output", out},
                       "search");
    std::filesystem::create_symlink("/dev/full", folder / "full.csv");
    expect_the_refusal(folder, {in, "--radius", "1.5", "--output", (folder / "full.csv").string()},
                       "search");
    // indices of 64 bits
    auto const end =
        run_over(2, {in, "--radius", "1.5", "--max-memory", "15983", "--output", out}, "search");
    expect_refusal(end, "--max-memory: the half list has 999 pairs in 15984 bytes, more than the "
                        "15983 bytes given");
    EXPECT_EQ(folder.n_files(), 3);
  }
}
