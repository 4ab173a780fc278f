#include <nearfield/p2p/pair_cost.hpp>
#include <nearfield/p2p/simd.hpp>

#include "complains_of.hpp"
#include "io/files.hpp"
#include "own_interactions.hpp"

#include "../../kernels/src/p2p/cost_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <optional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace nearfield
{
  static bool operator==(pair_cost::sample const& a, pair_cost::sample const& b)
  {
    return a.targets == b.targets && a.seconds == b.seconds &&
           a.seconds_per_source == b.seconds_per_source;
  }
}

namespace nearfield::test
{
  namespace
  {
    using testing::ContainsRegex;
    using testing::Optional;
    using origin = pair_cost::origin;
    using samples = std::vector<pair_cost::sample>;

    samples const some{{1, 1e-7, 1. / 3 * 1e-9}, {8, 0, 4e-9}, {100, 3e-7, 5e-8}};

    TEST(pair_cost, is_linear_between_samples_and_beyond_them)
    {
      pair_cost const cost({{2, 10, 1}, {4, 20, 2}, {8, 20, 3}}, origin::table);
      EXPECT_EQ(cost(2, 100), 110);
      EXPECT_EQ(cost(4, 100), 220);
      EXPECT_EQ(cost(3, 100), 165);
      EXPECT_EQ(cost(6, 10), 45);
      EXPECT_EQ(cost(16, 10), 70);
      EXPECT_EQ(cost(1, 100), 110);
      EXPECT_EQ(cost(0, 100), 0);
      EXPECT_EQ(cost(4, 0), 0);
      EXPECT_EQ(cost.rate(4, 90), 4 * 90. / 200);
      // noise may have left the last sample below the one before
      pair_cost const falling({{64, 2, 1}, {128, 1, 1}}, origin::table);
      EXPECT_GE(falling(256, 1), falling(128, 1));
    }

    TEST(pair_cost, of_one_sample_grows_with_the_targets)
    {
      pair_cost const cost({{10, 0, 2}}, origin::table);
      EXPECT_EQ(cost(10, 5), 10);
      EXPECT_EQ(cost(20, 5), 20);
    }

    TEST(pair_cost, refuses_what_is_no_cost)
    {
      double const nan = std::numeric_limits<double>::quiet_NaN();
      EXPECT_THAT([] { pair_cost({}, origin::table); }, complains_of("no samples"));
      for (samples const& wrong :
           {samples{{0, 0, 1}}, samples{{4, 0, 1}, {4, 0, 1}}, samples{{1, -1, 1}},
            samples{{1, nan, 1}}, samples{{1, 0, 0}}, samples{{1, 0, nan}}, samples{{nan, 0, 1}},
            samples{{0.5, 0, 1}}})
        EXPECT_THAT([&] { pair_cost(wrong, origin::table); }, complains_of("sample", "ascending"));
    }

    /// What find() says on stderr.
    std::string complaint(detail::cost_store const& store, std::string const& subject)
    {
      testing::internal::CaptureStderr();
      bool const found = store.find(subject).has_value();
      std::string const said = testing::internal::GetCapturedStderr();
      EXPECT_TRUE(said.empty() || !found);
      return said;
    }

    TEST(cost_store, keeps_costs_for_other_processes)
    {
      temporary_folder const folder;
      detail::cost_store const store(folder / "a" / "b", "some machine");
      EXPECT_EQ(store.find("1/r"), std::nullopt);
      store.keep("1/r", some);
      store.keep("other", {{1, 0, 1}});
      detail::cost_store const another(folder / "a" / "b", "some machine");
      EXPECT_THAT(another.find("1/r"), Optional(some));
      EXPECT_EQ(another.find("none"), std::nullopt);
      EXPECT_EQ(complaint(another, "none"), "");
      EXPECT_EQ(detail::cost_store(folder / "a" / "b", "another").find("1/r"), std::nullopt);
    }

