#pragma once

#include "packed_images.cuh"
#include "systems.cuh"

#include <cstdint>
#include <type_traits>

/// \file
/// What writers of pairs make of the images of these.

namespace nearfield::detail
{
  enum class image_form
  {
    none,
    shift, ///< the number of the image in which j is met
    packed ///< S in one word
  };

  /// The column of one form, and what its values are made of. Each pair has a word: the sum of what its image and its two
  /// points add, modulo 2^32. It is the number of the image, or S packed, if no S_a is beyond 10 bits.
  struct image_output
  {
    unsigned short* shift = nullptr;
    std::uint32_t* packed = nullptr;
    /// the packed image of each shift, and by position how often the vectors of the box were subtracted from points, the sum
    /// of w_a << 10 a; null: numbers of images are asked for, or all points were inside
    std::uint32_t const* of_shifts = nullptr;
    std::uint32_t const* of_targets = nullptr;
    std::uint32_t const* of_sources = nullptr;
    // of a batch, by item
    std::uint32_t const* item_system = nullptr;
    device_system const* systems = nullptr;

    [[nodiscard]] __host__ __device__ image_form form() const
    {
      return shift ? image_form::shift : packed ? image_form::packed : image_form::none;
    }

    /// `of_shifts` of the system of an item.
    __device__ std::uint32_t const* of_shifts_around(std::uint32_t item) const
    {
      return systems && of_shifts ? of_shifts + systems[item_system[item]].first_image : of_shifts;
    }

    // the parts of a word
    __device__ static std::uint32_t of_image(std::uint32_t const* of_shifts, std::uint32_t number)
    {
      return of_shifts ? __ldg(of_shifts + number) : number;
    }
    __device__ std::uint32_t of_target(std::uint32_t position) const
    {
      return of_targets ? __ldg(of_targets + position) : 0;
    }
    __device__ std::uint32_t of_source(std::uint32_t position) const
    {
      return of_sources ? 0 - __ldg(of_sources + position) : 0;
    }

    /// Writes the image of a pair from its word.
    template <image_form Form>
    __device__ void put(std::uint64_t at, std::uint32_t word) const
    {
      if constexpr (Form == image_form::shift)
        __stcs(shift + at, static_cast<unsigned short>(word));
      if constexpr (Form == image_form::packed) __stcs(packed + at, word);
    }
    /// Writes those of four pairs; `at` is a multiple of 4.
    template <image_form Form>
    __device__ void put(std::uint64_t at, uint4 words) const
    {
      if constexpr (Form == image_form::shift)
        __stcs(reinterpret_cast<ushort4*>(shift + at),
               make_ushort4(words.x, words.y, words.z, words.w));
      if constexpr (Form == image_form::packed)
        __stcs(reinterpret_cast<uint4*>(packed + at), words);
    }
  };

  /// Calls f with the form as a constant.
  template <class F>
  __host__ __device__ void with_form(image_form form, F const& f)
  {
    if (form == image_form::none) f(std::integral_constant<image_form, image_form::none>());
    if (form == image_form::shift) f(std::integral_constant<image_form, image_form::shift>());
    if (form == image_form::packed) f(std::integral_constant<image_form, image_form::packed>());
  }
}
