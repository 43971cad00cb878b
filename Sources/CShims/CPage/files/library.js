// The library: albums, artists, folders, radio, playlists, and one search for all of them.

import { enqueue, playMenu } from "./actions.js";
import { act, get, store } from "./api.js";
import { clock, count, cover, h, icon, iconButton, label, setCover, setText, span } from "./dom.js";
import { ask, empty, toast } from "./overlay.js";
import { VirtualList } from "./virtual.js";

const view = document.getElementById("library");
const field = h("input", { type: "search", placeholder: "Search", "aria-label": "Search the library", autocomplete: "off", spellcheck: "false", enterkeyhint: "search" });
const tabs = h("nav.tabs", { "aria-label": "Parts of the library" });
const scroller = h("div.scroll", { tabindex: "-1" });
const scan = h("p.scan.dim", { role: "status", hidden: true });
const parts = { albums: "Albums", artists: "Artists", folders: "Folders", radio: "Radio", playlists: "Playlists" };
const sorts = { artist: "Artist", title: "Title", added: "New", year: "Year" };
let visit = 0;
let shown = "";

export function buildLibrary() {
  tabs.append(...Object.entries(parts).map(([part, text]) => h("a", { href: `#/library/${part}`, "data-part": part }, text)));
  view.append(h("header.view-head", h("label.search", icon("search"), field, h("kbd", { "aria-hidden": true }, "/"))), tabs, scan, scroller);
  let timer = 0;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    const text = field.value.trim();
    timer = setTimeout(() => history.replaceState(null, "", text ? `#/library/search/${encodeURIComponent(text)}` : "#/library/albums") ?? openLibrary(), 80);
  });
}

export const focusSearch = () => field.select();

export function drawLibrary() {
  const now = store.library.scan;
  scan.hidden = !now;
  if (now) setText(scan, `Reading ${now.folder ?? "the library"}: ${now.done.toLocaleString("en")} of ${now.total.toLocaleString("en")}`);
}

/** Shows what the address says. Each place keeps where it was scrolled to, for the way back. */
const scrolled = new Map();
export async function openLibrary() {
  const [, , part = "albums", ...rest] = location.hash.split("/");
  const key = location.hash;
  if (shown === key) return;
  if (shown) scrolled.set(shown, scroller.scrollTop);
  shown = key;
  const own = ++visit;
  for (const tab of tabs.children) tab.toggleAttribute("aria-current", tab.dataset.part === part);
  if (part !== "search") field.value = "";
  const argument = decodeURIComponent(rest.join("/"));
  try {
    const content = await (pages[part] ?? pages.albums)(argument);
    if (own !== visit) return;
    scroller.replaceChildren(...content);
    scroller.scrollTop = scrolled.get(key) ?? 0;
    scroller.querySelector(".virtual")?.list.refresh();
    scroller.scrollTop = scrolled.get(key) ?? 0;
  } catch (error) {
    if (own !== visit) return;
    shown = "";
    scroller.replaceChildren(empty("warn", "This could not be loaded", error.message, { button: "Try again", act: openLibrary }));
  }
}

