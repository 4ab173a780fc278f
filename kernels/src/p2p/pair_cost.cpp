#include "cost_store.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/p2p/pair_cost.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <time.h>

namespace nearfield
{
  pair_cost::pair_cost(std::vector<sample> samples, origin from)
      : samples_(std::move(samples)), from_(from)
  {
    if (samples_.empty()) throw error("pair_cost: there are no samples; give one or more");
    double before = 0;
    for (sample const& s : samples_)
    {
      bool const ascends = s.targets >= 1 && s.targets > before && std::isfinite(s.targets);
      if (!ascends || !(s.seconds >= 0) || !std::isfinite(s.seconds) ||
          !(s.seconds_per_source > 0) || !std::isfinite(s.seconds_per_source))
        throw error("pair_cost: found a sample of " + detail::number_text(s.targets) +
                    " targets, " + detail::number_text(s.seconds) + " s and " +
                    detail::number_text(s.seconds_per_source) +
                    " s per source; give ascending sizes from 1 on and finite times above 0");
      before = s.targets;
    }
  }

  double pair_cost::operator()(double targets, double sources) const
  {
    if (!(targets > 0) || !(sources > 0)) return 0;
    auto const of = [&](sample const& s)
    {
      return s.seconds + sources * s.seconds_per_source;
    };
    auto after = std::ranges::upper_bound(samples_, targets, {}, &sample::targets);
    if (after == samples_.begin()) return of(samples_.front());
    if (after == samples_.end()) --after;
    if (after == samples_.begin()) return of(samples_.front()) * targets / after->targets;
    sample const &low = *(after - 1), &high = *after;
    double const part = (targets - low.targets) / (high.targets - low.targets);
    // noise must not let the cost of large leaves fall below that of the last sample
    double const slope = of(high) - of(low);
    return of(low) + part * (part > 1 ? std::max(slope, 0.) : slope);
  }
}

namespace nearfield::detail
{
  namespace
  {
    constexpr double seconds_on_core = 1e-4, seconds_on_gpu = 6e-4; // of one step that is timed
    constexpr int most_boxes = 1 << 15; // more would take longer to list than to compute
    constexpr int sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};

    bool is_gpu(cost_subject const& subject)
    {
      return subject.worker == "cuda" || subject.worker.starts_with("cuda ");
    }

    /// Boxes of about `size` points, each of which meets about `sources` points, as a list or a half list of one set has
    /// them: ranges behind the box, as many as a leaf has in a tree.
    struct like_leaves
    {
      std::vector<index_type> offsets{0}, range_offsets{0};
      std::vector<source_range> own, ranges;
      std::size_t n_points = 0;
      double pairs = 0, met = 0; ///< directed pairs, and sources met by all boxes

      like_leaves(cost_subject const& subject, int size, int sources, int n_boxes)
      {
        int const directions = subject.is_mutual ? 2 : 1;
        int const n_ranges = (subject.dim == 3 ? 12 : 6) / directions;
        int const spread = (size + 2) / 4; // as random points have it: some packs are not full
        for (int b = 0; b < n_boxes; ++b)
        {
          // below and above the mean in turn, so that even a few boxes have it
          int const turn = b % (2 * spread + 2), apart = spread - turn / 2;
          offsets.push_back(offsets.back() +
                            static_cast<index_type>(turn % 2 == 0 ? size - apart : size + apart));
        }
        // sources behind the last box belong to no box, which a GPU's mutual form does not know
        index_type const most =
            is_gpu(subject) ? offsets.back() : std::numeric_limits<index_type>::max();
        n_points = offsets.back();
        for (std::size_t b = 0; b + 1 < offsets.size(); ++b)
        {
          index_type begin = offsets[b], end = offsets[b + 1];
          own.push_back({begin, end});
          double const n = end - begin;
          double others = 0;
          int rest = std::max(0, sources - static_cast<int>(n)) / directions;
          for (int r = n_ranges; r > 0; --r)
          {
            auto const length = static_cast<index_type>(rest / r);
            begin = end;
            end = std::min(begin + length, most);
            if (end > begin) ranges.push_back({begin, end});
            others += (end - begin) * double(directions);
            rest -= static_cast<int>(length);
            n_points = std::max<std::size_t>(n_points, end);
            end = std::min(end + 1, most); // the next one is not its neighbour
          }
          range_offsets.push_back(static_cast<index_type>(ranges.size()));
          met += n + others;
          pairs += n * (n + others);
        }
      }
      [[nodiscard]] boxes points() const { return {offsets}; }
      [[nodiscard]] interaction_list list() const { return {own, range_offsets, ranges, {}}; }
    };

