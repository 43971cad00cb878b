#pragma once
#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

// The Linux calls that Swift cannot make: macros, variadic functions, control messages. Each function returns
// a value of zero or more, or a negative errno.

// An address of IPv4 (family 4: `low` holds the four bytes) or IPv6 (family 6), in the host's byte order.
struct csys_address {
  uint64_t high;
  uint64_t low;
  uint32_t scope;
  uint16_t port;
  uint16_t family;
};

// At most `capacity` addresses; their number, or a negative EAI_ code.
int csys_resolve(const char *name, uint16_t port, struct csys_address *addresses, int capacity);

enum { CSYS_READ = 1, CSYS_WRITE = 2, CSYS_HANGUP = 4, CSYS_FAULT = 8, CSYS_ONCE = 16 };
enum { CSYS_ADD, CSYS_MODIFY, CSYS_REMOVE };
struct csys_ready {
  uint64_t token;
  uint32_t events;
  uint32_t padding;
};
int csys_epoll(void);
int csys_epoll_set(int epoll, int operation, int descriptor, uint32_t interest, uint64_t token);
// A negative timeout waits for ever. An interrupted wait reports nothing ready.
int csys_epoll_wait(int epoll, struct csys_ready *ready, int capacity, int64_t timeout_ns);

// Asks for a pipe that holds so many bytes, and returns how many it holds now.
int csys_pipe_resize(int descriptor, int bytes);
// Makes a pipe of which neither end waits: ends[0] to read, ends[1] to write.
int csys_pipe(int ends[2]);
// Bytes that can be read.
int csys_waiting(int descriptor);
// Until it can be read, or the time is over; a negative descriptor is only a sleep.
void csys_wait(int descriptor, int64_t span_ns);

int csys_eventfd(void);
int csys_eventfd_raise(int descriptor);
int csys_eventfd_clear(int descriptor);

// Blocks the signals in the calling thread and returns the descriptor that reports them.
int csys_signals(const int *signals, int count);
int csys_signals_block(const int *signals, int count);
int csys_signals_unblock(const int *signals, int count);
int csys_signal_is_ignored(int signal);
// The next signal's number; -EAGAIN when there is none.
int csys_signals_next(int descriptor);

enum { CSYS_IPV4 = 4, CSYS_IPV6 = 6, CSYS_UNIX = 1 };
// All sockets are non-blocking and close on exec. An IPv6 socket takes IPv4 as well.
int csys_stream(int family);
int csys_datagram(int family);
// Sizes of a datagram socket: kernel buffers in bytes, and datagrams that no router divides.
void csys_datagram_configure(int descriptor, int receive_buffer, int send_buffer);
int csys_bind(int descriptor, const struct csys_address *address);
int csys_bind_path(int descriptor, const char *path);
int csys_connect(int descriptor, const struct csys_address *address);
int csys_connect_path(int descriptor, const char *path);
int csys_listen(int descriptor);
// `peer` has family 0 for a Unix-domain peer.
int csys_accept(int descriptor, struct csys_address *peer);
int csys_local_address(int descriptor, struct csys_address *address);
// The pending error of a socket as a positive errno, or zero.
int csys_pending_error(int descriptor);
int csys_shutdown_sending(int descriptor);

// Everything that TCP knows of the way to the peer; zero where it does not know yet.
struct csys_path {
  uint32_t round_trip_us;
  uint32_t least_round_trip_us;
  // Bytes a second that have lately arrived.
  uint64_t delivery_rate;
  // Bytes that were sent, and that the peer has not acknowledged.
  int unacknowledged;
};
int csys_path(int descriptor, struct csys_path *path);
// The fastest that the kernel sends; UINT32_MAX lifts the limit.
int csys_pace(int descriptor, uint32_t bytes_per_second);

struct csys_stream_options {
  int keepalive_s;
  int user_timeout_ms;
  // Zero leaves the system's setting.
  int unsent_limit;
  // Bytes; zero leaves the system's setting.
  int receive_buffer;
  int traffic_class;
};
int csys_stream_configure(int descriptor, const struct csys_stream_options *options);
int csys_traffic_class(int descriptor, int traffic_class);

// Raises no SIGPIPE.
ssize_t csys_send(int descriptor, const void *bytes, size_t count);
ssize_t csys_receive(int descriptor, void *bytes, size_t capacity);

enum { CSYS_STAMPS_NONE, CSYS_STAMPS_RECEIVED, CSYS_STAMPS_BOTH };
// Asks for the best stamps that the kernel grants, and returns which those are. Transmit stamps are numbered
// from zero again.
int csys_stamps_enable(int descriptor);
ssize_t csys_send_to(int descriptor, int family, const void *bytes, size_t count,
                     const struct csys_address *to);
