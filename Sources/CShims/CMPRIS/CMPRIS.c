#include "CMPRIS.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const char path[] = "/org/mpris/MediaPlayer2";
static const char root[] = "org.mpris.MediaPlayer2";
static const char player_interface[] = "org.mpris.MediaPlayer2.Player";

// The bus has checked the arguments against the table below.
static int on_call(sd_bus_message *message, void *userdata, sd_bus_error *error) {
  (void)error;
  const CMPRISPlayer *player = userdata;
  const char *text = "", *signature = sd_bus_message_get_signature(message, 1);
  int64_t span = 0;
  int code = 0;
  if (!strcmp(signature, "x")) code = sd_bus_message_read(message, "x", &span);
  if (!strcmp(signature, "s")) code = sd_bus_message_read(message, "s", &text);
  if (!strcmp(signature, "ox")) code = sd_bus_message_read(message, "ox", &text, &span);
  if (code < 0) return code;
  player->call(player->context, message, sd_bus_message_get_member(message), text, span);
  return 1;
}

static int on_get(
    sd_bus *bus, const char *object, const char *interface, const char *property, sd_bus_message *reply, void *userdata,
    sd_bus_error *error) {
  (void)bus, (void)object, (void)interface, (void)error;
  const CMPRISPlayer *player = userdata;
  return player->get(player->context, property, reply);
}

static int on_set(
    sd_bus *bus, const char *object, const char *interface, const char *property, sd_bus_message *value, void *userdata,
    sd_bus_error *error) {
  (void)bus, (void)object, (void)interface;
  const CMPRISPlayer *player = userdata;
  const char *text = "";
  double number = 0;
  int flag = 0, code;
  char type;
  code = sd_bus_message_peek_type(value, &type, NULL);
  if (code < 0) return code;
  switch (type) {
  case 's': code = sd_bus_message_read(value, "s", &text); break;
  case 'd': code = sd_bus_message_read(value, "d", &number); break;
  case 'b': code = sd_bus_message_read(value, "b", &flag), number = flag; break;
  default: return -EINVAL;
  }
  return code < 0 ? code : player->set(player->context, property, text, number, error);
}

static int on_named(sd_bus_message *reply, void *userdata, sd_bus_error *error) {
  (void)error;
  const CMPRISPlayer *player = userdata;
  uint32_t code = 0;
  int is_ours = !sd_bus_message_is_method_error(reply, NULL) && sd_bus_message_read(reply, "u", &code) >= 0 &&
                // The name is this connection's, or was so before.
                (code == 1 || code == 4);
  player->named(player->context, is_ours);
  return 1;
}

#define CONSTANT(name, type) SD_BUS_PROPERTY(name, type, on_get, 0, SD_BUS_VTABLE_PROPERTY_CONST)
#define TOLD(name, type) SD_BUS_PROPERTY(name, type, on_get, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)
#define SETTABLE(name, type) \
  SD_BUS_WRITABLE_PROPERTY( \
      name, type, on_get, on_set, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE | SD_BUS_VTABLE_UNPRIVILEGED)
#define METHOD(name, signature, names) \
  SD_BUS_METHOD_WITH_NAMES(name, signature, names, "", "", on_call, SD_BUS_VTABLE_UNPRIVILEGED)

static const sd_bus_vtable root_table[] = {
    SD_BUS_VTABLE_START(0),
    CONSTANT("CanQuit", "b"),
    CONSTANT("CanRaise", "b"),
    CONSTANT("HasTrackList", "b"),
    TOLD("Identity", "s"),
    CONSTANT("DesktopEntry", "s"),
    CONSTANT("SupportedUriSchemes", "as"),
    CONSTANT("SupportedMimeTypes", "as"),
    METHOD("Raise", "", ""),
    METHOD("Quit", "", ""),
    SD_BUS_VTABLE_END,
};

