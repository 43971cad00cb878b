// Podcasts that the household has subscribed to, and the episodes of one.

import { act, ask, clock, count, dateText, dotted, empty, forHousehold, h, isGuest, request, textButton, toast, url } from "./kit.js"
import { load } from "./library.js"
import { drop, pageHead, row } from "./tiles.js"

const path = "/library/podcasts"

const subscribe = () => ask("Address of the feed", { hint: "https://…", button: "Subscribe", inputmode: "url" }, async (uri) => {
	// The server reads the feed first.
	await request("POST", path, { uri }, { waitS: 30 })
	load()
})

export const podcastRow = ({ id, title, newCount, problem, artwork = null }) => row(title, [{ podcastId: id }], { artwork, href: `#/library/podcast/${id}`,
	below: dotted(newCount && `${newCount} new`, problem), more: forHousehold(null, drop(`${path}/${id}`, `podcast ${title}`)) })

export async function podcasts(_, read) {
	const { podcasts } = await read(path)
	const button = "Subscribe"
	return podcasts.length ? [!isGuest() && h("div.part", textButton(null, "Refresh", async () => (await act("POST", `${path}/refresh`)) && toast("Looks for new episodes")), textButton("plus", button, subscribe)),
		h("ol.tracks", podcasts.map(podcastRow))]
		: [empty("radio", "No podcast yet", "Subscribe by the address of its feed.", !isGuest() && { button, act: subscribe })]
}

export async function podcast(id, read) {
	const { podcast, episodes } = await read(path + url`/${id}`)
	return [pageHead("", podcast.title, null, count(episodes.length, "episode"), podcast.artwork, [{ podcastId: id }]),
		h("ol.tracks", episodes.map((one) => row(one.title, [{ episodeId: one.id }], { time: one.durationS,
			below: dotted(one.isNew && "New", one.publishedAtS && dateText(one.publishedAtS * 1000, { dateStyle: "medium" }), one.isPlayed ? "Played" : one.positionS && `at ${clock(one.positionS)}`),
			more: forHousehold(null, ["check", `Mark as ${one.isPlayed ? "not " : ""}played`, async () => (await act("PATCH", `/library/episodes/${one.id}`, { isPlayed: !one.isPlayed })) && load()]) })))]
}