    TEST(cost_store, ignores_what_is_not_its_own_and_replaces_it)
    {
      temporary_folder const folder;
      detail::cost_store const store(folder.path(), "some machine");
      store.keep("1/r", some);
      std::string const good = read_text(store.file());
      auto const line = [&]
      {
        return good.substr(0, good.find('\n') + 1);
      };
      for (std::string const& bad :
           {std::string(), std::string("\n"), good.substr(0, good.size() - 1), "x" + good,
            line() + "1/r:1 2\n", line() + "1/r:1 2 x\n", line() + "1/r:1 2 -3\n",
            line() + "1/r:1 2 nan\n", line() + "1/r\n", line() + "1/r:2 0 1 1 0 1\n",
            std::string(10000, '\0'), good + std::string(1 << 20, '\n')})
      {
        write_text(store.file(), bad);
        EXPECT_THAT(complaint(store, "1/r"), ContainsRegex("^nearfield: .*ignored[^\n]*\n$"))
            << bad;
        store.keep("1/r", some);
        EXPECT_EQ(complaint(store, "1/r"), "");
        EXPECT_THAT(store.find("1/r"), Optional(some));
      }
    }

    TEST(cost_store, does_without_a_folder_that_it_can_write_to)
    {
      temporary_folder const folder;
      write_text(folder / "file", "");
      for (auto const& place : {std::filesystem::path(), folder / "file", folder / "file/below"})
      {
        detail::cost_store const store(place, "some machine");
        testing::internal::CaptureStderr();
        store.keep("1/r", some);
        EXPECT_EQ(store.find("1/r"), std::nullopt);
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
      }
      EXPECT_EQ(folder.n_files(), 1);
    }

    TEST(cost_store, does_without_a_file_that_it_cannot_read)
    {
      temporary_folder const folder;
      detail::cost_store const store(folder.path(), "some machine");
      std::filesystem::create_directory(store.file());
      testing::internal::CaptureStderr();
      EXPECT_EQ(store.find("1/r"), std::nullopt);
      store.keep("1/r", some);
      EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("unreadable"));
      EXPECT_EQ(folder.n_files(), 1);
    }

    TEST(cost_store, does_not_wait_for_a_file_without_an_end)
    {
      temporary_folder const folder;
      detail::cost_store const store(folder.path(), "some machine");
      for (bool const is_pipe : {true, false})
      {
        if (is_pipe)
          ASSERT_EQ(::mkfifo(store.file().c_str(), 0600), 0);
        else
          std::filesystem::create_symlink("/dev/zero", store.file());
        EXPECT_THAT(complaint(store, "1/r"), testing::HasSubstr("not a regular file"));
        store.keep("1/r", some); // in its place
        EXPECT_THAT(store.find("1/r"), Optional(some));
        std::filesystem::remove(store.file());
      }
    }

    TEST(cost_store, serves_processes_that_write_at_once)
    {
      temporary_folder const folder;
      detail::cost_store const store(folder.path(), "some machine");
      std::vector<pid_t> children;
      for (int p = 0; p < 4; ++p)
      {
        pid_t const child = ::fork();
        if (child == 0)
        {
          bool fine = true;
          for (int i = 0; i < 50; ++i)
          {
            store.keep("process " + std::to_string(p), some);
            for (int q = 0; q < 4; ++q)
            {
              auto const found = store.find("process " + std::to_string(q));
              fine = fine && (!found || *found == some);
            }
          }
          ::_exit(fine ? 0 : 1);
        }
        children.push_back(child);
      }
      for (pid_t const child : children)
      {
        int status = -1;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
      }
      EXPECT_EQ(complaint(store, "process 0"), "");
      EXPECT_EQ(folder.n_files(), 1); // nothing temporary is left
    }

