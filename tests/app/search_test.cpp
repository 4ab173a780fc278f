// What `nearfield search` finds and writes, against all pairs of points by the definition.
#include "list_files.hpp"
#include "program.hpp"
#include "read_json.hpp"

#include "image_pairs.hpp"
#include "search/brute_force.hpp"

#include <nearfield/io/points.hpp>

#include <set>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  using index_pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

  // Positions on multiples of 1/64, so that distances equal the radius, and some points coincide.
  point_set random_points(int dim, std::size_t n, std::uint64_t seed)
  {
    random_numbers random(seed);
    point_set points{.dim = dim};
    points.positions.assign(static_cast<std::size_t>(dim), std::vector<double>(n));
    for (auto& column : points.positions)
      for (double& value : column) value = static_cast<double>(random.below(64)) / 64;
    return points;
  }

  // Runs on `input`, which is in `folder`, and gives the JSON.
  json_values search(temporary_folder const& folder, std::string const& input,
                     std::string const& output, std::vector<std::string> const& options)
  {
    std::vector<std::string> arguments{"search",   (folder / input).string(),
                                       "--output", (folder / output).string(),
                                       "--json",   (folder / "out.json").string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    expect_success(run_program(arguments, {{"CUDA_VISIBLE_DEVICES", ""}}));
    return read_json(folder / "out.json");
  }

  index_pairs as_pairs(std::vector<std::vector<std::int64_t>> const& rows)
  {
    index_pairs pairs;
    for (auto const& row : rows)
    {
      EXPECT_EQ(row.size(), 2u);
      pairs.emplace_back(row.at(0), row.at(1));
    }
    return pairs;
  }

  template <class T, int Dim>
  index_pairs expected_in(point_set const& from, double radius, std::vector<double> const& lengths)
  {
    points<T, Dim> x;
    std::array<T, Dim> period{};
    for (std::size_t a = 0; a < Dim; ++a)
    {
      x.columns[a].assign(from.positions[a].begin(), from.positions[a].end());
      if (!lengths.empty()) period[a] = static_cast<T>(lengths[a]);
    }
    pair_definition<T, Dim> const definition{x.view(), x.view(), static_cast<T>(radius), period};
    index_pairs pairs;
    for (index_type i = 0; i < x.size(); ++i)
      for (index_type j = 0; j < x.size(); ++j)
        if (i != j && definition.is_in(i, j)) pairs.emplace_back(i, j);
    return pairs;
  }

  // Both ways, in lexicographic order.
  index_pairs expected(point_set const& from, std::string const& precision, double radius,
                       std::vector<double> const& lengths = {})
  {
    bool const is_f32 = precision == "f32";
    if (from.dim == 2)
      return is_f32 ? expected_in<float, 2>(from, radius, lengths)
                    : expected_in<double, 2>(from, radius, lengths);
    return is_f32 ? expected_in<float, 3>(from, radius, lengths)
                  : expected_in<double, 3>(from, radius, lengths);
  }

  index_pairs sorted(index_pairs pairs)
  {
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

  // Every pair as (smaller, larger).
  index_pairs sorted_half(index_pairs pairs)
  {
    for (auto& [i, j] : pairs)
      if (j < i) std::swap(i, j);
    return sorted(pairs);
  }

  std::vector<std::int64_t> counts_of(index_pairs const& full, std::size_t n)
  {
    std::vector<std::int64_t> counts(n);
    for (auto const& [i, j] : full) ++counts[static_cast<std::size_t>(i)];
    return counts;
  }

  index_pairs half_of(index_pairs full)
  {
    std::erase_if(full, [](auto const& pair) { return pair.first > pair.second; });
    return full;
  }

  class every_search : public testing::TestWithParam<std::tuple<int, std::string, std::string>>
  {};
  INSTANTIATE_TEST_SUITE_P(of, every_search,
                           testing::Combine(testing::Values(2, 3), testing::Values("f32", "f64"),
                                            testing::Values("scalar", "simd")));
}

TEST_P(every_search, lists_are_those_of_all_pairs)
{
  auto const& [dim, precision, backend] = GetParam();
  temporary_folder const folder;
  std::size_t const n = 400;
  auto const points = random_points(dim, n, 1);
  write_points(folder / "a.csv", points);
  std::vector<std::string> options{"--radius",    "0.125",   "--dim",     std::to_string(dim),
                                   "--precision", precision, "--backend", backend};
  struct space
  {
    std::vector<double> lengths;
    std::string cells;
  };
  // tests/search has them all with all
  for (auto const& [lengths, cells] :
       {space{{}, ""}, space{{}, "3"}, space{{1, 1, 1}, ""}, space{{1, 0, 1}, "1"},
        space{{0, 1.5, 0}, "3"}, space{{1.25, 1, 2}, "1"}})
  {
    auto const axes = static_cast<std::size_t>(dim);
    std::vector<double> const box(lengths.begin(), lengths.begin() + (lengths.empty() ? 0 : dim));
    auto const full = expected(points, precision, 0.125, box);
    ASSERT_GT(full.size(), n / 2);
    auto arguments = options;
    if (!cells.empty()) arguments.insert(arguments.end(), {"--cells-per-cutoff", cells});
    if (!box.empty())
    {
      std::string text;
      for (std::size_t a = 0; a < axes; ++a) text += (a ? "," : "") + std::to_string(box[a]);
      arguments.insert(arguments.end(), {"--periodic", text});
    }
    SCOPED_TRACE(testing::PrintToString(arguments));
    auto const with = [&](char const* list)
    {
      auto all = arguments;
      all.insert(all.end(), {"--list", list});
      return all;
    };

    auto json = search(folder, "a.csv", "half.csv", with("half"));
    auto const half = as_pairs(read_csv(folder / "half.csv", "i,j"));
    EXPECT_EQ(sorted_half(half), half_of(full));
    auto const counts = counts_of(full, n);
    auto const most = std::to_string(*std::max_element(counts.begin(), counts.end()));
    EXPECT_EQ(json.at("pairs"), std::to_string(full.size() / 2));
    EXPECT_EQ(json.at("max_neighbours"), most);
    EXPECT_DOUBLE_EQ(std::stod(json.at("mean_neighbours")),
                     static_cast<double>(full.size()) / static_cast<double>(n));
    EXPECT_EQ(json.at("backend"), backend);

    json = search(folder, "a.csv", "full.csv", with("full"));
    auto const rows = as_pairs(read_csv(folder / "full.csv", "i,j"));
    EXPECT_EQ(sorted(rows), full);
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(),
                               [](auto const& a, auto const& b) { return a.first < b.first; }));
    EXPECT_EQ(json.at("pairs"), std::to_string(full.size()));

    json = search(folder, "a.csv", "count.npy", with("count"));
    EXPECT_EQ(read_npy(folder / "count.npy", "(400,)"), counts);
    EXPECT_EQ(json.at("pairs"), std::to_string(full.size()));

    json = search(folder, "a.csv", "table.csv", with("table"));
    EXPECT_EQ(json.at("width"), most);
    EXPECT_EQ(json.at("overflow"), "false");
    EXPECT_EQ(json.at("max_neighbours"), most);
    std::string header = "i,count";
    for (int k = 0; k < std::stoi(most); ++k) header += ",j" + std::to_string(k);
    auto const table = read_csv(folder / "table.csv", header);
    ASSERT_EQ(table.size(), n);
    index_pairs in_table;
    for (std::size_t i = 0; i < n; ++i)
    {
      ASSERT_EQ(table[i].size(), 2 + std::stoul(most));
      EXPECT_EQ(table[i][0], static_cast<std::int64_t>(i));
      EXPECT_EQ(table[i][1], counts[i]);
      for (std::size_t k = 2; k < table[i].size() && table[i][k] >= 0; ++k)
        in_table.emplace_back(table[i][0], table[i][k]);
    }
    EXPECT_EQ(in_table, rows);
  }
}

