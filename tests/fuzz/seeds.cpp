// fuzz_seeds FORMAT FOLDER: writes a few good files of the format, for a fuzzer to start from.

#include <nearfield/io/points.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace
{
  using namespace nearfield;

  template <class... T>
  std::string bytes(T... values)
  {
    std::string out;
    (out.append(reinterpret_cast<char const*>(&values), sizeof values), ...);
    return out;
  }

  std::vector<std::string> fma_seeds()
  {
    point_set const plane{.dim = 2, .positions = {{0, 0.1}, {1, 2}}, .inputs = {{1, -1}}};
    point_set const space{
        .positions = {{1e-3}, {2}, {3}}, .inputs = {{1}, {2}}, .outputs = {{3}, {4}}};
    std::vector<std::string> seeds{
        "8 4\n2 2 0 0 0\n1 0 -1 0.5\n0 1 0 -0.5\n", "4 8 3 1\n0 1 0 0 0\n",
        bytes(8u, 4u, std::int64_t{1}, 1.5, 0., 0., 0., 1., 2., 3., 4.),
        bytes(4u, 4u, std::int64_t{1}, 1.5f, 0.f, 0.f, 0.f, 1.f, 2.f, 3.f, 4.f)};
    for (auto const precision : {write_options::f32, write_options::f64})
      for (auto const* points : {&plane, &space})
      {
        seeds.push_back(format_fma(*points, {precision}));
        seeds.push_back(format_bfma(*points, {precision}));
      }
    return seeds;
  }

  std::vector<std::string> npy_seeds()
  {
    auto const file = [](char options, std::string const& dictionary, std::string const& values)
    {
      std::string const text = dictionary + "  \n";
      return options + std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' +
             text + values;
    };
    return {
        file('0', "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3), }", bytes(1., 2., 3.)),
        file('\x10', "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 4)}",
             bytes(1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f)),
        file('0',
             "{'descr': [('pos', '<f4', (2,)), ('', '|V4'), ('q', '>i4')], 'fortran_order': False, "
             "'shape': (1L,)}",
             bytes(1.f, 2.f, 0, 4)),
        file('0', "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2), }", bytes(0x3c00c100)),
        file('2', "{'shape':(0,3),'fortran_order':False,'descr':\"<f8\"}", "")};
  }

  std::vector<std::string> seeds_of(std::string const& format)
  {
    if (format == "fma") return fma_seeds();
    if (format == "npy") return npy_seeds();
    if (format == "pqr")
      return {
          "0REMARK\nATOM      1  N   NTE     1      67.253  25.892  -0.145  0.185 1.824\nEND\n",
          "0CRYST1 9 9 9 90 90 60\nHETATM 2 O HOH D 52A 1 2 3 -0.8 1.6\nHETATM 3 O HOH D-12 1 2 3 "
          "1e-3 1.6\n",
          "1MODEL 1\nATOM 1 N A 1 1 2 3 .5 1\nENDMDL\nMODEL 2\nATOM 1 N A 1 4 2 3 .5 1\nENDMDL\n",
          "0ATOM      2 O    LYS A   7    -145.751-100.406-119.252 -0.4800 1.7000\n"};
    if (format == "lammps")
      return {"0title\n\n1 atoms\n-1 1 xlo xhi\n\nMasses\n\n1 2.0\n\nAtoms # full\n\n"
              "1 1 1 -.5 1 2 3 0 0 1 # O\n\nVelocities\n\n1 0 0 0\n",
              "Attl\n2 atoms\nAtoms\n\n1 1 1 2 3\n2 1 1 2 3\n",
              "bt\n1 atoms\nAtoms\n1 1 .5 1 2 3\n",
              "0t\n1 atoms\n0 1 xlo xhi\n1 0 0 xy xz yz\nAtom Type Labels\n1 O\nMasses\nO 16\n"
              "Atoms # id mol type q x y z\n1 1 O .5 1 2 3 0 1 0\nVelocities\n1 1 2 3\n"};
    return {
        "0x,y,z,q\n1,2,3,4\n5,6,7,8\n",
        "01 2 3\n4 5 6\n",
        "2# x y q1 q2\n1;2;3;4\n",
        "4x y phi gx gy\n1 2 inf 4 5\n",
        "\x10"
        "1,H,2,3,4\n",
        "\x10"
        "a,H,b,c,d\r1.0D+00,H,2,3,4\r",
        "0x,y,_,q\n-1e-3,+2.5E4,O,0.1\n",
        "0\"\",\"X [nm]\",\"Y [nm]\",\"Charge\"\n\"1\",\"2\",3,4\n",
        "0//X Y Z R\n1\n1 2 3 255\n",
        "0% mass x y momentum_x momentum_y in SI\n1 2 3 4 5\n",
        "0a\tx\ty\t\tq\n1\t2\t3\t\t4\n",
        " 1\nLattice=\"1 0 0 0 1 0 0 0 1\" pbc=\"T T F\" properties=species:S:1:pos:R:3:masses:R:1:"
        "momenta:R:3\nH 1 2 3 4 5 6 7\n",
        "`1\n\nH 1 2 3\n1\n\n6 1 2 3\n"};
  }
}

int main(int argc, char** argv)
{
  if (argc != 3)
  {
    std::fprintf(stderr, "fuzz_seeds FORMAT FOLDER\n");
    return 2;
  }
  int n = 0;
  for (auto const& seed : seeds_of(argv[1]))
  {
    std::ofstream file(std::string(argv[2]) + "/seed_" + std::to_string(n++), std::ios::binary);
    if (!(file << seed).flush()) return 2;
  }
}