    TEST(cost_store, has_the_folder_of_the_environment)
    {
      auto const folder_with = [](char const* cache, char const* xdg, char const* home)
      {
        auto const set = [](char const* name, char const* value)
        {
          value ? ::setenv(name, value, 1) : ::unsetenv(name);
        };
        set("NEARFIELD_CACHE", cache);
        set("XDG_CACHE_HOME", xdg);
        set("HOME", home);
        return detail::cost_folder();
      };
      EXPECT_EQ(folder_with("/n", "/x", "/h"), "/n");
      EXPECT_EQ(folder_with("no", "/x", "/h"), "");
      EXPECT_EQ(folder_with("", "/x", "/h"), "/x/nearfield");
      EXPECT_EQ(folder_with(nullptr, "relative", "/h"), "/h/.cache/nearfield");
      EXPECT_EQ(folder_with(nullptr, nullptr, nullptr), "");
    }

    TEST(cost_store, knows_machines_of_arm_by_their_numbers)
    {
      temporary_folder const folder;
      std::string const arm = "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\n"
                              "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n";
      auto const name_of = [&](std::string const& text)
      {
        write_text(folder / "cpuinfo", text);
        return detail::cpu_name((folder / "cpuinfo").string());
      };
      EXPECT_EQ(name_of(arm), "ARM, implementer 0x41, part 0xd0c");
      EXPECT_EQ(name_of("vendor_id\t: A\nmodel name\t: A CPU: 3 GHz\n" + arm), "A CPU: 3 GHz");
      EXPECT_EQ(name_of("processor\t: 0\n"), "unknown CPU");
    }

    TEST(pair_cost_of, measures_the_machine)
    {
      temporary_folder const folder;
      ::setenv("NEARFIELD_CACHE", folder.path().c_str(), 1);
      auto const cost = pair_cost_of<float>(simd, one_over_r<>{});
      EXPECT_EQ(cost.from(), origin::measured);
      EXPECT_GT(cost.samples().size(), 4u);
      EXPECT_GT(cost(64, 27 * 64), cost(16, 16 * 27));
    }

    // by a clock of its own
    TEST(pair_cost_of, measures_once_and_keeps_what_it_found)
    {
      temporary_folder const folder, copy;
      ::setenv("NEARFIELD_CACHE", folder.path().c_str(), 1);
      int steps = 0;
      auto const clock = [&](boxes const& points, interaction_list const& list, std::size_t)
      {
        ++steps;
        double seconds = 0;
        for (index_type b = 0; b < points.size(); ++b)
          seconds += 1e-7 + 1e-10 * points.count(b) * static_cast<double>(list.source_count(b));
        return seconds;
      };
      one_over_r<> const k;
      one_way const another;
      auto const subject = detail::cost_subject_of<float>(k, true, "a worker");
      auto const first = detail::cost_of<float>(subject, clock);
      EXPECT_EQ(first.from(), origin::measured);
      EXPECT_GT(first(64, 27 * 64), 4 * first(16, 27 * 16));
      EXPECT_GT(std::exchange(steps, 0), 4);
      EXPECT_EQ(detail::cost_of<float>(subject, clock).samples(), first.samples());

      // as another process finds it
      std::filesystem::copy(folder.path(), copy.path());
      ::setenv("NEARFIELD_CACHE", copy.path().c_str(), 1);
      auto const kept = detail::cost_of<float>(subject, clock);
      EXPECT_EQ(kept.from(), origin::kept);
      EXPECT_EQ(kept.samples(), first.samples());
      EXPECT_EQ(steps, 0);
      // another precision, form, worker and interaction is another cost
      EXPECT_EQ(detail::cost_of<double>(subject, clock).from(), origin::measured);
      for (auto const& other : {detail::cost_subject_of<float>(k, false, "a worker"),
                                detail::cost_subject_of<float>(k, true, "another"),
                                detail::cost_subject_of<float>(another, true, "a worker")})
        EXPECT_EQ(detail::cost_of<float>(other, clock).from(), origin::measured);
    }