TEST(search, both_formats_have_the_same_list)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", random_points(3, 300, 2));
  for (auto const* list : {"half", "full"})
  {
    std::vector<std::string> const options{"--radius", "0.2", "--list", list};
    search(folder, "a.csv", "a.npy", options);
    search(folder, "a.csv", "b.CSV", options);
    auto const pairs = as_pairs(read_csv(folder / "b.CSV", "i,j"));
    auto const values = read_npy(folder / "a.npy", "(" + std::to_string(pairs.size()) + ", 2)");
    ASSERT_EQ(values.size(), 2 * pairs.size());
    for (std::size_t p = 0; p < pairs.size(); ++p)
      ASSERT_EQ(std::pair(values[2 * p], values[2 * p + 1]), pairs[p]);
  }
  search(folder, "a.csv", "c.csv", {"--radius", "0.2", "--list", "count"});
  search(folder, "a.csv", "c.npy", {"--radius", "0.2", "--list", "count"});
  auto const counts = read_npy(folder / "c.npy", "(300,)");
  auto const rows = read_csv(folder / "c.csv", "i,count");
  ASSERT_EQ(rows.size(), counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    EXPECT_EQ(rows[i], (std::vector<std::int64_t>{static_cast<std::int64_t>(i), counts[i]}));
}

