#pragma once

namespace nearfield
{
  /// The register block of one P2P kernel: a pack of sources fills `registers` registers, and
  /// `targets` broadcast targets meet it before the next one is loaded. A radial interaction may go over
  /// `packs` packs in two passes, roots first; 0 is one pass.
  struct register_block
  {
    int registers;
    int targets;
    int packs;
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
}
