/* A mixer for tests: an ALSA control plugin with a volume from -60 to +6 dB in steps of 1 dB, named
 * Digital, and a volume without decibels, named Tone.
 *
 *     ctl.NAME { type virtual_mixer  dir "/tmp/x" }
 *
 * DIR/mixer holds the settings: volume and switch of Digital, volume of Tone.
 */
#include <alsa/asoundlib.h>
#include <alsa/control_external.h>

enum { DIGITAL_VOLUME, DIGITAL_SWITCH, TONE_VOLUME, COUNT };
static const char *const names[COUNT] = {"Digital Playback Volume", "Digital Playback Switch",
                                         "Tone Playback Volume"};
static const long largest[COUNT] = {66, 1, 10};
/* Type, length, least value and step in hundredths of a decibel. */
static unsigned decibels[] = {SND_CTL_TLVT_DB_SCALE, 8, (unsigned)-6000, 100};

struct mixer {
  snd_ctl_ext_t ext;
  char path[600];
  long values[COUNT];
};

static int count(snd_ctl_ext_t *ext) {
  (void)ext;
  return COUNT;
}

static int list(snd_ctl_ext_t *ext, unsigned offset, snd_ctl_elem_id_t *id) {
  (void)ext;
  snd_ctl_elem_id_set_interface(id, SND_CTL_ELEM_IFACE_MIXER);
  snd_ctl_elem_id_set_name(id, names[offset]);
  return 0;
}

static snd_ctl_ext_key_t find(snd_ctl_ext_t *ext, const snd_ctl_elem_id_t *id) {
  (void)ext;
  for (int i = 0; i < COUNT; i++)
    if (!strcmp(snd_ctl_elem_id_get_name(id), names[i]))
      return i;
  return SND_CTL_EXT_KEY_NOT_FOUND;
}

static int attribute(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, int *type, unsigned *access,
                     unsigned *channels) {
  *type = key == DIGITAL_SWITCH ? SND_CTL_ELEM_TYPE_BOOLEAN : SND_CTL_ELEM_TYPE_INTEGER;
  *access = SND_CTL_EXT_ACCESS_READWRITE;
  *channels = 1;
  if (key == DIGITAL_VOLUME) {
    *access |= SND_CTL_EXT_ACCESS_TLV_READ;
    ext->tlv.p = decibels;
  }
  return 0;
}

static int range(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, long *least, long *most, long *step) {
  (void)ext;
  *least = 0;
  *most = largest[key];
  *step = 1;
  return 0;
}

static int get(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, long *value) {
  *value = ((struct mixer *)ext->private_data)->values[key];
  return 0;
}

static int set(snd_ctl_ext_t *ext, snd_ctl_ext_key_t key, long *value) {
  struct mixer *m = ext->private_data;
  m->values[key] = *value;
  FILE *file = fopen(m->path, "w");
  if (!file)
    return -errno;
  fprintf(file, "%ld %ld %ld", m->values[0], m->values[1], m->values[2]);
  fclose(file);
  return 1;
}

static void subscribe(snd_ctl_ext_t *ext, int on) { (void)ext, (void)on; }

static int event(snd_ctl_ext_t *ext, snd_ctl_elem_id_t *id, unsigned *mask) {
  (void)ext, (void)id, (void)mask;
  return -EAGAIN;
}

static void end(snd_ctl_ext_t *ext) { free(ext->private_data); }

static const snd_ctl_ext_callback_t callbacks = {
    .close = end,
    .elem_count = count,
    .elem_list = list,
    .find_elem = find,
    .get_attribute = attribute,
    .get_integer_info = range,
    .read_integer = get,
    .write_integer = set,
    .subscribe_events = subscribe,
    .read_event = event,
};

SND_CTL_PLUGIN_DEFINE_FUNC(virtual_mixer) {
  const char *dir = NULL;
  snd_config_t *node;
  (void)root;
  if (snd_config_search(conf, "dir", &node) < 0 || snd_config_get_string(node, &dir) < 0)
    return -EINVAL;
  struct mixer *m = calloc(1, sizeof *m);
  if (!m)
    return -ENOMEM;
  snprintf(m->path, sizeof m->path, "%s/mixer", dir);
  m->ext.version = SND_CTL_EXT_VERSION;
  strcpy(m->ext.id, "virtual");
  strcpy(m->ext.name, "virtual mixer");
  m->ext.poll_fd = -1;
  m->ext.callback = &callbacks;
  m->ext.private_data = m;
  int code = snd_ctl_ext_create(&m->ext, name, mode);
  if (code < 0)
    free(m);
  else
    *handlep = m->ext.handle;
  return code;
}
SND_CTL_PLUGIN_SYMBOL(virtual_mixer);
