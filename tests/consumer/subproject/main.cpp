// The same program.
#include "../project/main.cpp"