    TEST(pair_cost_of, takes_its_figures_from_the_first_of_two_that_measure_at_once)
    {
      temporary_folder const folder;
      ::setenv("NEARFIELD_CACHE", folder.path().c_str(), 1);
      one_over_r<> const k;
      auto const subject = detail::cost_subject_of<float>(k, true, "first of two");
      auto const a_second = [](boxes const&, interaction_list const&, std::size_t)
      {
        return 1.;
      };
      std::optional<pair_cost> inner;
      // as a task does that a step waits for
      auto const asks = [&](boxes const&, interaction_list const&, std::size_t)
      {
        if (!inner) std::thread([&] { inner = detail::cost_of<float>(subject, a_second); }).join();
        return 2.;
      };
      auto const outer = detail::cost_of<float>(subject, asks);
      ASSERT_TRUE(inner.has_value());
      EXPECT_EQ(inner->from(), origin::measured);
      EXPECT_EQ(outer.samples(), inner->samples());
    }

    TEST(pair_cost_of, keeps_figures_of_an_interaction_with_any_name)
    {
      temporary_folder const folder, copy;
      auto const cost = [](std::filesystem::path const& place)
      {
        ::setenv("NEARFIELD_CACHE", place.c_str(), 1);
        auto subject = detail::cost_subject_of<float>(one_over_r<>{}, true, "any name");
        subject.name = "of two\nlines: and a colon";
        return detail::cost_of<float>(
            subject, [](boxes const&, interaction_list const&, std::size_t) { return 1.; });
      };
      auto const measured = cost(folder.path());
      std::filesystem::copy(folder.path(), copy.path()); // as another process finds it
      auto const kept = cost(copy.path());
      EXPECT_EQ(kept.from(), origin::kept);
      EXPECT_EQ(kept.samples(), measured.samples());
    }

    TEST(pair_cost_of, leaves_out_the_last_moments_of_a_gpu)
    {
      ::setenv("NEARFIELD_CACHE", "no", 1);
      one_over_r<> const k;
      auto subject = detail::cost_subject_of<float>(k, false, "cuda that drains");
      subject.flops = 1e9; // so that it is filled once
      auto const with_tail = [](boxes const& points, interaction_list const& list, std::size_t)
      {
        double sources = 0;
        for (index_type b = 0; b < points.size(); ++b) sources += list.source_count(b);
        double const full =
            gpu_targets_at_once / (double(points.offsets[points.size()]) / points.size());
        return 1e-6 * sources / points.size() * (points.size() + 0.2 * full);
      };
      auto const cost = detail::cost_of<float>(subject, with_tail);
      for (int const size : {16, 64, 256}) EXPECT_NEAR(cost(size, 1000), 1e-3, 1e-5) << size;
    }

    TEST(pair_cost_of, measures_a_slow_gpu_by_fewer_boxes)
    {
      ::setenv("NEARFIELD_CACHE", "no", 1);
      one_over_r<> const k;
      auto const boxes_measured = [&](char const* gpu, double slower)
      {
        auto const subject = detail::cost_subject_of<float>(k, false, gpu);
        auto const table = detail::table_cost<float>(subject);
        std::uint64_t n = 0;
        int steps = 0;
        auto const clock = [&](boxes const& points, interaction_list const& list, std::size_t)
        {
          // the first one is compared with the table; of small boxes there are many in any case
          if (steps++ > 0 && points.offsets[points.size()] > 50 * points.size()) n += points.size();
          double seconds = 0;
          for (index_type b = 0; b < points.size(); ++b)
            seconds += slower * table(points.count(b), double(list.source_count(b)));
          return seconds;
        };
        EXPECT_EQ(detail::cost_of<float>(subject, clock).from(), origin::measured);
        return n;
      };
      auto const as_in_the_table = boxes_measured("cuda as in the table", 1);
      EXPECT_LT(boxes_measured("cuda that is slow", 100), as_in_the_table / 2);
      EXPECT_EQ(boxes_measured("cuda that is fast", 0.1), as_in_the_table);
    }