// Four points in a row: those at the ends have fewer neighbours, and one at the cutoff is none.
TEST(search, a_table_of_fewer_places_has_true_counts_and_says_so)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "0,0\n1,0\n2,0\n3.5,0\n");
  std::vector<std::string> const options{"--radius", "2", "--list", "table", "--width", "1"};
  auto const json = search(folder, "a.csv", "b.csv", options);
  EXPECT_EQ(json.at("overflow"), "true");
  EXPECT_EQ(json.at("width"), "1");
  EXPECT_EQ(json.at("max_neighbours"), "2");
  EXPECT_EQ(json.at("pairs"), "6");
  auto const rows = read_csv(folder / "b.csv", "i,count,j0");
  ASSERT_EQ(rows.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(rows[i][1], (std::array{1, 2, 2, 1}[i]));
  EXPECT_EQ(rows[0][2], 1);
  EXPECT_EQ(rows[3][2], 2);
  search(folder, "a.csv", "b.npy", {"--radius", "1.5", "--list", "table", "--width", "3"});
  auto const table = read_npy(folder / "b.npy", "(4, 4)");
  EXPECT_EQ((std::vector<std::int64_t>(table.begin(), table.begin() + 4)),
            (std::vector<std::int64_t>{1, 1, -1, -1}));
  EXPECT_EQ((std::vector<std::int64_t>(table.end() - 4, table.end())),
            (std::vector<std::int64_t>{0, -1, -1, -1}));
}

TEST(search, no_points_one_point_and_equal_points)
{
  temporary_folder const folder;
  write_text(folder / "none.fma", "8 4 3 1\n0 1 0 0 0\n");
  write_text(folder / "one.csv", "1,2,3\n");
  write_text(folder / "equal.csv", "1,2,3\n1,2,3\n1,2,3\n");
  for (auto const& [name, n, pairs] : std::vector<std::tuple<std::string, int, int>>{
           {"none.fma", 0, 0}, {"one.csv", 1, 0}, {"equal.csv", 3, 6}})
    for (auto const* precision : {"f32", "f64"})
      for (auto const* list : {"half", "full", "count", "table"})
        for (auto const* output : {"b.csv", "b.npy"})
        {
          SCOPED_TRACE(name + " " + precision + " " + list + " " + output);
          auto const json = search(folder, name, output,
                                   {"--radius", "0.5", "--precision", precision, "--list", list});
          EXPECT_EQ(json.at("points"), std::to_string(n));
          EXPECT_EQ(json.at("pairs"),
                    std::to_string(list == std::string("half") ? pairs / 2 : pairs));
        }
}

#if NEARFIELD_APP_HAS_STARPU
TEST(search, workers_write_what_one_thread_writes)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", random_points(3, 3000, 5));
  for (auto const* list : {"half", "full", "count", "table"})
    for (auto const* file : {".csv", ".npy"})
      for (auto const* precision : {"f32", "f64"})
      {
        SCOPED_TRACE(std::string(list) + file + " " + precision);
        auto const with = [&](std::vector<std::string> options)
        {
          options.insert(options.end(), {"--radius", "0.125", "--list", list, "--periodic", "1,0,1",
                                         "--precision", precision});
          return options;
        };
        auto const one =
            search(folder, "a.csv", std::string("one") + file, with({"--backend", "simd"}));
        EXPECT_EQ(one.at("workers"), "1");
        auto const all =
            search(folder, "a.csv", std::string("all") + file, with({"--workers", "2"}));
        EXPECT_EQ(all.at("workers"), "2");
        EXPECT_EQ(all.at("backend"), "simd");
        EXPECT_EQ(all.at("pairs"), one.at("pairs"));
        EXPECT_TRUE(read_text(folder / (std::string("all") + file)) ==
                    read_text(folder / (std::string("one") + file)));
      }
}
#endif

