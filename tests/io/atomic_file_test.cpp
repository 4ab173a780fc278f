#include "files.hpp"

#include <nearfield/io/atomic_file.hpp>

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace nearfield;
using namespace nearfield::test;

TEST(atomic_file, appears_when_it_is_complete)
{
  temporary_folder const folder;
  auto const path = folder / "a.txt";
  {
    atomic_file file(path);
    file.write("one ");
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(folder.n_files(), 1); // the temporary is in the same folder
    file.write("two");
    file.commit();
    EXPECT_EQ(read_text(path), "one two");
    EXPECT_THROW(file.write("more"), error);
    EXPECT_THROW(file.commit(), error);
  }
  EXPECT_EQ(read_text(path), "one two");
  EXPECT_EQ(folder.n_files(), 1);
}

TEST(atomic_file, an_older_file_stays_until_the_new_one_is_complete)
{
  temporary_folder const folder;
  auto const path = folder / "a.txt";
  write_text(path, "old");
  {
    atomic_file file(path);
    file.write("half");
  }
  EXPECT_EQ(read_text(path), "old");
  EXPECT_EQ(folder.n_files(), 1);
  atomic_file file(path);
  file.write("new");
  file.commit();
  EXPECT_EQ(read_text(path), "new");
}

TEST(atomic_file, an_exception_leaves_nothing)
{
  temporary_folder const folder;
  try
  {
    atomic_file file(folder / "a.txt");
    file.write("half");
    throw std::runtime_error("in between");
  }
  catch (std::runtime_error const&)
  {}
  EXPECT_EQ(folder.n_files(), 0);
}

TEST(atomic_file, several_at_once_do_not_meet)
{
  temporary_folder const folder;
  atomic_file a(folder / "a"), b(folder / "b"), again(folder / "a");
  a.write("a");
  b.write("b");
  again.write("again");
  a.commit();
  EXPECT_EQ(read_text(folder / "a"), "a");
  again.commit();
  b.commit();
  EXPECT_EQ(read_text(folder / "a"), "again");
  EXPECT_EQ(read_text(folder / "b"), "b");
  EXPECT_EQ(folder.n_files(), 2);
}

TEST(atomic_file, a_name_may_be_as_long_as_names_can_be)
{
  temporary_folder const folder;
  auto const path = folder / std::string(255, 'a');
  atomic_file file(path);
  file.commit();
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(atomic_file, places_that_cannot_be_written_are_named)
{
  temporary_folder const folder;
  for (auto const& path : {folder.path(), folder / "no such folder" / "a.txt", folder / "a" / ""})
    EXPECT_THAT(message_of([&] { atomic_file file(path); }),
                testing::StartsWith(path.string() + ": cannot be written: "));
  EXPECT_THAT(message_of([&] { atomic_file file(folder / std::string(256, 'a')); }),
              testing::HasSubstr("cannot be written: File name too long"));
  EXPECT_EQ(folder.n_files(), 0);
}

TEST(atomic_file, a_full_disk_is_reported)
{
  // a file-size limit of 1 byte stands for the full disk; the child reports by its exit status
  temporary_folder const folder;
  auto const child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0)
  {
    remove_temporaries_on_signal(); // or SIGXFSZ would end the process
    rlimit const limit{1, 1};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto const message = message_of(
        [&]
        {
          atomic_file file(folder / "a.txt");
          file.write("more than one byte");
          file.commit();
        });
    ::_exit(message.find("a.txt: cannot be written: ") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(folder.n_files(), 0);
}

class atomic_file_signal : public testing::TestWithParam<int>
{};

TEST_P(atomic_file_signal, removes_the_temporaries_and_ends_the_process)
{
  temporary_folder const folder;
  auto const child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0)
  {
    remove_temporaries_on_signal();
    atomic_file done(folder / "done");
    done.commit();
    atomic_file a(folder / "a"), b(folder / "b");
    a.write("half");
    ::raise(GetParam());
    ::_exit(0); // not reached
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == GetParam()) << status;
  EXPECT_TRUE(std::filesystem::exists(folder / "done"));
  EXPECT_EQ(folder.n_files(), 1);
}

INSTANTIATE_TEST_SUITE_P(atomic_file, atomic_file_signal,
                         testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU));

TEST(atomic_file, a_signal_that_is_ignored_stays_ignored)
{
  temporary_folder const folder;
  auto const child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0)
  {
    std::signal(SIGHUP, SIG_IGN);
    remove_temporaries_on_signal();
    atomic_file file(folder / "a");
    ::raise(SIGHUP);
    file.commit();
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT_TRUE(std::filesystem::exists(folder / "a"));
}