    /// A sample from the time of boxes that meet few sources and of others that meet four times as many.
    pair_cost::sample measure(cost_subject const& subject, int size, pair_cost const& guess,
                              timed_step const& time)
    {
      int const many = std::clamp((subject.dim == 3 ? 27 : 9) * size, 256, 4096);
      auto const of_box = [&](int sources, double& met)
      {
        double const enough =
            (is_gpu(subject) ? seconds_on_gpu : seconds_on_core) / guess(size, sources);
        // a GPU is not full with fewer, however long it takes for one
        double const least =
            is_gpu(subject) ? std::min(gpu_targets_at_once / size, double(most_boxes)) : 4;
        int const n = 2 * static_cast<int>(std::clamp(enough, least, double(most_boxes)) / 2);
        like_leaves const leaves(subject, size, sources, n);
        met = leaves.met / n;
        // A GPU drains at the end, which costs what about a fifth of a full load does. Steps are many loads, these few.
        double const idle = is_gpu(subject) ? 0.2 * least : 0;
        return time(leaves.points(), leaves.list(), leaves.n_points) / (n + idle);
      };
      double few_met = 0, many_met = 0;
      double const few_time = of_box(many / 4, few_met), many_time = of_box(many, many_met);
      double const slope = (many_time - few_time) / (many_met - few_met);
      // noise on a shared machine may turn the line by more than its rise
      double const per_source = std::clamp(slope, many_time / many_met / 4, many_time / many_met);
      return {double(size), std::max(0., many_time - many_met * per_source), per_source};
    }

    /// A larger box costs no less than a smaller one, and no more per target: it could be cut. What breaks this is noise.
    void smooth(std::vector<pair_cost::sample>& samples)
    {
      for (std::size_t i = 1; i < samples.size(); ++i)
      {
        double const factor = samples[i].targets / samples[i - 1].targets;
        auto const limit = [&](double& value, double before)
        {
          value = std::min(value, before * factor);
        };
        limit(samples[i].seconds_per_source, samples[i - 1].seconds_per_source);
        if (samples[i - 1].seconds > 0) limit(samples[i].seconds, samples[i - 1].seconds);
      }
      for (std::size_t i = samples.size() - 1; i > 0; --i)
        samples[i - 1].seconds_per_source =
            std::min(samples[i - 1].seconds_per_source, samples[i].seconds_per_source);
    }

    std::string precision_name(std::size_t bytes)
    {
      return bytes == sizeof(float) ? "f32" : "f64";
    }

    template <class T>
    std::string text_of(cost_subject const& subject)
    {
      std::string text = subject.name;
      for (int const number : {subject.dim, subject.n_in, subject.n_out})
        text += " " + std::to_string(number);
      text += " " + number_text(subject.flops);
      text += " " + precision_name(sizeof(T)) + (subject.is_mutual ? " mutual" : " one_sided") +
              (subject.tests_for_zero ? " tested " : " untested ") + subject.worker;
      for (char& c : text)
        if (c == ':' || c == '\n') c = '.';
      return text;
    }

    /// The guess for a GPU as one short step corrects it: another GPU may be a hundred times slower than the table's, and
    /// would measure for as much longer.
    pair_cost corrected(pair_cost const& guess, cost_subject const& subject, timed_step const& time)
    {
      if (!is_gpu(subject)) return guess;
      constexpr int size = 64;
      int const sources = (subject.dim == 3 ? 27 : 9) * size;
      like_leaves const leaves(subject, size, sources, 2048);
      try
      {
        double const n = leaves.points().size();
        double const ratio = time(leaves.points(), leaves.list(), leaves.n_points) /
                             (n * guess(size, leaves.met / n));
        auto samples = guess.samples();
        for (auto& sample : samples) sample.seconds_per_source *= std::max(1., ratio);
        return {std::move(samples), guess.from()};
      }
      catch (error const& failure)
      {
        if (failure.kind() != error_kind::out_of_memory) throw;
        return guess;
      }
    }

    /// Values of points in columns.
    template <class T>
    struct columns
    {
      std::vector<std::vector<T>> memory;
      std::vector<T*> pointers;

      template <class Value>
      columns(int count, std::size_t n, Value const& value)
      {
        for (int c = 0; c < count; ++c)
        {
          auto& column = memory.emplace_back(n);
          for (std::size_t i = 0; i < n; ++i) column[i] = value(c, i);
        }
        for (auto& column : memory) pointers.push_back(column.data());
      }
    };

    /// Of this thread: not while others have its core.
    double processor_seconds()
    {
      timespec now{};
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
      return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
    }

