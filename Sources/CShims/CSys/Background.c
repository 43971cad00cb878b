#define _GNU_SOURCE
#include "CSys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

// Work beside the music: programs and threads of low priority, and folders that are watched.

extern char **environ;

void csys_give_way(void) { setpriority(PRIO_PROCESS, 0, 10); }

void csys_background(void) {
  // For Linux, a "process" of these two calls is a thread. What is not granted is no harm.
  setpriority(PRIO_PROCESS, 0, 19);
  syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

int csys_limit_memory(uint64_t bytes) {
  struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
  return setrlimit(RLIMIT_AS, &limit) < 0 ? -errno : 0;
}

int csys_peer_is_gone(void) {
  struct pollfd peer = {.fd = 0, .events = POLLRDHUP};
  return poll(&peer, 1, 0) > 0;
}

static void look_at_peer(int signal) {
  (void)signal;
  int error = errno;
  if (csys_peer_is_gone()) _exit(0);
  errno = error;
}

void csys_end_with_peer(void) {
  // Not PR_SET_PDEATHSIG: it comes when the thread ends that has started this process, and queues of Dispatch change theirs.
  struct sigaction action = {.sa_handler = look_at_peer, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGIO, &action, 0) < 0 || fcntl(0, F_SETOWN, getpid()) < 0) return;
  int flags = fcntl(0, F_GETFL);
  if (flags >= 0) fcntl(0, F_SETFL, flags | O_ASYNC);
  // It may have gone before.
  if (csys_peer_is_gone()) _exit(0);
}

int csys_spawn_command(char *const *arguments, int input, int output) {
  // These ends are the program's alone, and it expects reads that wait.
  if (fcntl(input, F_SETFL, 0) < 0 || fcntl(output, F_SETFL, 0) < 0) return -errno;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_init(&actions);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(
    &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_adddup2(&actions, input, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  pid_t process = 0;
  int error = posix_spawnp(&process, arguments[0], &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error ? -error : process;
}

int csys_spawn(char *const *arguments, int descriptor) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_init(&actions);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // A terminal sends its signals to a whole group of processes. Ctrl-C ends the program, which ends this one.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(
    &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_adddup2(&actions, descriptor, 0);
  posix_spawn_file_actions_adddup2(&actions, descriptor, 1);
  // Whatever another thread has just opened, and not marked yet, is not this program's.
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  pid_t process = 0;
  int error = posix_spawn(&process, arguments[0], &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error ? -error : process;
}

int csys_pair(int ends[2]) {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ? -errno : 0;
}

int csys_is_network_folder(const char *path) {
  struct statfs status;
  if (statfs(path, &status) < 0) return -errno;
  switch ((uint32_t)status.f_type) {
    case 0x6969:      // NFS
    case 0xff534d42:  // CIFS
    case 0xfe534d42:  // SMB 2
    case 0x517b:      // SMB
    case 0x65735546:  // FUSE
    case 0x01021997:  // 9P
    case 0x00c36400:  // Ceph
    case 0x5346414f:  // AFS
      return 1;
    default: return 0;
  }
}

int csys_watch_open(void) {
  int descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
}

int csys_watch_add(int descriptor, const char *path) {
  uint32_t what = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |
                  IN_ONLYDIR | IN_EXCL_UNLINK;
  int watch = inotify_add_watch(descriptor, path, what);
  return watch < 0 ? -errno : watch;
}

int csys_watch_read(int descriptor, struct csys_watched *news, int capacity) {
  _Alignas(struct inotify_event) char bytes[4096];
  // Each event takes 16 bytes and more: no more than `capacity` must fit.
  size_t room = (size_t)capacity * sizeof(struct inotify_event);
  if (room > sizeof bytes) room = sizeof bytes;
  // A name may be as long as 255 bytes, and less room than one event needs is an error.
  if (room < sizeof(struct inotify_event) + 256) return -EINVAL;
  ssize_t count = read(descriptor, bytes, room);
  if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -errno;
  int found = 0;
  for (ssize_t place = 0; place < count && found < capacity;) {
    struct inotify_event event;
    memcpy(&event, bytes + place, sizeof event);
    news[found].watch = event.wd;
    news[found].flags = (event.mask & IN_Q_OVERFLOW ? CSYS_WATCH_OVERFLOW : 0) |
                        (event.mask & IN_IGNORED ? CSYS_WATCH_GONE : 0);
    found += 1;
    place += (ssize_t)(sizeof event + event.len);
  }
  return found;
}
