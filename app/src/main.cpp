#include "commands.hpp"

int main(int argc, char** argv)
{
  return nearfield::app::main(argc, argv);
}
