// Play audio in several rooms at once, exactly together, from C and whatever can call it.
//
// Objects are made by a function that ends in `_new`, and released by the one that ends in `_free`, which waits until their
// threads have ended, within a second. Every function may be called from any thread; an object must not be used after it
// was released. A function that fails returns a negative number of `enum tutti_result`, or NULL, and
// `tutti_last_error` has one line for people.
//
// Instants are nanoseconds of CLOCK_MONOTONIC_RAW, positions and durations are seconds, volumes are 0 to 1.
// Samples are interleaved floats, full scale -1 to 1.
#ifndef TUTTI_H
#define TUTTI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tutti_result {
  TUTTI_OK = 0,
  // A value is out of its range.
  TUTTI_INVALID = -1,
  // The object was closed, or has ended.
  TUTTI_CLOSED = -2,
  // The item or room is not there.
  TUTTI_NO_SUCH = -3,
  // The queue is full, or too many calls wait: try again later.
  TUTTI_AGAIN = -4,
  // The item can only be played from its beginning.
  TUTTI_NOT_SEEKABLE = -5,
  // Nothing could be heard within the time.
  TUTTI_NOT_READY = -6,
  // The room cannot be made, or refuses to be paired.
  TUTTI_ROOM = -7,
  // The system refused something: a socket, a thread, a library.
  TUTTI_UNAVAILABLE = -8
};

// How a command of a player has ended.
enum tutti_outcome {
  // All rooms sound its effect.
  TUTTI_HEARD = 0,
  // It is carried out, but nothing sounds: the player is paused, or at the end of its list.
  TUTTI_SILENT = 1,
  // A later command took its place.
  TUTTI_SUPERSEDED = 2,
  // Not heard within ten seconds; it stays in force.
  TUTTI_PENDING = 3
};

enum tutti_event_kind {
  TUTTI_EVENT_NONE = 0,
  TUTTI_EVENT_STARTED = 1,
  TUTTI_EVENT_PAUSED = 2,
  TUTTI_EVENT_RESUMED = 3,
  // The first frame of `item` sounds.
  TUTTI_EVENT_ITEM_STARTED = 4,
  TUTTI_EVENT_ITEM_ENDED = 5,
  // `item` cannot be played, or not any further.
  TUTTI_EVENT_ITEM_FAILED = 6,
  // Everything has sounded.
  TUTTI_EVENT_ENDED = 7,
  // The renderer plays no further.
  TUTTI_EVENT_FAILED = 8,
  // A buffer came too late, and is not heard.
  TUTTI_EVENT_LATE = 9,
  // The state of a room has changed; `text` has its name.
  TUTTI_EVENT_ROOM = 10,
  // Something else that people may want to read.
  TUTTI_EVENT_NOTICE = 11
};

enum tutti_level {
  TUTTI_LEVEL_DEBUG = 0,
  TUTTI_LEVEL_INFO = 1,
  TUTTI_LEVEL_NOTICE = 2,
  TUTTI_LEVEL_WARNING = 3,
  TUTTI_LEVEL_ERROR = 4
};

struct tutti_event {
  int32_t kind;   // enum tutti_event_kind
  int32_t level;  // enum tutti_level
  int64_t item;   // number of the item, from 1 in the order in which items were appended; else 0
  char text[240]; // one line for people, in UTF-8, cut off if it is longer
};

// One line about the last failure in this thread; empty if there was none. Valid until the thread's next failure.
const char *tutti_last_error(void);
// The present instant.
int64_t tutti_now(void);

// --- Rooms ---

typedef struct tutti_room tutti_room;

// The receiver at an address. `port` is 7770 unless the receiver was started with another.
tutti_room *tutti_room_at_new(const char *host, uint16_t port);
// A room in this program that records to a WAV file.
tutti_room *tutti_room_recording_new(const char *path);
// This machine's sound card: ALSA's name of it, or NULL for the default.
tutti_room *tutti_room_this_machine_new(const char *device);
// The rooms that announce themselves within a time. Returns their number, and up to `limit` of them in `rooms`, each of which
// the caller releases.
int tutti_rooms_search(double seconds, tutti_room **rooms, size_t limit);
// Valid as long as the room.
const char *tutti_room_name(const tutti_room *room);
// Pairs the room with this user's programs. Takes 15 s at most.
int tutti_room_pair(const tutti_room *room, const char *pin);
void tutti_room_free(tutti_room *room);

