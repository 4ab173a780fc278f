// What a process can still take, from files as the system has them.
#include "machine.hpp"

#include "io/files.hpp"

using namespace nearfield::app;
using namespace nearfield::test;

namespace
{
  class system_files
  {
  public:
    void add(std::string const& path, std::string const& text) const
    {
      std::filesystem::create_directories((folder_ / path).parent_path());
      write_text(folder_ / path, text);
    }
    [[nodiscard]] std::uint64_t available() const { return available_memory(folder_.path()); }

  private:
    temporary_folder folder_;
  };

  std::string const machine = "MemTotal: 2000000 kB\nMemFree: 10 kB\nMemAvailable: 1000000 kB\n";
}

TEST(available_memory, is_that_of_the_machine_without_groups)
{
  system_files const files;
  files.add("proc/meminfo", machine);
  EXPECT_EQ(files.available(), 1024000000u);
  files.add("proc/self/cgroup", "0::/\n");
  EXPECT_EQ(files.available(), 1024000000u);
}

TEST(available_memory, is_what_the_narrowest_group_leaves)
{
  system_files const files;
  files.add("proc/meminfo", machine);
  files.add("proc/self/cgroup", "5:cpu,cpuacct:/x\n0::/a/b\n");
  files.add("sys/fs/cgroup/a/b/memory.max", "max\n");
  files.add("sys/fs/cgroup/a/b/memory.current", "100\n");
  EXPECT_EQ(files.available(), 1024000000u);
  files.add("sys/fs/cgroup/a/memory.max", "50000\n");
  files.add("sys/fs/cgroup/a/memory.current", "30000\n");
  EXPECT_EQ(files.available(), 20000u);
  // cache that can be dropped
  files.add("sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 1000\nactive_file 7\n");
  EXPECT_EQ(files.available(), 21000u);
  // over its limit
  files.add("sys/fs/cgroup/a/b/memory.max", "60\n");
  EXPECT_EQ(files.available(), 0u);
}

TEST(available_memory, is_unlimited_where_nothing_tells)
{
  EXPECT_EQ(system_files().available(), std::numeric_limits<std::uint64_t>::max());
}

TEST(available_memory, of_this_machine)
{
  EXPECT_GT(available_memory(), 0u);
  EXPECT_LT(available_memory(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_GT(peak_memory(), 1u << 20);
}
