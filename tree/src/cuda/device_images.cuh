#pragma once

#include "../images.hpp"
#include "geometry.hpp"
#include "packed_images.cuh"

#include <nearfield/cuda/device_array.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nearfield::detail
{
  /// What an image adds to the coordinates in units, modulo 2^32.
  struct __align__(16) image_move
  {
    std::uint32_t units[3];
    std::uint32_t is_positive; ///< as is_positive() of its counters
  };

  /// What an image with these counters and this shift adds.
  template <int Dim, class Shift>
  NEARFIELD_FN image_move move_of(image_counters<Dim> const& image, Shift const& shift,
                                  double units_per_length)
  {
    image_move move{};
    move.is_positive = is_positive(image);
    for (int a = 0; a < Dim; ++a)
    {
      double const units = std::fmin(std::fmax(shift[a] * units_per_length, -0x1p62), 0x1p62);
      move.units[3 - Dim + a] = static_cast<std::uint32_t>(std::llrint(units));
    }
    return move;
  }

  /// The images that points of a grid meet, in device memory, by number; empty if there is only the box itself.
  template <class T, int Dim>
  class device_images
  {
  public:
    device_images() = default;
    /// Tables of n images, to be filled by a kernel, whose counters are at most `most`.
    device_images(std::size_t n, std::int32_t most, cuda_stream stream)
        : moves_(n, stream, "cuda_cell_list: images"), shifts_(n, stream, "cuda_cell_list: images"),
          counters_(n, stream, "cuda_cell_list: images"),
          packed_(n, stream, "cuda_cell_list: images"), most_(most)
    {}

    /// Makes the tables of a box. Tables of the same box, images and unit are kept.
    void make(cell_frame<Dim> const& frame, image_numbers<Dim> const& numbers,
              double units_per_length, cuda_stream stream)
    {
      key const wanted{frame.vectors, frame.basis, numbers.most, units_per_length};
      if (wanted == made_of_) return;
      *this = {};
      if (numbers.n > 1)
      {
        std::vector<std::array<double, 3>> shifts;
        std::vector<image_counters<Dim>> images;
        make_images(frame, numbers, shifts, images);
        std::vector<image_move> moves(shifts.size());
        std::vector<std::array<T, Dim>> rounded(shifts.size());
        std::vector<std::uint32_t> packed(shifts.size());
        for (std::size_t s = 0; s < shifts.size(); ++s)
        {
          moves[s] = move_of<Dim>(images[s], shifts[s], units_per_length);
          packed[s] = packed_word(images[s]);
          for (int a = 0; a < Dim; ++a) rounded[s][a] = static_cast<T>(shifts[s][a]);
        }
        most_ = static_cast<std::int32_t>(most_counter(frame, numbers));
        moves_ = device_array<image_move>(std::span<image_move const>(moves), stream);
        shifts_ =
            device_array<std::array<T, Dim>>(std::span<std::array<T, Dim> const>(rounded), stream);
        counters_ =
            device_array<image_counters<Dim>>(std::span<image_counters<Dim> const>(images), stream);
        packed_ = device_array<std::uint32_t>(std::span<std::uint32_t const>(packed), stream);
      }
      made_of_ = wanted;
    }

    [[nodiscard]] int size() const { return static_cast<int>(moves_.size()); }
    [[nodiscard]] image_move const* moves() const { return moves_.data(); }
    [[nodiscard]] image_move* moves() { return moves_.data(); }
    /// The shift of each image, in the precision of the points.
    [[nodiscard]] std::array<T, Dim> const* shifts() const { return shifts_.data(); }
    [[nodiscard]] std::array<T, Dim>* shifts() { return shifts_.data(); }
    [[nodiscard]] image_counters<Dim> const* counters() const { return counters_.data(); }
    [[nodiscard]] image_counters<Dim>* counters() { return counters_.data(); }
    /// packed_word() of these.
    [[nodiscard]] std::uint32_t const* packed() const { return packed_.data(); }
    [[nodiscard]] std::uint32_t* packed() { return packed_.data(); }
    /// The largest of the counters, without its sign.
    [[nodiscard]] std::int32_t most() const { return most_; }

  private:
    struct key
    {
      std::array<std::array<double, Dim>, Dim> vectors{}, basis{};
      std::array<int, Dim> most{};
      double units_per_length = 0;

      friend bool operator==(key const&, key const&) = default;
    };

    key made_of_;
    device_array<image_move> moves_;
    device_array<std::array<T, Dim>> shifts_;
    device_array<image_counters<Dim>> counters_;
    device_array<std::uint32_t> packed_;
    std::int32_t most_ = 0;
  };
}