    TEST(pair_cost_of, keeps_what_a_leaf_takes_where_smaller_ones_take_none)
    {
      ::setenv("NEARFIELD_CACHE", "no", 1);
      auto subject = detail::cost_subject_of<float>(one_over_r<>{}, false, "large leaves");
      subject.flops = 1e9; // so that four boxes are enough, and all figures exact
      auto const clock = [](boxes const& points, interaction_list const& list, std::size_t)
      {
        bool const are_large = points.offsets[points.size()] > 9 * points.size();
        double seconds = 0;
        for (index_type b = 0; b < points.size(); ++b)
          seconds += (are_large ? 0x1p-22 : 0) + 0x1p-30 * double(list.source_count(b));
        return seconds;
      };
      auto const cost = detail::cost_of<float>(subject, clock);
      for (auto const& sample : cost.samples())
        EXPECT_NEAR(sample.seconds, sample.targets > 9 ? 0x1p-22 : 0, 1e-12) << sample.targets;
    }

    TEST(pair_cost_of, measures_boxes_of_the_size_that_it_is_for)
    {
      ::setenv("NEARFIELD_CACHE", "no", 1);
      auto subject = detail::cost_subject_of<float>(one_over_r<>{}, false, "few boxes");
      subject.flops = 1e9; // as above
      auto const clock = [](boxes const& points, interaction_list const& list, std::size_t)
      {
        double pairs = 0;
        for (index_type b = 0; b < points.size(); ++b)
          pairs += points.count(b) * double(list.source_count(b));
        return 0x1p-30 * pairs;
      };
      auto const cost = detail::cost_of<float>(subject, clock);
      for (auto const& sample : cost.samples())
        EXPECT_NEAR(cost(sample.targets, 27 * sample.targets),
                    0x1p-30 * 27 * sample.targets * sample.targets,
                    0x1p-30 * sample.targets * sample.targets)
            << sample.targets;
    }

    TEST(pair_cost_of, has_no_small_leaves_that_cost_more_than_larger_ones)
    {
      ::setenv("NEARFIELD_CACHE", "no", 1);
      auto subject = detail::cost_subject_of<float>(one_over_r<>{}, false, "noise at first");
      subject.flops = 1e9; // as above
      auto const clock = [](boxes const& points, interaction_list const& list, std::size_t)
      {
        bool const are_single = points.offsets[points.size()] == points.size();
        double sources = 0;
        for (index_type b = 0; b < points.size(); ++b) sources += double(list.source_count(b));
        return (are_single ? 3 : 1) * 0x1p-30 * sources;
      };
      auto const cost = detail::cost_of<float>(subject, clock);
      for (auto const& sample : cost.samples())
        EXPECT_NEAR(sample.seconds_per_source, 0x1p-30, 1e-15) << sample.targets;
    }

    TEST(pair_cost_of, does_not_count_the_time_that_others_have_the_core)
    {
      temporary_folder const folder;
      ::setenv("NEARFIELD_CACHE", folder.path().c_str(), 1);
      one_over_r<> const k;
      auto subject = detail::cost_subject_of<float>(k, false, "busy core");
      subject.flops = 1e9; // so that four boxes are enough
      static constexpr double away = 1e-3;
      detail::p2p_function<float> const kernel =
          [](void const*, detail::p2p_job<float> const&) noexcept
      {
        std::this_thread::sleep_for(std::chrono::duration<double>(away));
      };
      EXPECT_LT(detail::cost_on_core<float>(kernel, subject)(64, 64), away / 4 / 2);
    }

    TEST(pair_cost_of, refuses_a_form_that_an_interaction_has_not)
    {
      EXPECT_THAT([]
                  { static_cast<void>(pair_cost_of<float>(simd, one_way{}, pair_form::mutual)); },
                  complains_of("pair_cost_of", "mutual", "one_sided"));
    }

    TEST(table_cost, is_a_cost_of_every_worker)
    {
      one_over_r<> const k;
      for (char const* worker : {"scalar", "sse2", "avx2", "avx512", "cuda"})
      {
        auto const cost =
            detail::table_cost<float>(detail::cost_subject_of<float>(k, true, worker));
        EXPECT_EQ(cost.from(), origin::table);
        EXPECT_GT(cost.rate(64, 64 * 27), 1e8) << worker;
      }
    }
  }
}
