#include "Page.h"

// A table of all files of `web`. A test compares it with the folder, so that none is forgotten.

// #embed is C23; without this, clang warns at each use.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define HTML "text/html; charset=utf-8"
#define CSS "text/css; charset=utf-8"
#define JS "text/javascript; charset=utf-8"
#define SVG "image/svg+xml"
#define PNG "image/png"
#define MANIFEST "application/manifest+json"

static const unsigned char index_html[] = {
#embed "web/index.html"
};
static const unsigned char access_js[] = {
#embed "web/access.js"
};
static const unsigned char actions_js[] = {
#embed "web/actions.js"
};
static const unsigned char alarms_js[] = {
#embed "web/alarms.js"
};
static const unsigned char api_js[] = {
#embed "web/api.js"
};
static const unsigned char app_js[] = {
#embed "web/app.js"
};
static const unsigned char base_css[] = {
#embed "web/base.css"
};
static const unsigned char browse_js[] = {
#embed "web/browse.js"
};
static const unsigned char devices_js[] = {
#embed "web/devices.js"
};
static const unsigned char dom_js[] = {
#embed "web/dom.js"
};
static const unsigned char drag_js[] = {
#embed "web/drag.js"
};
static const unsigned char equalizer_js[] = {
#embed "web/equalizer.js"
};
static const unsigned char events_js[] = {
#embed "web/events.js"
};
static const unsigned char favourites_js[] = {
#embed "web/favourites.js"
};
static const unsigned char icon_png[] = {
#embed "web/icon.png"
};
static const unsigned char icon_svg[] = {
#embed "web/icon.svg"
};
static const unsigned char kit_js[] = {
#embed "web/kit.js"
};
static const unsigned char library_js[] = {
#embed "web/library.js"
};
static const unsigned char manifest_webmanifest[] = {
#embed "web/manifest.webmanifest"
};
static const unsigned char now_js[] = {
#embed "web/now.js"
};
static const unsigned char overlay_js[] = {
#embed "web/overlay.js"
};
static const unsigned char playlists_js[] = {
#embed "web/playlists.js"
};
static const unsigned char plot_js[] = {
#embed "web/plot.js"
};
static const unsigned char podcasts_js[] = {
#embed "web/podcasts.js"
};
static const unsigned char queue_js[] = {
#embed "web/queue.js"
};
static const unsigned char room_js[] = {
#embed "web/room.js"
};
static const unsigned char rooms_js[] = {
#embed "web/rooms.js"
};
static const unsigned char setup_js[] = {
#embed "web/setup.js"
};
static const unsigned char slider_js[] = {
#embed "web/slider.js"
};
static const unsigned char sound_js[] = {
#embed "web/sound.js"
};
static const unsigned char sync_js[] = {
#embed "web/sync.js"
};
static const unsigned char theme_js[] = {
#embed "web/theme.js"
};
static const unsigned char tiles_js[] = {
#embed "web/tiles.js"
};
static const unsigned char truth_js[] = {
#embed "web/truth.js"
};
static const unsigned char video_js[] = {
#embed "web/video.js"
};
static const unsigned char views_css[] = {
#embed "web/views.css"
};
static const unsigned char virtual_js[] = {
#embed "web/virtual.js"
};

#define FILE_NAMED(name, type, bytes) {name, type, bytes, sizeof(bytes)}

static const struct page_file files[] = {
    FILE_NAMED("index.html", HTML, index_html),
    FILE_NAMED("access.js", JS, access_js),
    FILE_NAMED("actions.js", JS, actions_js),
    FILE_NAMED("alarms.js", JS, alarms_js),
    FILE_NAMED("api.js", JS, api_js),
    FILE_NAMED("app.js", JS, app_js),
    FILE_NAMED("base.css", CSS, base_css),
    FILE_NAMED("browse.js", JS, browse_js),
    FILE_NAMED("devices.js", JS, devices_js),
    FILE_NAMED("dom.js", JS, dom_js),
    FILE_NAMED("drag.js", JS, drag_js),
    FILE_NAMED("equalizer.js", JS, equalizer_js),
    FILE_NAMED("events.js", JS, events_js),
    FILE_NAMED("favourites.js", JS, favourites_js),
    FILE_NAMED("icon.png", PNG, icon_png),
    FILE_NAMED("icon.svg", SVG, icon_svg),
    FILE_NAMED("kit.js", JS, kit_js),
    FILE_NAMED("library.js", JS, library_js),
    FILE_NAMED("manifest.webmanifest", MANIFEST, manifest_webmanifest),
    FILE_NAMED("now.js", JS, now_js),
    FILE_NAMED("overlay.js", JS, overlay_js),
    FILE_NAMED("playlists.js", JS, playlists_js),
    FILE_NAMED("plot.js", JS, plot_js),
    FILE_NAMED("podcasts.js", JS, podcasts_js),
    FILE_NAMED("queue.js", JS, queue_js),
    FILE_NAMED("room.js", JS, room_js),
    FILE_NAMED("rooms.js", JS, rooms_js),
    FILE_NAMED("setup.js", JS, setup_js),
    FILE_NAMED("slider.js", JS, slider_js),
    FILE_NAMED("sound.js", JS, sound_js),
    FILE_NAMED("sync.js", JS, sync_js),
    FILE_NAMED("theme.js", JS, theme_js),
    FILE_NAMED("tiles.js", JS, tiles_js),
    FILE_NAMED("truth.js", JS, truth_js),
    FILE_NAMED("video.js", JS, video_js),
    FILE_NAMED("views.css", CSS, views_css),
    FILE_NAMED("virtual.js", JS, virtual_js),
};

size_t page_count(void) { return sizeof files / sizeof files[0]; }

const struct page_file *page_file_at(size_t index) { return &files[index]; }
