// FFmpeg resolves names and follows redirects by itself, so that an address can be judged only where the connection is
// made. This program's own `connect` takes the place of the C library's: the dynamic linker looks for it in the program
// before all libraries.

#define _GNU_SOURCE
#include "CFFmpeg.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local cff_judge judge;
static _Thread_local void *judge_context;
static uintptr_t first_code, last_code;

void cff_set_judge(cff_judge function, void *context) {
  judge = function;
  judge_context = context;
}

static int is_allowed(const struct sockaddr *address, socklen_t length) {
  if (!judge) return 0;
  if (address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
    const struct sockaddr_in *v4 = (const void *)address;
    return judge(judge_context, 0, 0, ntohl(v4->sin_addr.s_addr));
  }
  if (address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
    const uint8_t *bytes = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr;
    uint64_t high = 0, low = 0;
    for (int i = 0; i < 8; i++) {
      high = high << 8 | bytes[i];
      low = low << 8 | bytes[8 + i];
    }
    return judge(judge_context, 1, high, low);
  }
  // Nothing that is read comes by another kind of socket.
  return 0;
}

// FFmpeg connects where somebody judges it, or not at all; all others as ever.
__attribute__((visibility("default"), noinline)) int connect(
    int descriptor, const struct sockaddr *address, socklen_t length) {
  uintptr_t caller = (uintptr_t)__builtin_return_address(0);
  int is_ffmpeg = caller >= first_code && caller < last_code;
  if (is_ffmpeg && !is_allowed(address, length)) {
    errno = EACCES;
    return -1;
  }
  return (int)syscall(SYS_connect, descriptor, address, length);
}

static int note_code(struct dl_phdr_info *library, size_t size, void *base) {
  (void)size;
  if (library->dlpi_addr != (uintptr_t)base) return 0;
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &library->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    first_code = library->dlpi_addr + part->p_vaddr;
    last_code = first_code + part->p_memsz;
  }
  return 1;
}

void cff_watch_connections(const void *function) {
  Dl_info info;
  if (dladdr(function, &info)) dl_iterate_phdr(note_code, info.dli_fbase);
}

int cff_judges_connections(void) {
  return last_code && dlsym(RTLD_DEFAULT, "connect") == (void *)connect;
}
