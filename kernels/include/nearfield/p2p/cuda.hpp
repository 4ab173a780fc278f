#pragma once
#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/cuda_job.hpp>