const pages = {
  async albums(sort) {
    const order = sorts[sort] ? sort : localStorage.getItem("tutti.sort") ?? "artist";
    localStorage.setItem("tutti.sort", order);
    const grid = await pagedGrid(`/library/albums?sort=${order}`, "albums", albumCard);
    if (!grid.total) return [noLibrary()];
    const choice = h("div.sorts", h("span.dim", count(grid.total, "album")),
      ...Object.entries(sorts).map(([key, text]) => h("a", { href: `#/library/albums/${key}`, "aria-current": key === order && "true" }, text)));
    return [choice, grid.element];
  },

  async artists() {
    const grid = await pagedGrid("/library/artists?", "artists", artistCard);
    return grid.total ? [grid.element] : [noLibrary()];
  },

  async artist(id) {
    const { albums } = await get(`/library/albums?sort=year&artistId=${encodeURIComponent(id)}&limit=500`);
    const name = albums[0]?.artist ?? "Artist";
    return [pageHead({ title: name, text: count(albums.length, "album"), artwork: albums[0]?.artwork, isRound: true, items: [{ artistId: id }] }),
      h("ul.grid", albums.map((album) => fill(albumCard.create(), albumCard, album)))];
  },

  async album(id) {
    const { album, tracks } = await get(`/library/albums/${encodeURIComponent(id)}`);
    const discs = new Set(tracks.map((track) => track.disc ?? 1)).size;
    const rows = tracks.map((track, index) => trackRow(track, { tracks, index, lead: discs > 1 ? `${track.disc}.${track.track}` : track.track, subtitle: track.artist !== album.artist && track.artist }));
    return [pageHead({ title: album.title, byline: album.artist, link: album.artistId && `#/library/artist/${album.artistId}`, artwork: album.artwork, items: [{ albumId: id }],
      text: [album.year, count(tracks.length, "track"), span(album.durationS)].filter(Boolean).join(" · ") }), h("ol.tracks", rows)];
  },

  async folders(path) {
    const { folders, tracks } = await get(`/library/folders?path=${encodeURIComponent(path)}`);
    if (!path && !folders.length && !tracks.length) return [noLibrary()];
    const steps = path ? path.split("/") : [];
    const crumbs = h("nav.crumbs", { "aria-label": "Folder" }, h("a", { href: "#/library/folders" }, "Music"),
      ...steps.flatMap((name, index) => [icon("right"), h("a", { href: folderLink(steps.slice(0, index + 1).join("/")) }, name)]));
    const rows = folders.map((folder) => row({ symbol: "folder", title: folder.name, href: folderLink(folder.path), items: [{ folder: folder.path }] }));
    return [path ? h("div.crumb-row", crumbs, verbs([{ folder: path }], steps.at(-1))) : crumbs,
      h("ol.tracks", rows, tracks.map((track, index) => trackRow(track, { tracks, index, lead: track.track })))];
  },

  async radio() {
    const { radios } = await get("/library/radios");
    const add = h("button.soft", { onclick: addRadio }, icon("plus"), h("span", "Add a station"));
    if (!radios.length) return [empty("radio", "No station yet", "Add one with the address of its stream or playlist.", { button: "Add a station", act: addRadio })];
    return [h("div.sorts", h("span.dim", count(radios.length, "station")), add), h("ul.grid", radios.map(radioCard))];
  },

  async playlists() {
    const { playlists } = await get("/library/playlists");
    if (!playlists.length) return [empty("save", "No playlist yet", "Save the queue as a playlist, or put M3U files into the library's folders.")];
    return [h("ol.tracks", playlists.map((list) => row({ symbol: "queue", title: list.name, subtitle: count(list.trackCount, "track"),
      href: `#/library/playlist/${list.id}`, items: [{ playlistId: list.id }], more: [null, { icon: "trash", text: "Delete", isDangerous: true, act: () => drop(`/library/playlists/${list.id}`, list.name) }] })))];
  },

  async playlist(id) {
    const { playlist, entries } = await get(`/library/playlists/${encodeURIComponent(id)}`);
    return [pageHead({ title: playlist.name, text: count(entries.length, "track"), artwork: entries[0]?.artwork, items: [{ playlistId: id }] }),
      h("ol.tracks", entries.map((entry) => row({ artwork: entry.artwork, title: entry.title, subtitle: [entry.artist, entry.album].filter(Boolean).join(" · "), time: entry.durationS,
        items: [entry.trackId ? { trackId: entry.trackId } : { uri: entry.uri }] })))];
  },

  async search(text) {
    if (field.value.trim() !== text) field.value = text;
    const found = await get(`/library/search?q=${encodeURIComponent(text)}&limit=24`);
    const part = (title, items, build) => items?.length ? [h("h2.part", title), build(items)] : [];
    const grid = (card) => (items) => h("ul.grid", items.map((item) => (card.create ? fill(card.create(), card, item) : card(item))));
    const all = [
      ...part("Artists", found.artists, grid(artistCard)), ...part("Albums", found.albums, grid(albumCard)),
      ...part("Tracks", found.tracks, (tracks) => h("ol.tracks", tracks.map((track) =>
        row({ artwork: track.artwork, title: track.title, subtitle: [track.artist, track.album].filter(Boolean).join(" · "), time: track.durationS, items: [{ trackId: track.id }] })))),
      ...part("Radio", found.radios, grid(radioCard)),
      ...part("Playlists", found.playlists, (lists) => h("ol.tracks", lists.map((list) =>
        row({ symbol: "queue", title: list.name, subtitle: count(list.trackCount, "track"), href: `#/library/playlist/${list.id}`, items: [{ playlistId: list.id }] })))),
    ];
    return all.length ? all : [empty("search", `Nothing is called “${text}”`, "Fewer letters find more. The beginning of a word is enough.")];
  },
};

const folderLink = (path) => `#/library/folders/${path.split("/").map(encodeURIComponent).join("/")}`;

const noLibrary = () => empty("library", "The library is empty", "Name the folder that holds your music, then restart the server.", { command: "tutti serve --library ~/Music" });

/** A grid that fetches a hundred items when they come into view. */
async function pagedGrid(path, name, card) {
  const size = 100;
  const items = [];
  const asked = new Set();
  const list = new VirtualList(scroller, {
    className: "covers", gap: 16,
    columns: (width) => Math.max(2, Math.floor((width + 16) / (innerWidth < 700 ? 150 : 184))),
    rowHeight: (width) => Math.ceil(width) + 68,
    create: () => card.create(),
    update: (item, index) => fill(item, card, items[index]),
  });
  list.element.list = list;
  const load = async (page) => {
    if (asked.has(page)) return 0;
    asked.add(page);
    try {
      const found = await get(`${path}&offset=${page * size}&limit=${size}`);
      found[name].forEach((item, index) => (items[page * size + index] = item));
      return found.count;
    } catch (error) {
      asked.delete(page);
      if (!page) throw error;
      return 0;
    }
  };
  const total = await load(0);
  list.count = total;
  list.ondraw = async (first, end) => {
    for (let page = Math.floor(first / size); page * size < end; page++) if (await load(page)) list.refresh();
  };
  return { element: list.element, total };
}

