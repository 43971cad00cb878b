// Phones and computers that may use the page: adding, naming and removing them, and guests.

import { count, dotted, get, h, icon, iconButton, keyed, lines, menu, on, renameLine, request, setText, sheet, svg, textButton, toast, warn } from "./kit.js"

const when = (days) => (days ? (days === 1 ? "yesterday" : `${count(days, "day")} ago`) : "today")

/** Draws a QR code as one path, dark on light in both themes. */
function picture(rows) {
	const dark = rows.flatMap((row, y) => [...row.matchAll(/1+/g)].map((run) => `M${run.index} ${y}h${run[0].length}v1h-${run[0].length}z`)).join("")
	const size = rows.length
	return svg("svg", { class: "qr", viewBox: `-3 -3 ${size + 6} ${size + 6}`, role: "img", "aria-label": "QR code of this page", "shape-rendering": "crispEdges" }, svg("path", { d: dark }))
}

function addPhone() {
	sheet("Add a phone", (body) => {
		request("POST", "/browsers/invitations").then(({ data }) => {
			const page = data.address.split("#")[0].replace(/\/$/, "")
			body.append(h("p", "Scan this with the phone's camera. It counts once, for ten minutes."), picture(data.rows),
				h("p.dim", "Or open this address there, and type the PIN:"), h("p.typed", h("span", page), h("strong.number", data.pin)))
		}, (error) => body.append(h("p.problem", { role: "alert" }, error.message)))
	})
}

export function devices() {
	sheet("Devices", (body) => {
		const list = h("ul.devices")
		const guests = h("input", { type: "checkbox", role: "switch" })
		const hint = h("span.dim")
		const draw = async () => {
			const [{ browsers }, access] = await Promise.all([get("/browsers"), get("/access")])
			keyed(list, browsers, () => {
				const text = lines()
				return Object.assign(h("li.loose", icon("phone"), text.box), { text })
			}, (row, one) => {
				row.text.tell(one.name, dotted(one.isAsker && "this one", `seen ${when(one.seenDaysAgo)}`))
				row.querySelector("button")?.remove()
				row.append(iconButton("more", `More for ${one.name}`, (event) => deviceMenu(event.currentTarget, one, draw)))
			})
			none.hidden = browsers.length > 0
			guests.checked = access.open
			guests.disabled = access.isOpenFixed
			setText(hint, access.isOpenFixed ? "The configuration of the daemon says so." : "Everybody on this network plays, skips and sets the volume, without a PIN.")
		}
		const none = h("p.dim", "No phone or computer is paired yet.")
		on(guests, "change", () => request("PATCH", "/access", { open: guests.checked }).catch(warn).then(draw).catch(warn))
		body.append(list, none, textButton("plus", "Add a phone", addPhone, ".primary"),
			h("label.pick", guests, h("span.two", h("span", "Guests may steer music"), hint), icon("check")),
			textButton(null, "Make another PIN", async () => {
				const made = await request("POST", "/access/pin").catch(warn)
				if (made) toast(`The PIN is ${made.data.pin} now`)
			}))
		draw().catch(warn)
	})
}

function deviceMenu(anchor, one, draw) {
	const path = `/browsers/${one.id}`
	const changed = (error) => (error instanceof Error ? warn(error) : draw())
	menu(anchor, one.name, [
		renameLine("device", one.name, async (name) => {
			await request("PATCH", path, { name })
			await draw()
		}),
		["trash", one.isAsker ? "Remove this one: it has to pair again" : "Remove", () => request("DELETE", path).then(() => (one.isAsker ? location.reload() : changed()), changed), "danger"],
	])
}
