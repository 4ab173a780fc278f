#pragma once

#include <nearfield/core/parallel.hpp>
