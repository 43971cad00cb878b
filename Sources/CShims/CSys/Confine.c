#define _GNU_SOURCE
#include "CSys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// A process that decodes what strangers have made: it can compute, and talk over the socket that is its input.

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), RETURN(SECCOMP_RET_ALLOW)

void csys_release(void) {
  // The parent's open files are not for the media that it decodes.
#ifdef SYS_close_range
  syscall(SYS_close_range, 3u, ~0u, 0u);
#endif
  int nothing = open("/dev/null", O_RDWR);
  if (nothing >= 0) {
    dup2(nothing, 1);
    dup2(nothing, 2);
    if (nothing > 2) close(nothing);
  }
  // The runtime's handlers would look at the process and go on, where a crash is to end it.
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have gone before, and has no number here to compare.
  if (csys_peer_is_gone()) _exit(0);
  // It is the first to go where memory runs out.
  int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    (void)!write(score, "500", 3);
    close(score);
  }
}

static void limit(int resource, rlim_t value) {
  struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
  setrlimit(resource, &limit);
}

int csys_confine(uint64_t memory) {
  limit(RLIMIT_DATA, memory);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 16);
  limit(RLIMIT_NPROC, 0);
  prctl(PR_SET_DUMPABLE, 0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -errno;
#ifdef ARCHITECTURE
  // All else fails with EPERM: nothing is opened, started, connected to or looked at, and no memory is made executable.
  struct sock_filter filter[] = {
      FIELD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      FIELD(nr),
      ALLOW(SYS_read), ALLOW(SYS_readv), ALLOW(SYS_pread64), ALLOW(SYS_lseek),
      ALLOW(SYS_write), ALLOW(SYS_writev), ALLOW(SYS_recvfrom), ALLOW(SYS_recvmsg), ALLOW(SYS_close),
      ALLOW(SYS_ppoll), ALLOW(SYS_brk), ALLOW(SYS_munmap), ALLOW(SYS_mremap), ALLOW(SYS_madvise),
      ALLOW(SYS_futex), ALLOW(SYS_nanosleep), ALLOW(SYS_clock_nanosleep), ALLOW(SYS_clock_gettime),
      ALLOW(SYS_clock_getres), ALLOW(SYS_gettimeofday), ALLOW(SYS_getrandom), ALLOW(SYS_sched_yield),
      ALLOW(SYS_sched_getaffinity), ALLOW(SYS_getpid), ALLOW(SYS_gettid), ALLOW(SYS_rt_sigreturn),
      ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_rt_sigaction), ALLOW(SYS_restart_syscall), ALLOW(SYS_exit),
      ALLOW(SYS_exit_group),
#ifdef SYS_poll
      ALLOW(SYS_poll),
#endif
      // Answers go to the socket that is there, not to an address.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto, 0, 4),
      FIELD(args[4]),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
      RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_ERRNO | EPERM),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
      FIELD(args[2]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
      RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_ERRNO | EPERM),
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) return -errno;
#endif
  return 0;
}

ssize_t csys_send_descriptor(int stream, const void *bytes, size_t count, int descriptor) {
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  char control[CMSG_SPACE(sizeof(int))] = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  ssize_t sent = sendmsg(stream, &message, MSG_NOSIGNAL);
  return sent < 0 ? -errno : sent;
}

ssize_t csys_receive_descriptor(int stream, void *bytes, size_t capacity, int *descriptor) {
  struct iovec part = {.iov_base = bytes, .iov_len = capacity};
  char control[CMSG_SPACE(sizeof(int))];
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t count = recvmsg(stream, &message, MSG_CMSG_CLOEXEC);
  if (count < 0) return -errno;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int)))
    memcpy(descriptor, CMSG_DATA(header), sizeof(int));
  return count;
}
