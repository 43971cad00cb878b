#pragma once
#include <stdint.h>
#include <systemd/sd-bus.h>

// A player at the path of MPRIS, on a connection to the session bus of its own. All calls come within sd_bus_process, on its thread.
typedef struct {
  void *context;
  // Somebody calls a method; the arguments that it does not have are empty. The answer is given by cmpris_reply or cmpris_refuse.
  void (*call)(void *context, sd_bus_message *message, const char *member, const char *text, int64_t span);
  // Appends the value of a property to a message. Negative: an error number.
  int (*get)(void *context, const char *property, sd_bus_message *reply);
  // Somebody sets a property; what is not of its type is empty. Negative: an error number; cmpris_fail says more.
  int (*set)(void *context, const char *property, const char *text, double number, sd_bus_error *error);
  // The bus has answered cmpris_ask_for_name.
  void (*named)(void *context, int is_ours);
} CMPRISPlayer;

// Begins to connect, without waiting, to the bus of this address, or of this user where it is NULL. `player` must outlive the
// connection. Negative: an error number.
int cmpris_open(const CMPRISPlayer *player, const char *address, sd_bus **bus);
// Ends the connection at once. What was not sent is lost.
void cmpris_close(sd_bus *bus);
int cmpris_ask_for_name(sd_bus *bus, const char *name, const CMPRISPlayer *player);
int cmpris_reply(sd_bus_message *message);
int cmpris_refuse(sd_bus_message *message, const char *name, const char *text);
int cmpris_fail(sd_bus_error *error, const char *name, const char *text);
int cmpris_tell(sd_bus *bus, const char *interface, char **properties);
int cmpris_seeked(sd_bus *bus, int64_t position);
// Becomes readable by cmpris_wake, until cmpris_clear.
int cmpris_waker(void);
void cmpris_wake(int descriptor);
void cmpris_clear(int descriptor);
