#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace bench
{
  namespace
  {
    bool any_failed = false;

    /// As Linux names it.
    std::string cpu_name()
    {
      std::ifstream file("/proc/cpuinfo");
      for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
      return "unknown";
    }

    /// Google Benchmark's console, with readable rows.
    class readable_console : public benchmark::BenchmarkReporter
    {
    public:
      explicit readable_console(benchmark::BenchmarkReporter& console) : console_(console) {}
      bool ReportContext(Context const& context) override
      {
        return console_.ReportContext(context);
      }
      void ReportRuns(std::vector<Run> const& rows) override
      {
        std::vector<Run> shown;
        std::transform(rows.begin(), rows.end(), std::back_inserter(shown), readable);
        console_.ReportRuns(shown);
      }
      void Finalize() override { console_.Finalize(); }

    private:
      benchmark::BenchmarkReporter& console_;
    };
  }

  benchmark::BenchmarkReporter::Run readable(benchmark::BenchmarkReporter::Run row)
  {
    bool const is_percentage = row.run_type == benchmark::BenchmarkReporter::Run::RT_Aggregate &&
                               row.aggregate_unit == benchmark::StatisticUnit::kPercentage;
    for (auto const& [name, counter] : std::exchange(row.counters, {}))
    {
      if (counter.flags & benchmark::Counter::kIsRate)
      {
        bool const is_per_second = name.ends_with("/s");
        row.counters.emplace(is_per_second ? name.substr(0, name.size() - 2) : name,
                             is_per_second ? counter : benchmark::Counter(counter.value));
        continue;
      }
      double const size = std::abs(counter.value);
      if (is_percentage || size == 0 || size >= 0.01)
      {
        row.counters.emplace(name, counter);
        continue;
      }
      std::ostringstream text;
      text.precision(2);
      text << (row.report_label.empty() ? "" : ", ") << name << " " << counter.value;
      row.report_label += text.str();
    }
    return row;
  }

  void fail(benchmark::State& state, std::string const& reason)
  {
    any_failed = true;
    state.SkipWithError(reason.c_str());
  }

  int run_benchmarks()
  {
    benchmark::AddCustomContext("commit", NEARFIELD_COMMIT);
    benchmark::AddCustomContext("cpu", cpu_name());
    benchmark::BenchmarkReporter* const chosen =
        benchmark::CreateDefaultDisplayReporter(); // Google Benchmark's own
    readable_console console(*chosen);
    bool const is_console = dynamic_cast<benchmark::ConsoleReporter*>(chosen) != nullptr;
    benchmark::RunSpecifiedBenchmarks(is_console ? &console : chosen);
    return any_failed ? 1 : 0;
  }
}