static const sd_bus_vtable player_table[] = {
    SD_BUS_VTABLE_START(0),
    TOLD("PlaybackStatus", "s"),
    SETTABLE("LoopStatus", "s"),
    SETTABLE("Rate", "d"),
    SETTABLE("Shuffle", "b"),
    TOLD("Metadata", "a{sv}"),
    SETTABLE("Volume", "d"),
    SD_BUS_PROPERTY("Position", "x", on_get, 0, 0),
    CONSTANT("MinimumRate", "d"),
    CONSTANT("MaximumRate", "d"),
    TOLD("CanGoNext", "b"),
    TOLD("CanGoPrevious", "b"),
    TOLD("CanPlay", "b"),
    TOLD("CanPause", "b"),
    TOLD("CanSeek", "b"),
    // Never changes, and the specification wants it so.
    SD_BUS_PROPERTY("CanControl", "b", on_get, 0, 0),
    METHOD("Next", "", ""),
    METHOD("Previous", "", ""),
    METHOD("Pause", "", ""),
    METHOD("PlayPause", "", ""),
    METHOD("Stop", "", ""),
    METHOD("Play", "", ""),
    METHOD("Seek", "x", SD_BUS_PARAM(Offset)),
    METHOD("SetPosition", "ox", SD_BUS_PARAM(TrackId) SD_BUS_PARAM(Position)),
    METHOD("OpenUri", "s", SD_BUS_PARAM(Uri)),
    SD_BUS_SIGNAL_WITH_NAMES("Seeked", "x", SD_BUS_PARAM(Position), 0),
    SD_BUS_VTABLE_END,
};

static int open_address(const char *address, sd_bus **bus) {
  int code = sd_bus_new(bus);
  if (code < 0) return code;
  code = sd_bus_set_address(*bus, address);
  if (code >= 0) code = sd_bus_set_bus_client(*bus, 1);
  // As on the bus of a user: nobody else can reach it.
  if (code >= 0) code = sd_bus_set_trusted(*bus, 1);
  if (code >= 0) code = sd_bus_start(*bus);
  if (code < 0) cmpris_close(*bus);
  return code;
}

int cmpris_open(const CMPRISPlayer *player, const char *address, sd_bus **bus) {
  void *userdata = (void *)player;
  int code = address ? open_address(address, bus) : sd_bus_open_user(bus);
  if (code < 0) return code;
  code = sd_bus_add_object_vtable(*bus, NULL, path, root, root_table, userdata);
  if (code >= 0) code = sd_bus_add_object_vtable(*bus, NULL, path, player_interface, player_table, userdata);
  if (code < 0) cmpris_close(*bus);
  return code;
}

void cmpris_close(sd_bus *bus) {
  sd_bus_close(bus);
  sd_bus_unref(bus);
}

int cmpris_ask_for_name(sd_bus *bus, const char *name, const CMPRISPlayer *player) {
  return sd_bus_request_name_async(bus, NULL, name, 0, on_named, (void *)player);
}

int cmpris_reply(sd_bus_message *message) { return sd_bus_reply_method_return(message, ""); }

int cmpris_refuse(sd_bus_message *message, const char *name, const char *text) {
  sd_bus_error error = SD_BUS_ERROR_MAKE_CONST(name, text);
  return sd_bus_reply_method_error(message, &error);
}

int cmpris_fail(sd_bus_error *error, const char *name, const char *text) { return sd_bus_error_set(error, name, text); }

int cmpris_tell(sd_bus *bus, const char *interface, char **properties) {
  return sd_bus_emit_properties_changed_strv(bus, path, interface, properties);
}

int cmpris_seeked(sd_bus *bus, int64_t position) {
  return sd_bus_emit_signal(bus, path, player_interface, "Seeked", "x", position);
}

int cmpris_waker(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void cmpris_wake(int descriptor) { (void)!eventfd_write(descriptor, 1); }

void cmpris_clear(int descriptor) {
  eventfd_t count;
  (void)!eventfd_read(descriptor, &count);
}