// --- A player: a list of files and addresses ---

typedef struct tutti_player tutti_player;

tutti_player *tutti_player_new(void);
void tutti_player_free(tutti_player *player);
int tutti_player_add_room(tutti_player *player, const tutti_room *room);
// A file, or an address that begins with http:// or https://. Returns the number of the item.
int64_t tutti_player_append(tutti_player *player, const char *location);
// These return when they are heard, an `enum tutti_outcome`; `since` is the instant, unless it is NULL.
int tutti_player_play(tutti_player *player, int64_t *since);
int tutti_player_pause(tutti_player *player, int64_t *since);
int tutti_player_next(tutti_player *player, int64_t *since);
int tutti_player_seek(tutti_player *player, double position, int64_t *since);
int tutti_player_set_rate(tutti_player *player, double rate, int64_t *since);
int tutti_player_set_volume(tutti_player *player, double volume);
// The position of the sound in the current item; negative where it fails.
double tutti_player_position(tutti_player *player);
// When a position of the current item sounds; 0 if it does not.
int64_t tutti_player_presentation_time(tutti_player *player, double position);

// A descriptor that can be read while there are events: for poll and the like. It belongs to the player.
int tutti_player_events_fd(tutti_player *player);
// The next event; returns 1, or 0 if there is none. At most 1024 wait; the oldest are lost first.
int tutti_player_next_event(tutti_player *player, struct tutti_event *event);

// --- A renderer: samples that the program pushes ---

typedef struct tutti_renderer tutti_renderer;

// With `latency` 0, samples have times, and `tutti_renderer_start` starts them. Otherwise, from 0.01 to 2 s, they are heard that
// long after they were enqueued, as they come.
tutti_renderer *tutti_renderer_new(int sample_rate, int channels, double latency);
void tutti_renderer_free(tutti_renderer *renderer);
int tutti_renderer_add_room(tutti_renderer *renderer, const tutti_room *room);
// Enqueues frames for a time. TUTTI_AGAIN if the queue is full: it takes two seconds beyond what the rooms hold; with a latency,
// half a second in all.
int tutti_renderer_enqueue(
    tutti_renderer *renderer, const float *samples, size_t frames, double time);
// Waits until frames can be enqueued: with a latency, a quarter of a second of them. TUTTI_CLOSED after the end.
int tutti_renderer_wait(tutti_renderer *renderer);
// No more comes; what is enqueued plays to its end.
int tutti_renderer_finish(tutti_renderer *renderer);
// Starts the time at which it stands, or lets it run at another rate. Waits until something is enqueued and a room can play
// it, at most for ten seconds. `not_before` is the instant that is wished for, or 0. Returns when it is heard.
int64_t tutti_renderer_start(tutti_renderer *renderer, double rate, int64_t not_before);
// Returns when the sound ends.
int64_t tutti_renderer_stop(tutti_renderer *renderer);
// Goes to another time, and leaves what was enqueued behind. Returns when the sound ends.
int64_t tutti_renderer_seek(tutti_renderer *renderer, double time);
// The time that sounds.
double tutti_renderer_time(tutti_renderer *renderer);
// When a time sounds; 0 while time stands still.
int64_t tutti_renderer_presentation_time(tutti_renderer *renderer, double time);
int tutti_renderer_set_volume(tutti_renderer *renderer, double volume);
// From the enqueuing of a frame to its sound, or from a command to its effect; negative where it fails.
double tutti_renderer_latency(tutti_renderer *renderer);
int tutti_renderer_events_fd(tutti_renderer *renderer);
int tutti_renderer_next_event(tutti_renderer *renderer, struct tutti_event *event);

#ifdef __cplusplus
}
#endif

#endif
