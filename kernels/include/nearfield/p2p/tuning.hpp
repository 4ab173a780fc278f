#pragma once

namespace nearfield
{
  /// The register block of one P2P kernel: a pack of sources fills `registers` registers, and
  /// `targets` broadcast targets meet it before the next one is loaded. A radial interaction may go over
  /// `packs` packs in two passes, roots first; 0 is one pass.
  struct register_block
  {
    int registers; ///< of sources, at a time
    int targets;   ///< that meet them
    int packs;     ///< of a pass, or 0
  };

  /// Sources of a box are copied into panels of this many bytes, which stay in the first-level cache
  /// (32 KiB on Zen 3, 48 KiB on Zen 5) while all targets of the box pass over them.
  inline constexpr int panel_bytes = 24 * 1024;

  /// A lane adds this many terms before its sum goes to the output: of 20000 floats in a row one by one
  /// 4e-6 are lost, of 256 at a time 4e-7.
  inline constexpr int terms_in_a_row = 256;

  /// The register block for a kernel with n_out outputs, by bytes of a register and of a real: the
  /// fastest of 1, 2 and 4 targets, 1 and 2 registers, 0, 8 and 16 packs on a Zen 5 core, g++ 12. AVX2
  /// and SSE2 seed two registers of doubles at once, so those come in pairs. Two passes pay where the
  /// map takes more than the root does.
  constexpr register_block block_of(int register_bytes, int real_bytes, int n_out, bool mutual)
  {
    bool const wide = register_bytes == 64;
    int const registers = real_bytes == 8 && !wide ? 2 : 1;
    if (n_out == 1) return {registers, registers == 2 ? 2 : 4, 0};
    return {registers, !mutual && (wide || registers == 2) ? 4 : 2, 8};
  }

  // The CUDA kernels, measured on an H100.

  /// Threads of a block of the one-sided kernel. Items of at least gather_wide_targets are computed by
  /// all of them, items of at least gather_medium_targets by half of them, others by a warp.
  inline constexpr int gather_threads = 128;
  inline constexpr int gather_wide_targets = 64;   ///< an item of so many takes a block
  inline constexpr int gather_medium_targets = 17; ///< an item of so many takes half of one
  /// A thread holds so many targets; 2 in a warp, and in half a block up to gather_few_targets.
  inline constexpr int gather_most_per_thread = 4;
  inline constexpr int gather_few_targets = 20; ///< see there
  /// The tile of a team, in bytes for each of its threads.
  inline constexpr int gather_tile_bytes = 128;
  /// Blocks that must fit on a multiprocessor, which limits the registers of a thread; 0 leaves them to the
  /// compiler. With one output 8 are worth 10 %; with more, a limit costs 5 %.
  constexpr int gather_blocks_of(int real_bytes, int n_out)
  {
    return real_bytes == 4 && n_out == 1 ? 8 : 0;
  }
  /// Threads of a block that computes a part of one box, and the targets that each of them holds.
  struct gather_block
  {
    int threads; ///< of the block
    int targets; ///< that each of them holds
  };
  /// That block, by the bytes of a real.
  constexpr gather_block gather_block_of_box(int real_bytes, int n_out)
  {
    if (real_bytes == 4) return {n_out == 1 ? 256 : gather_threads, 4};
    return {gather_threads, n_out <= 4 ? 8 : 4};
  }
  /// A box is cut into items of at most so many targets; a single large one into larger items, where there
  /// are enough of those, or into smaller ones.
  inline constexpr int gather_targets = 128;
  inline constexpr int gather_most_targets = 512; ///< of the larger items of a single box
  inline constexpr int gather_least_targets = 64; ///< of the smaller ones

  /// Threads of a block of the mutual kernel.
  inline constexpr int mutual_threads = 128;
  inline constexpr int mutual_targets_of_item = 128; ///< the most that a warp holds

  /// How far the loop of a warp over the points of its own box is unrolled. An interaction that is not radial
  /// takes a function of its own for each pair, such as a logarithm: many instructions, which unrolled cost
  /// log_r a sixth of its speed. (A Gaussian in double wins 4 % by 2.)
  constexpr int mutual_own_unroll(int real_bytes, int n_out, bool radial)
  {
    if (!radial) return 1;
    return real_bytes == 4 && n_out == 1 ? 4 : 2;
  }

  /// The sources that a warp takes between two butterflies: what they receive stands in registers. Large
  /// boxes keep more targets in each lane, and so pay for more sources.
  constexpr int mutual_block_of(int real_bytes, int n_out, bool large_box)
  {
    int const few = n_out == 1 ? (real_bytes == 4 ? 16 : 8) : (real_bytes == 4 ? 8 : 4);
    return large_box && (n_out == 1 || real_bytes == 8) ? 2 * few : few;
  }
}