TEST(search, charges_are_not_needed_and_do_not_matter)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "9,0,0,0,7\n9,1,0,0,8\n");
  write_text(folder / "b.csv", "0 0 0\n1 0 0\n");
  write_text(folder / "c.fma", "8 4 3 1\n2 2 0 0 0\n0 0 0 1\n1 0 0 2\n");
  std::vector<std::string> const options{"--radius", "1.5"};
  EXPECT_EQ(search(folder, "b.csv", "o.csv", options).at("pairs"), "1");
  EXPECT_EQ(search(folder, "c.fma", "o.csv", options).at("pairs"), "1");
  EXPECT_EQ(
      search(folder, "a.csv", "o.csv", {"--radius", "1.5", "--columns", "_,x,y,z,_"}).at("pairs"),
      "1");
  EXPECT_EQ(read_text(folder / "o.csv"), "i,j\n0,1\n");
}

namespace
{
  /// Lists with images, of points in a box of Dim vectors, against the definition.
  template <class T, int Dim>
  void expect_images(std::string const& precision, std::vector<std::string> const& box,
                     cell<Dim> const& expected_box, double radius)
  {
    temporary_folder const folder;
    auto points = random_points(Dim, 60, 9);
    for (double& x : points.positions[0]) x = 3 * x - 1; // some outside
    write_points(folder / "a.csv", points);
    test::points<T, Dim> x;
    for (std::size_t a = 0; a < Dim; ++a)
      x.columns[a].assign(points.positions[a].begin(), points.positions[a].end());
    image_definition<T, Dim> const definition(expected_box, x, x, static_cast<T>(radius));
    std::vector<std::vector<std::int64_t>> full, half;
    for (auto const& [i, j, image] : definition.full())
    {
      full.push_back({i, j});
      full.back().insert(full.back().end(), image.begin(), image.end());
      if (i < j || (i == j && nearfield::detail::is_positive(image))) half.push_back(full.back());
    }
    std::vector<std::string> options{
        "--radius", std::to_string(radius), "--dim", std::to_string(Dim), "--precision", precision,
        "--list"};
    options.insert(options.end(), box.begin(), box.end());
    auto const with = [&](std::string const& list, bool shifts)
    {
      auto all = options;
      all.insert(std::ranges::find(all, "--list") + 1, list);
      if (shifts) all.push_back("--shifts");
      return all;
    };
    std::string const header = Dim == 2 ? "i,j,sx,sy" : "i,j,sx,sy,sz";
    auto json = search(folder, "a.csv", "full.csv", with("full", true));
    auto rows = read_csv(folder / "full.csv", header);
    std::ranges::sort(rows);
    EXPECT_EQ(rows, full);
    EXPECT_EQ(json.at("pairs"), std::to_string(full.size()));
    EXPECT_EQ(json.at("bytes"), std::to_string(61 * 8 + (4 + 4 * Dim) * full.size()));

    json = search(folder, "a.csv", "half.csv", with("half", true));
    rows = read_csv(folder / "half.csv", header);
    for (auto& row : rows)
      if (row[1] < row[0])
      {
        std::swap(row[0], row[1]);
        for (std::size_t a = 2; a < row.size(); ++a) row[a] = -row[a];
      }
    std::ranges::sort(rows);
    EXPECT_EQ(rows, half);
    EXPECT_EQ(json.at("bytes"), std::to_string((8 + 4 * Dim) * half.size()));

    search(folder, "a.csv", "half.npy", with("half", true));
    EXPECT_EQ(read_npy(folder / "half.npy",
                       "(" + std::to_string(half.size()) + ", " + std::to_string(2 + Dim) + ")")
                  .size(),
              half.size() * (2 + Dim));
    json = search(folder, "a.csv", "count.csv", with("count", false));
    EXPECT_EQ(json.at("pairs"), std::to_string(full.size()));
    EXPECT_GT(full.size(), 100u);
  }
}

TEST(search, takes_any_box_and_says_which_image)
{
  cell<3> oblique{{{{1.25, 0, 0}, {0.5, 0.75, 0}, {0.25, -0.5, 1}}}, {true, true, true}};
  std::vector<std::string> const text{"--cell", "1.25,0,0,0.5,0.75,0,0.25,-0.5,1"};
  expect_images<double, 3>("f64", text, oblique, 0.40625);
  expect_images<float, 3>("f32", text, oblique, 0.40625);
  oblique.periodic[2] = false;
  expect_images<double, 3>("f64", {text[0], text[1], "--pbc", "1,1,0"}, oblique, 0.40625);
  cell<2> const in_plane{{{{1, 0.5}, {0, 0.25}}}, {true, true}};
  expect_images<double, 2>("f64", {"--cell", "1,0.5,0,0.25"}, in_plane, 0.3125);
  // thinner than the radius
  auto const thin = cell<3>::of_lengths(std::array{1., 0.125, 0.});
  expect_images<double, 3>("f64", {"--cell", "1,0.125,0"}, thin, 0.3125);
  expect_images<float, 3>("f32", {"--periodic", "1,0.125,0"}, thin, 0.3125);
}

