#include "files.hpp"

#include "io/src/atomic_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <thread>

#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nearfield;
using nearfield::detail::atomic_file;
using namespace nearfield::test;

namespace
{
  // The wait status of a child process that runs `f`; it ends with 0 where f returns true.
  template <class F>
  int status_of_child(F const& f)
  {
    auto const child = ::fork();
    if (child == 0) try
      {
        ::_exit(f() ? 0 : 1);
      }
      catch (...)
      {
        ::_exit(2);
      }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }

  template <class F>
  void expect_of_child(F const& f)
  {
    auto const status = status_of_child(f);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }

  // Stands for a file system without O_TMPFILE, in this process, for good: the system call that
  // asks for it is answered EOPNOTSUPP.
  bool refuse_nameless_files()
  {
    sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog const program{std::size(steps), steps};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

  bool has_nameless_files(temporary_folder const& folder)
  {
    auto const descriptor = ::open(folder.path().c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (descriptor >= 0) ::close(descriptor);
    return descriptor >= 0;
  }

  unsigned mode_of(std::filesystem::path const& path)
  {
    return static_cast<unsigned>(std::filesystem::status(path).permissions());
  }

  void write_atomically(std::filesystem::path const& path, std::string const& text)
  {
    atomic_file file(path);
    file.write(text);
    file.commit();
  }
}

TEST(atomic_file, appears_when_it_is_complete)
{
  temporary_folder const folder;
  auto const path = folder / "a.txt";
  {
    atomic_file file(path);
    file.write("one ");
    EXPECT_FALSE(std::filesystem::exists(path));
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

TEST(atomic_file, a_folder_that_is_gone_is_named)
{
  temporary_folder const folder;
  expect_of_child(
      [&]
      {
        std::filesystem::create_directory(folder / "gone");
        std::filesystem::current_path(folder / "gone");
        std::filesystem::remove(folder / "gone");
        return message_of([] { atomic_file file("a.txt"); }) ==
               "a.txt: cannot be written: No such file or directory";
      });
}

TEST(atomic_file, a_link_stays_and_what_it_names_is_written)
{
  temporary_folder const folder;
  std::filesystem::create_directory(folder / "below");
  std::filesystem::create_symlink("below/link", folder / "link");
  std::filesystem::create_symlink("file", folder / "below" / "link");
  for (auto const* text : {"new", "again"}) // the link dangles, and then does not
  {
    write_atomically(folder / "link", text);
    EXPECT_EQ(read_text(folder / "below" / "file"), text);
    EXPECT_EQ(std::filesystem::read_symlink(folder / "link"), "below/link");
    EXPECT_EQ(std::filesystem::read_symlink(folder / "below" / "link"), "file");
  }

  for (auto const* to : {"nowhere/file", "below/", "loop"})
  {
    std::filesystem::create_symlink(to, folder / "loop");
    EXPECT_THAT(message_of([&] { atomic_file file(folder / "loop"); }),
                testing::StartsWith((folder / "loop").string() + ": cannot be written: "));
    std::filesystem::remove(folder / "loop");
  }
}

TEST(atomic_file, keeps_the_mode_of_the_file_that_it_replaces)
{
  temporary_folder const folder;
  auto const umask_before = ::umask(027);
  write_atomically(folder / "new", "");
  EXPECT_EQ(mode_of(folder / "new"), 0640u);
  for (unsigned const mode : {0600u, 0666u, 0440u})
  {
    std::filesystem::permissions(folder / "new", std::filesystem::perms{mode});
    write_atomically(folder / "new", "again");
    EXPECT_EQ(mode_of(folder / "new"), mode);
    EXPECT_EQ(read_text(folder / "new"), "again");
  }
  ::umask(umask_before);
}

// What one group may read, the group of whoever writes next may not.
TEST(atomic_file, of_another_user_keeps_its_group_or_loses_its_permissions)
{
  if (::geteuid() != 0) GTEST_SKIP() << "needs files of another user, which root alone can make";
  temporary_folder const folder;
  auto const path = folder / "a";
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  gid_t const own = 20001, shared = 20002, foreign = 20003;
  for (gid_t const group : {shared, foreign})
    for (unsigned const mode : {0660u, 0664u})
    {
      write_text(path, "old");
      ASSERT_EQ(::chmod(path.c_str(), mode), 0);
      if (::chown(path.c_str(), 20001, group) != 0) GTEST_SKIP() << "a container without users";
      expect_of_child(
          [&]
          {
            // a name without folders, since those above may be closed to this user
            if (::chdir(folder.path().c_str()) != 0 || ::setgroups(1, &shared) != 0 ||
                ::setgid(own) != 0 || ::setuid(20002) != 0)
              return false;
            write_atomically("a", "new");
            return true;
          });
      EXPECT_EQ(read_text(path), "new");
      struct stat found = {};
      ASSERT_EQ(::stat(path.c_str(), &found), 0);
      EXPECT_EQ(found.st_uid, 20002u);
      EXPECT_EQ(found.st_gid, group == shared ? shared : own);
      EXPECT_EQ(mode_of(path), group == shared ? mode : mode == 0660u ? 0600u : 0644u);
      std::filesystem::remove(path);
    }
}

TEST(atomic_file, what_is_no_file_is_written_in_place)
{
  temporary_folder const folder;
  auto const pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  {
    atomic_file const probe(pipe); // a question whether it can be written: no reader is waited for
  }
  std::string text;
  {
    std::jthread const reader([&] { text = read_text(pipe); });
    atomic_file file(pipe);
    file.write("one ");
    file.write("two");
    file.commit();
    EXPECT_THROW(file.write("more"), error);
  }
  EXPECT_EQ(text, "one two");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(folder.n_files(), 1);
  EXPECT_EQ(message_of([] { write_atomically("/dev/full", "text"); }),
            "/dev/full: cannot be written: No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(atomic_file, an_open_descriptor_is_written_where_it_stands)
{
  temporary_folder const folder;
  auto const path = folder / "a";
  auto const descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  auto const name = "/dev/fd/" + std::to_string(descriptor);
  EXPECT_EQ(::write(descriptor, "one ", 4), 4);
  write_atomically(name, "two ");
  write_atomically("/proc/self/fd/" + std::to_string(descriptor), "three ");
  std::filesystem::create_symlink(name, folder / "link");
  write_atomically(folder / "link", "four ");
  EXPECT_EQ(::write(descriptor, "five", 4), 4);
  EXPECT_EQ(read_text(path), "one two three four five");
  ::close(descriptor);
  EXPECT_EQ(message_of([&] { atomic_file file(name); }),
            name + ": cannot be written: Bad file descriptor");
}

TEST(atomic_file, a_full_disk_is_reported)
{
  // a file-size limit of 1 byte stands for the full disk
  temporary_folder const folder;
  expect_of_child(
      [&]
      {
        std::signal(SIGXFSZ, SIG_IGN); // or it would end the process
        rlimit const limit{1, 1};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        return message_of([&] { write_atomically(folder / "a.txt", "more than one byte"); })
                   .find("a.txt: cannot be written: ") != std::string::npos;
      });
  EXPECT_EQ(folder.n_files(), 0);
}

TEST(atomic_file, a_process_that_is_killed_leaves_nothing)
{
  temporary_folder const folder;
  if (!has_nameless_files(folder)) GTEST_SKIP() << "this file system has no O_TMPFILE";
  auto const status = status_of_child(
      [&]
      {
        atomic_file file(folder / "a.txt");
        file.write("half");
        return ::raise(SIGKILL) == 0;
      });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_EQ(folder.n_files(), 0);
}

TEST(atomic_file, where_every_file_has_a_name_a_temporary_one_does)
{
  temporary_folder const folder;
  if (status_of_child(refuse_nameless_files) != 0) GTEST_SKIP() << "no system-call filters here";
  auto const path = folder / "a.txt";
  write_text(path, "old");
  std::filesystem::permissions(path, std::filesystem::perms{0600});
  expect_of_child(
      [&]
      {
        refuse_nameless_files();
        {
          atomic_file file(path);
          file.write("half");
          if (folder.n_files() != 2) return false;
        }
        if (folder.n_files() != 1 || read_text(path) != "old") return false;
        atomic_file file(path);
        file.write("new");
        file.commit();
        return true;
      });
  EXPECT_EQ(read_text(path), "new");
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_EQ(folder.n_files(), 1);
}
