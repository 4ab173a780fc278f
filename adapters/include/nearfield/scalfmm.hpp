#pragma once

/// \file
/// nearfield inside ScalFMM 3, and ScalFMM's matrix kernels inside nearfield (docs/embedding.md). No
/// header of ScalFMM is included: its leaves, points and tags are used through their interfaces.
///
/// The namespace is nearfield::scalfmm3, so that `scalfmm` still means ScalFMM after `using namespace
/// nearfield`.

#include <nearfield/scalfmm/interaction_of.hpp>
#include <nearfield/scalfmm/matrix_kernel.hpp>
#include <nearfield/scalfmm/p2p.hpp>