function fill(item, card, thing) {
  item.classList.toggle("blank", !thing);
  if (thing && item.shown !== thing) {
    item.shown = thing;
    card.fill(item, thing);
  }
  return item;
}

const albumCard = {
  create() {
    const item = h("li.tile", h("a", cover(null), h("strong"), h("span.dim")),
      iconButton("play", "Play", () => enqueue([{ albumId: item.shown.id }], "now", item.shown.title), "filled.quick"));
    return item;
  },
  fill(item, album) {
    const [link, play] = item.children;
    link.href = `#/library/album/${album.id}`;
    setCover(link.firstChild, album.artwork);
    setText(link.children[1], album.title);
    setText(link.children[2], [album.artist, album.year].filter(Boolean).join(" · "));
    link.title = `${album.title} · ${album.artist}`;
    label(play, `Play ${album.title}`);
  },
};

const artistCard = {
  create: () => h("li.tile.artist", h("a", cover(null), h("strong"), h("span.dim"))),
  fill(item, artist) {
    const link = item.firstChild;
    link.href = `#/library/artist/${artist.id}`;
    setCover(link.firstChild, artist.artwork);
    setText(link.children[1], artist.name);
    setText(link.children[2], count(artist.albumCount, "album"));
  },
};

function radioCard(radio) {
  const play = () => enqueue([{ radioId: radio.id }], "now", radio.name);
  return h("li.tile", h("button.station", { onclick: play }, cover(radio.artwork), h("strong", radio.name), h("span.dim", host(radio.uri))),
    iconButton("more", `More for ${radio.name}`, (event) => playMenu(event.currentTarget, [{ radioId: radio.id }], radio.name,
      [null, { icon: "trash", text: "Delete the station", isDangerous: true, act: () => drop(`/library/radios/${radio.id}`, radio.name) }]), "corner"));
}

const host = (uri) => URL.canParse(uri) ? new URL(uri).host : uri;

function addRadio() {
  ask("Address of the station", { hint: "http://…", button: "Next", inputmode: "url" }, async (uri) => {
    if (!/^https?:\/\//.test(uri)) throw new Error("An address begins with http:// or https://");
    ask("Name of the station", { value: host(uri) }, async (name) => {
      await act("POST", "/library/radios", { name, uri }, [], { isQuiet: true });
      again();
    });
  });
}

async function drop(path, name) {
  if (!(await act("DELETE", path))) return;
  toast(`Deleted ${name}`);
  again();
}

function again() {
  shown = "";
  openLibrary();
}

const verbs = (items, name) => h("div.verbs",
  h("button.primary", { onclick: () => enqueue(items, "now", name) }, icon("play"), h("span", "Play")),
  h("button.soft", { onclick: () => enqueue(items, "next", name) }, h("span", "Play next")),
  h("button.soft", { onclick: () => enqueue(items, "end", name) }, icon("plus"), h("span", "Add")));

function pageHead({ title, byline, link, text, artwork, items, isRound }) {
  return h(isRound ? "header.page-head.artist" : "header.page-head", cover(artwork, 600 > innerWidth ? 300 : 1200),
    h("div.page-text", h("h1", title), byline && h("p.byline", link ? h("a", { href: link }, byline) : byline), h("p.dim", text), verbs(items, title)));
}

/** A track in its album: a tap plays the album from here on. */
function trackRow(track, { tracks, index, lead, subtitle }) {
  const from = () => enqueue(tracks.slice(index).map((other) => ({ trackId: other.id })), "now", track.title);
  return row({ lead, title: track.title, subtitle, time: track.durationS, hasVideo: track.hasVideo, items: [{ trackId: track.id }], play: from });
}

function row({ lead, artwork, symbol, title, subtitle, time, href, items, hasVideo, play, more }) {
  const start = play ?? (() => enqueue(items, "now", title));
  const inner = [
    lead != null && h("span.lead", lead), artwork !== undefined && cover(artwork), symbol && icon(symbol),
    h("span.two", h("span.entry-title", title), subtitle && h("span.dim", subtitle)),
    hasVideo && icon("video"), time != null && h("time", clock(time)),
  ].filter(Boolean);
  return h("li.row", href ? h("a.row-main", { href }, inner) : h("button.row-main", { onclick: start }, inner),
    iconButton("plus", `Add ${title} to the end`, () => enqueue(items, "end", title), "add"),
    iconButton("more", `More for ${title}`, (event) => playMenu(event.currentTarget, items, title, more)));
}