// As what was an error: points outside, and a period below twice the radius.
TEST(search, takes_points_outside_a_short_period)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "0,0,0\n0,-0.001,0\n0.5,0,0\n");
  search(folder, "a.csv", "b.csv", {"--radius", "0.25", "--periodic", "0.5,1,1", "--shifts"});
  EXPECT_EQ(read_csv(folder / "b.csv", "i,j,sx,sy,sz").size(), 3u);
  search(folder, "a.csv", "b.csv", {"--radius", "0.6", "--periodic", "0,0,0.5"});
  // each with itself once, the first two in 3 images, and the last with each of them
  EXPECT_EQ(read_csv(folder / "b.csv", "i,j").size(), 3u + 3 + 2);
}

TEST(search, json_has_times_and_memory)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", random_points(3, 1000, 3));
  auto const json = search(folder, "a.csv", "b.csv", {"--radius", "0.2", "--periodic", "1,0,1"});
  for (auto const* key : {"seconds.read", "seconds.grid", "seconds.count", "seconds.fill"})
    EXPECT_GT(std::stod(json.at(key)), 0) << key;
  auto const pairs = std::stoull(json.at("pairs"));
  EXPECT_EQ(std::stoull(json.at("bytes")), 8 * pairs);
  EXPECT_GT(std::stoull(json.at("peak_memory")), 8 * pairs);
  EXPECT_EQ(json.at("radius"), "0.2");
  EXPECT_EQ(json.at("list"), "half");
  EXPECT_EQ(json.at("periodic.1"), "0");
}

TEST(search, without_files_it_prints)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "0,0,0\n1,0,0\n");
  auto const end = run_program({"search", (folder / "a.csv").string(), "--radius", "1.5"},
                               {{"CUDA_VISIBLE_DEVICES", ""}});
  expect_success(end);
  EXPECT_THAT(end.out, testing::HasSubstr("pairs         1 (half)"));
  EXPECT_EQ(folder.n_files(), 1);
}

TEST(search, a_limit_that_is_just_enough)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "0,0,0\n1,0,0\n2,0,0\n");
  for (auto const& [list, bytes] : std::vector<std::pair<std::string, int>>{
           {"half", 2 * 8}, {"full", 4 * 8 + 4 * 4}, {"count", 3 * 4}, {"table", 3 * 3 * 4}})
  {
    std::vector<std::string> options{"--radius", "1.5", "--list", list, "--max-memory"};
    options.push_back(std::to_string(bytes));
    EXPECT_EQ(search(folder, "a.csv", "b.csv", options).at("bytes"), options.back());
    options.back() = std::to_string(bytes - 1);
    options.insert(options.begin(), {"search", (folder / "a.csv").string()});
    expect_refusal(run_program(options, {{"CUDA_VISIBLE_DEVICES", ""}}),
                   "--max-memory: the " + list + " list has [24] pairs in " +
                       std::to_string(bytes) + " bytes, more than the " +
                       std::to_string(bytes - 1) + " bytes");
  }
}

TEST(search, an_output_that_does_not_fit_leaves_no_file)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", random_points(3, 5000, 4));
  auto const of = [&](std::string const& name)
  {
    return " '" + (folder / name).string() + "'";
  };
  for (auto const* file : {"b.csv", "b.npy"})
  {
    auto const command = "exec \"$PROGRAM\" search" + of("a.csv") +
                         " --radius 0.1 --backend simd --json" + of("b.json") + " --output" +
                         of(file);
    expect_refusal(run_in_shell("ulimit -f 8; " + command + " > /dev/null"),
                   std::string(file) + ": cannot be written: File too large");
    EXPECT_EQ(folder.n_files(), 1);
    for (auto const* out : {" > /dev/full", " >&-"})
    {
      expect_refusal(run_in_shell(command + out), "standard output: cannot be written");
      EXPECT_EQ(folder.n_files(), 1) << out;
    }
  }
}