struct csys_received {
  struct csys_address from;
  // CLOCK_REALTIME, or zero where the kernel left no stamp.
  int64_t realtime_ns;
};
ssize_t csys_receive_from(int descriptor, void *bytes, size_t capacity,
                          struct csys_received *received);
struct csys_transmitted {
  int64_t realtime_ns;
  uint32_t counter;
  // One where the driver took the packet, zero where it entered the queue before the driver.
  int from_driver;
};
// Takes one message off the error queue: 1 for a stamp, 0 for anything else, -EAGAIN when it is empty.
int csys_transmitted_next(int descriptor, struct csys_transmitted *transmitted);

// A priority of zero asks for the normal scheduler, one and above for SCHED_FIFO.
int csys_thread_start(pthread_t *thread, void *(*body)(void *), void *context, size_t stack,
                      int priority);
// Called on the thread: its name (15 bytes are kept), exact timers, and pages for `touched` bytes of stack.
void csys_thread_prepare(const char *name, size_t touched);
// The calling thread, but none that it starts, gets this priority of SCHED_FIFO; zero is the normal scheduler.
int csys_thread_prefer(int priority);
// The calling thread's SCHED_FIFO priority, or zero.
int csys_thread_priority(void);
int csys_lock_memory(void);
// Threads share two heaps, and what is freed goes back to the system. Call it before there are threads.
void csys_return_memory(void);
int csys_hide_memory(void);

// The calling thread yields to everything else: the lowest priority, and the disk only when nobody wants it.
void csys_background(void);
// The calling thread gives way to the music, but not to everything: somebody waits for what it does.
void csys_give_way(void);
// Allocations of this process beyond so many bytes fail.
int csys_limit_memory(uint64_t bytes);
// Ends this process at once when the other end of the socket that is its input goes. For one that works for another.
void csys_end_with_peer(void);
// True if it has gone.
int csys_peer_is_gone(void);
// Starts the program at `arguments[0]`, with no signal blocked and `descriptor` as its input and output. Its number.
int csys_spawn(char *const *arguments, int descriptor);
// The same for a program of that name or path, in a process group of its own, which gets two pipes and says nothing to the
// terminal.
int csys_spawn_command(char *const *arguments, int input, int output);
// Limits of a program that gives an input its sound: bytes of memory, and descriptors.
struct csys_source_limits {
  uint64_t memory;
  uint64_t files;
};
// Starts a program of that name or path in a process group of its own. It gets four descriptors as its own 0 to 3, of which -1
// leaves one closed, and nothing else; no signal is blocked or ignored. `watch` becomes a descriptor that can be read once it has
// ended. Its number. It ends with the thread that has started it.
int csys_spawn_source(char *const *arguments, const int descriptors[4], const struct csys_source_limits *limits,
                      int *watch);
// Sends a signal to the whole group.
int csys_source_signal(int process, int signal);
// 1 if it has ended: its exit code, or its signal as a negative number. The rest of its group is ended then. 0 while it runs.
int csys_source_end(int process, int *code);
// Until one of at most eight descriptors can be read, or the time is over; a negative time has no end. The bits of `ready` say which.
int csys_wait_any(const int *descriptors, int count, uint32_t *ready, int64_t span_ns);
// Closes all but the input of a process that is to decode what strangers have made, before it loads anything. It says nothing
// to the terminal, and ends with the thread that has started it.
void csys_release(void);
// The same process afterwards: it has no more memory than this, and opens, starts and connects to nothing from now on.
int csys_confine(uint64_t memory);
// With a descriptor for the other side, which gets one of its own. `received` stays as it is where none came.
ssize_t csys_send_descriptor(int stream, const void *bytes, size_t count, int descriptor);
ssize_t csys_receive_descriptor(int stream, void *bytes, size_t capacity, int *received);
// Two ends of a stream between two processes; both close on exec.
int csys_pair(int ends[2]);
// True if others may change what is in the file system of `path` without this machine seeing it: NFS, SMB, FUSE.
int csys_is_network_folder(const char *path);

enum { CSYS_WATCH_OVERFLOW = 1, CSYS_WATCH_GONE = 2 };
struct csys_watched {
  int watch;
  uint32_t flags;
};
int csys_watch_open(void);
// Reports what is made, written, moved or removed in a directory. The watch's number.
int csys_watch_add(int descriptor, const char *path);
// At most `capacity` news; their number, 0 where there is none.
int csys_watch_read(int descriptor, struct csys_watched *news, int capacity);