    /// A run of f: the shortest of at least 3, since some find nothing in the cache; or, beside other cores, the mean of
    /// those after the first, since the shortest may have been one beside an idle core.
    double seconds_of_run(bool beside_others, std::function<void()> const& f)
    {
      using clock = std::chrono::steady_clock;
      double best = 0, sum = 0;
      int runs = 0;
      for (auto const first = clock::now();
           runs < 3 || clock::now() - first < std::chrono::microseconds(1200); ++runs)
      {
        double const start = processor_seconds();
        f();
        double const seconds = processor_seconds() - start;
        if (runs == 0 || seconds < best) best = seconds;
        if (runs > 0) sum += seconds;
      }
      return beside_others ? sum / (runs - 1) : best;
    }
  }

  template <class T>
  pair_cost table_cost(cost_subject const& subject)
  {
    // Flops of an interaction per second, with roots counted as one: rough figures of bench/results.
    double const registers = sizeof(T) == sizeof(float) ? 1 : 0.4;
    auto const per_pair = [&](double flops_per_second)
    {
      return std::max(1., subject.flops) / (flops_per_second * (subject.is_mutual ? 1.5 : 1));
    };
    if (is_gpu(subject))
    {
      double const pair = per_pair(2.5e13 * registers);
      return {{{1, 1e-9, pair * 30}, {256, 1e-9, pair * 286}}, pair_cost::origin::table};
    }
    double const speed = subject.worker == "scalar"   ? 2e9
                         : subject.worker == "avx512" ? 8e10 * registers
                         : subject.worker == "avx2"   ? 5e10 * registers
                                                      : 2e10 * registers;
    double const pair = per_pair(speed);
    return {{{1, 5e-8, pair * 7}, {256, 5e-8, pair * 262}}, pair_cost::origin::table};
  }

  template <class T>
  pair_cost cost_of(cost_subject const& subject, timed_step const& time)
  {
    static std::mutex mutex;
    static std::map<std::string, pair_cost> known;
    cost_store const store(cost_folder(), cpu_name());
    std::string const text = text_of<T>(subject), key = store.file().string() + ":" + text;
    // Not held below: measuring may wait for workers whose tasks ask for costs. Of two that measure at once the first
    // figure stays.
    auto const remember = [&](pair_cost const& cost)
    {
      std::lock_guard const lock(mutex);
      return known.emplace(key, cost).first->second;
    };
    {
      std::lock_guard const lock(mutex);
      if (auto const at = known.find(key); at != known.end()) return at->second;
    }
    if (auto samples = store.find(text))
      return remember({std::move(*samples), pair_cost::origin::kept});
    auto const guess = corrected(table_cost<T>(subject), subject, time);
    try
    {
      std::vector<pair_cost::sample> samples;
      for (int const size : sizes) samples.push_back(measure(subject, size, guess, time));
      smooth(samples);
      pair_cost const cost(std::move(samples), pair_cost::origin::measured);
      store.keep(text, cost.samples());
      return remember(cost);
    }
    catch (error const& failure)
    {
      if (failure.kind() != error_kind::out_of_memory) throw;
      return guess;
    }
  }

  template <class T>
  pair_cost cost_on_core(p2p_function<T> kernel, cost_subject const& subject,
                         on_all_cores const& on_all)
  {
    return cost_of<T>(
        subject,
        [&](boxes const& points, interaction_list const& list, std::size_t n)
        {
          // multiples of irrational numbers fill the unit cube
          double const steps[] = {0.8191725134, 0.6710436067, 0.5497004779};
          columns<T> const x(subject.dim + subject.n_parameters, n,
                             [&](int d, std::size_t i)
                             {
                               if (d >= subject.dim) return T(1);
                               double const at = steps[d] * double(i + 1);
                               return static_cast<T>(at - double(std::int64_t(at))); // fmod is slow
                             });
          columns<T> const q(subject.n_in, n, [](int, std::size_t) { return T(1); });
          auto const time = [&]
          {
            columns<T> const out(subject.n_out, n, [](int, std::size_t) { return T(0); });
            p2p_job<T> job;
            static_cast<list_view&>(job) = {points.offsets.data(), list.own.data(),
                                            list.offsets.data(), list.ranges.data(), nullptr};
            job.last_box = points.size();
            job.own_is_self = true;
            job.tests_for_zero = subject.tests_for_zero;
            job.target_x = job.source_x = x.pointers.data();
            job.target_q = job.source_q = q.pointers.data();
            job.target_out = job.source_out = out.pointers.data();
            return seconds_of_run(bool(on_all), [&] { kernel(subject.k, job); });
          };
          // others on the machine are not at work all the time
          return on_all ? std::min(on_all(time), on_all(time)) : time();
        });
  }

#define NEARFIELD_INSTANTIATE(T)                                                                   \
  template pair_cost table_cost<T>(cost_subject const&);                                           \
  template pair_cost cost_of<T>(cost_subject const&, timed_step const&);                           \
  template pair_cost cost_on_core(p2p_function<T>, cost_subject const&, on_all_cores const&);
  NEARFIELD_INSTANTIATE(float)
  NEARFIELD_INSTANTIATE(double)
#undef NEARFIELD_INSTANTIATE
}
