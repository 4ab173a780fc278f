#include "staging.hpp"

#include "on_device.hpp"
#include "pinned.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    /// The more bytes a piece has, the fewer launches a transfer waits for: with pieces of 2 MiB 8 threads fill a bus, with
    /// the smallest they reach half of that. A transfer has several pieces for each thread, though.
    constexpr std::size_t least_piece = std::size_t(1) << 19, largest_piece = std::size_t(1) << 21;
    constexpr int most_threads = 8;

    /// Values [first, first + n) of a column.
    struct part
    {
      staged_column const* of;
      std::size_t first, n;

      [[nodiscard]] void* values() const
      {
        return static_cast<char*>(of->values) + first * of->value_bytes;
      }
      [[nodiscard]] std::size_t bytes() const { return n * of->value_bytes; }
    };

    std::vector<part> parts_of(std::span<staged_column const> columns, std::size_t piece_bytes)
    {
      std::vector<part> parts;
      for (staged_column const& column : columns)
      {
        std::size_t const most = piece_bytes / column.value_bytes;
        for (std::size_t first = 0; first < column.size; first += most)
          parts.push_back({&column, first, std::min(most, column.size - first)});
      }
      return parts;
    }

    /// A piece of pinned memory, and when its copy is done.
    struct piece
    {
      piece()
      {
        check_cuda(cudaEventCreateWithFlags(&done, cudaEventDisableTiming),
                   "staging: cudaEventCreate");
      }
      piece(piece const&) = delete;
      piece& operator=(piece const&) = delete;
      ~piece()
      {
        cudaEventDestroy(done);
        static_cast<void>(cudaGetLastError());
      }
      void wait() const { check_cuda(cudaEventSynchronize(done), "staging: copy"); }

      char* memory = nullptr;
      cudaEvent_t done = nullptr;
    };

    /// When something has thrown, copies may be on their way.
    void settle(cuda_stream stream) noexcept
    {
      static_cast<void>(cudaStreamSynchronize(stream));
      static_cast<void>(cudaGetLastError());
    }

    /// What one thread copies with: a stream, and two pieces in turn.
    class lane
    {
    public:
      lane(lane const&) = delete;
      lane& operator=(lane const&) = delete;
      lane()
      {
        // not ordered with the default stream: upload() and download() wait for that
        check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                   "staging: cudaStreamCreate");
      }
      ~lane()
      {
        cudaStreamDestroy(stream_);
        static_cast<void>(cudaGetLastError());
      }

      /// Two pieces follow one another there. No copy is under way.
      void use(char* memory, std::size_t piece_bytes)
      {
        for (piece& each : pieces_) each.memory = std::exchange(memory, memory + piece_bytes);
      }

      /// The parts that `next` deals out, until there are none.
      template <class Next>
      void upload(Next next)
      {
        for (int turn = 0; part const* const p = next(); turn ^= 1)
        {
          piece& here = pieces_[turn];
          here.wait();
          p->of->host(here.memory, p->first, p->n);
          copy(p->values(), here.memory, p->bytes(), here);
        }
        synchronize(stream_);
      }
      template <class Next>
      void download(Next next)
      {
        part const* before = nullptr;
        int turn = 0;
        do {
          part const* const p = next();
          if (p) copy(pieces_[turn].memory, p->values(), p->bytes(), pieces_[turn]);
          turn ^= 1; // the piece of the part before
          if (before)
          {
            pieces_[turn].wait();
            before->of->host(pieces_[turn].memory, before->first, before->n);
          }
          before = p;
        } while (before);
      }
      [[nodiscard]] cuda_stream stream() const { return stream_; }

    private:
      void copy(void* to, void const* from, std::size_t bytes, piece const& through)
      {
        check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_),
                   "staging: cudaMemcpyAsync");
        check_cuda(cudaEventRecord(through.done, stream_), "staging: cudaEventRecord");
      }

      piece pieces_[2];
      cudaStream_t stream_ = nullptr;
    };

    class lanes final : public staging
    {
    public:
      explicit lanes(int n)
      {
        check_cuda(cudaGetDevice(&device_), "cudaGetDevice");
        for (int i = 0; i < n; ++i) all_.push_back(std::make_unique<lane>());
        make_room(least_piece);
      }

      void upload(executor& on, std::span<staged_column const> columns, cuda_stream stream) override
      {
        run(on, columns, stream, false, [](lane& with, auto next) { with.upload(next); });
      }
      void download(executor& on, std::span<staged_column const> columns,
                    cuda_stream stream) override
      {
        run(on, columns, stream, true, [](lane& with, auto next) { with.download(next); });
      }

    private:
      /// f(lane, next) on each thread, where next() deals out the parts of the columns that go through pieces.
      template <class F>
      void run(executor& on, std::span<staged_column const> all, cuda_stream stream,
               bool is_to_host, F const& f)
      {
        synchronize(stream);
        try
        {
          std::vector<staged_column> columns;
          for (staged_column const& column : all)
            if (!start_if_pinned(column, stream, is_to_host)) columns.push_back(column);
          run_lanes(on, columns, f);
          if (columns.size() < all.size()) synchronize(stream);
        }
        catch (...)
        {
          for (auto const& each : all_) settle(each->stream());
          settle(stream);
          throw;
        }
      }

      /// Starts the copy of a column that the host has pinned; returns whether it has.
      static bool start_if_pinned(staged_column const& column, cuda_stream stream, bool is_to_host)
      {
        std::size_t const bytes = column.size * column.value_bytes;
        if (bytes == 0 || !column.pinnable || !is_pinned(column.pinnable, bytes)) return false;
        void *from = column.pinnable, *to = column.values;
        if (is_to_host) std::swap(from, to);
        cudaError_t const result = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
        if (result == cudaErrorInvalidValue) // some of its middle is not pinned
        {
          static_cast<void>(cudaGetLastError());
          return false;
        }
        check_cuda(result, "staging: cudaMemcpyAsync");
        return true;
      }

      template <class F>
      void run_lanes(executor& on, std::span<staged_column const> columns, F const& f)
      {
        if (columns.empty()) return;
        std::size_t bytes = 0;
        for (staged_column const& column : columns) bytes += column.size * column.value_bytes;
        std::size_t const piece_bytes =
            make_room(std::clamp(std::bit_floor(bytes / (4 * all_.size())), least_piece, most_));
        auto const parts = parts_of(columns, piece_bytes);
        std::atomic<std::size_t> n_dealt{0};
        auto const next = [&]() -> part const*
        {
          std::size_t const at = n_dealt++;
          return at < parts.size() ? &parts[at] : nullptr;
        };
        auto const one = [&](int i)
        {
          check_cuda(cudaSetDevice(device_), "cudaSetDevice"); // it belongs to the thread
          f(*all_[static_cast<std::size_t>(i)], next);
        };
        // a thread takes longer to start than to copy a piece
        auto const n = static_cast<int>(std::min(
            {all_.size(), 1 + bytes / piece_bytes, static_cast<std::size_t>(on.workers())}));
        if (n > 1) return on.run(n, one);
        on_device const here(device_);
        one(0);
      }

      /// Returns the bytes that a piece may have: those wanted, or less where there is no memory for them.
      std::size_t make_room(std::size_t wanted)
      {
        if (wanted <= room_) return wanted;
        try
        {
          memory_.reset(static_cast<char*>(
              pinned_allocate(2 * wanted * all_.size(), "staging: pinned memory")));
        }
        catch (error const& e)
        {
          if (room_ == 0 || e.kind() != error_kind::out_of_memory) throw;
          return most_ = room_;
        }
        room_ = wanted;
        for (std::size_t i = 0; i < all_.size(); ++i)
          all_[i]->use(memory_.get() + 2 * room_ * i, room_);
        return room_;
      }

      std::unique_ptr<char, void (*)(void*) noexcept> memory_{nullptr, pinned_free};
      std::size_t room_ = 0;                   ///< for the bytes of a piece
      std::size_t most_ = largest_piece;       ///< less, once there was no memory for them
      std::vector<std::unique_ptr<lane>> all_; // ends before the memory
      int device_ = 0;
    };
  }

  std::unique_ptr<staging> staging::make(int threads)
  {
    return std::make_unique<lanes>(std::clamp(threads, 1, most_threads));
  }
}
