#include "../runtime.hpp"
