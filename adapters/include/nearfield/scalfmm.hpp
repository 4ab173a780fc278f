#pragma once

/// \file
/// nearfield inside ScalFMM 3, and ScalFMM's matrix kernels inside nearfield. Nothing of ScalFMM is
/// included: its leaves, points and tags are used through their interface. docs/embedding.md shows
/// how.
///
/// The namespace is nearfield::scalfmm3, so that `using namespace nearfield` leaves the name
/// `scalfmm` to ScalFMM.

#include <nearfield/scalfmm/interaction_of.hpp>
#include <nearfield/scalfmm/matrix_kernel.hpp>
#include <nearfield/scalfmm/p2p.hpp>
