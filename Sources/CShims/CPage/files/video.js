// A video of the library, muted in this tab, in step with its sound in the rooms.

import { currentGroup } from "./actions.js";
import { get } from "./api.js";
import { h, iconButton } from "./dom.js";
import { slider } from "./slider.js";

const seekBeyondS = 0.25;
const delayKey = "tutti.screenDelayMs";
let video = null;
let shade = null;
let truth = null;
let timer = 0;

/** Opens the picture over the cover, or closes it. */
export function toggleVideo(art) {
  if (video) return stopVideo();
  const group = currentGroup();
  if (!group?.item?.hasVideo) return undefined;
  video = h("video", { playsinline: true, disableremoteplayback: true, "aria-label": group.item.title });
  video.muted = true;
  video.trackId = group.item.trackId;
  video.src = `api/v1/library/tracks/${encodeURIComponent(video.trackId)}/media`;
  const delay = slider({ label: "What this screen adds, in milliseconds", min: -100, max: 300, step: 5, tapStep: 5,
    format: (value) => `screen ${value} ms`, oninput: (value) => localStorage.setItem(delayKey, value) });
  delay.set(screenDelayMs());
  shade = h("div.video", video, h("div.video-tools", delay.element,
    iconButton("full", "Whole screen", () => shade.requestFullscreen?.()), iconButton("close", "Close the video", stopVideo)));
  art.parentElement.append(shade);
  measure();
  frame();
  return undefined;
}

export function stopVideo() {
  clearTimeout(timer);
  if (!video) return;
  video.removeAttribute("src");
  video.load();
  shade.remove();
  video = shade = truth = null;
}

/** Another item plays: its picture takes the place, or none. */
export function videoFollows(group) {
  if (video && video.trackId !== group.item.trackId) stopVideo();
}

const screenDelayMs = () => Number(localStorage.getItem(delayKey) ?? 0);

/** Asks for the presentation time. The quickest of the last answers places the server's clock best. */
let bestTripMs = Infinity;
async function measure() {
  const group = currentGroup();
  if (!video || !group) return;
  const sent = performance.now();
  try {
    const answer = await get(`/groups/${group.id}/presentation`);
    const trip = performance.now() - sent;
    bestTripMs = Math.min(bestTripMs * 1.1, trip);
    const skewMs = answer.nowMs - (sent + trip / 2);
    truth = { ...answer, skewMs: truth && trip > bestTripMs * 1.5 ? truth.skewMs : skewMs };
  } catch {
    // The next second asks again; until then the last answer holds.
  }
  timer = setTimeout(measure, 1000);
}

/** Where the sound is at a moment of this page's clock, in seconds. */
function soundAt(pageMs) {
  const group = currentGroup();
  if (!truth || !group) return null;
  if (truth.state !== "playing" || group.state !== "playing") return { s: group.positionS, isMoving: false };
  return { s: truth.positionS + ((pageMs + truth.skewMs - truth.positionAtMs) / 1000) * truth.rate, isMoving: true };
}

/** Each presented frame says which picture is seen and when: the difference to the sound steers the rate. */
function frame(nowMs, shown) {
  if (!video) return;
  steer(shown ? shown.mediaTime : video.currentTime, shown ? shown.expectedDisplayTime : performance.now());
  const again = (now, meta) => frame(now, meta);
  if (video.requestVideoFrameCallback && !video.paused && video.readyState > 1) {
    let isDone = false;
    const once = (now, meta) => { if (!isDone) { isDone = true; again(now, meta); } };
    video.requestVideoFrameCallback(once);
    setTimeout(once, 250);
  } else setTimeout(again, 100);
}

let lastSeekMs = 0;
let ahead = 0;
function steer(pictureS, atMs) {
  const sound = soundAt(atMs + screenDelayMs());
  if (!sound || video.readyState < 1 || video.seeking) return;
  const error = pictureS - sound.s;
  if (!sound.isMoving) {
    if (!video.paused) video.pause();
    if (Math.abs(error) > 0.05) video.currentTime = Math.max(0, sound.s);
    return;
  }
  if (video.paused && !video.ended) video.play().catch(() => {});
  video.dataset.errorMs = (error * 1000).toFixed(1);
  if (Math.abs(error) > seekBeyondS) {
    // A seek takes a while; the next aims so much further ahead as the last one came too late.
    if (performance.now() - lastSeekMs < 700) return;
    ahead = Math.min(1, Math.max(0, ahead - (performance.now() - lastSeekMs < 3000 ? error : 0)));
    lastSeekMs = performance.now();
    video.currentTime = Math.max(0, sound.s + ahead);
    return;
  }
  const correction = Math.abs(error) < 0.004 ? 0 : Math.max(-0.06, Math.min(0.06, -error * 0.8));
  const rate = Math.max(0.0625, Math.min(16, (truth.rate ?? 1) * (1 + correction)));
  if (Math.abs(video.playbackRate - rate) > 0.002) video.playbackRate = rate;
}
