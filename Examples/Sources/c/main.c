// Plays a file in a room, then two seconds of a tone that the program makes, and prints what happens:
// cc -I Sources/CTutti/include Examples/Sources/c/main.c, linked with the library TuttiC.
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti.h>

enum { RATE = 48000, SECONDS = 2, BLOCK = 4800 };

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, tutti_last_error());
  return 1;
}

// Prints events until one of this kind, by the descriptor that tells of them.
static void wait_for(tutti_player *player, tutti_renderer *renderer, int kind) {
  struct pollfd ready = {
      .fd = player ? tutti_player_events_fd(player) : tutti_renderer_events_fd(renderer),
      .events = POLLIN};
  while (poll(&ready, 1, 60000) > 0) {
    struct tutti_event event;
    while (player ? tutti_player_next_event(player, &event)
                  : tutti_renderer_next_event(renderer, &event)) {
      printf("%d %d %s\n", event.kind, (int)event.item, event.text);
      if (event.kind == kind)
        return;
    }
  }
}

static int play_file(const char *path, double from, const tutti_room *room) {
  tutti_player *player = tutti_player_new();
  if (!player || tutti_player_add_room(player, room) < 0 || tutti_player_append(player, path) < 0)
    return fail(path);
  int64_t since = 0;
  if (tutti_player_play(player, &since) != TUTTI_HEARD)
    return fail("play");
  if (tutti_player_seek(player, from, &since) != TUTTI_HEARD)
    return fail("seek");
  printf("at %.1f s, %.0f ms ago\n", from, (double)(tutti_now() - since) / 1e6);
  wait_for(player, NULL, TUTTI_EVENT_ENDED);
  tutti_player_free(player);
  return 0;
}

static int play_tone(const tutti_room *room) {
  tutti_renderer *renderer = tutti_renderer_new(RATE, 1, 0);
  if (!renderer || tutti_renderer_add_room(renderer, room) < 0)
    return fail("renderer");
  float samples[BLOCK];
  for (int first = 0; first < SECONDS * RATE; first += BLOCK) {
    for (int i = 0; i < BLOCK; i++)
      samples[i] = 0.25f * sinf((float)(2 * M_PI * 440 / RATE) * (float)(first + i));
    if (tutti_renderer_wait(renderer) < 0 ||
        tutti_renderer_enqueue(renderer, samples, BLOCK, (double)first / RATE) < 0)
      return fail("enqueue");
    // The queue takes two seconds; time begins to run when half a second is there.
    if (first == RATE / 2 && tutti_renderer_start(renderer, 1, 0) < 0)
      return fail("start");
  }
  tutti_renderer_finish(renderer);
  wait_for(NULL, renderer, TUTTI_EVENT_ENDED);
  tutti_renderer_free(renderer);
  return 0;
}

int main(int count, char **arguments) {
  if (count != 5) {
    fprintf(stderr, "usage: %s FILE SECONDS HOST PORT\n", arguments[0]);
    return 2;
  }
  tutti_room *room = tutti_room_at_new(arguments[3], (uint16_t)atoi(arguments[4]));
  if (!room)
    return fail("room");
  int result = play_file(arguments[1], atof(arguments[2]), room);
  if (result == 0)
    result = play_tone(room);
  tutti_room_free(room);
  return result;
}
