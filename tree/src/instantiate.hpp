#pragma once

// What tree/ is compiled for, in one place.
#define NEARFIELD_FOR_EACH_REAL_AND_DIM(INSTANTIATE)                                               \
  INSTANTIATE(float, 2)                                                                            \
  INSTANTIATE(float, 3)                                                                            \
  INSTANTIATE(double, 2)                                                                           \
  INSTANTIATE(double, 3)
#define NEARFIELD_FOR_EACH_DIM(INSTANTIATE)                                                        \
  INSTANTIATE(2)                                                                                   \
  INSTANTIATE(3)
