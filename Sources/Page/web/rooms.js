// Rooms and groups: which rooms play together, and how loud.

import {
	act, ask, byId, chooseGroup, chooseRooms, cover, currentGroup, forHousehold, form, groupVolume, h, iconButton, isGuest, isOut, isRunning, isSettable,
	isTrouble, join, joins, keyed, label, leave, leaves, lines, mark, menu, merge, micros, newGroup, noRooms, patchGroup, patchRoom, pick, reachable, request, roomVolume, setIcon, setItemCover, setText,
	sheet, stateText, store, textButton, ticked, toast, toggle, volumeRow, whole,
} from "./kit.js"
import { pair, roomSheet } from "./room.js"
import { settings } from "./setup.js"

const view = byId("rooms")
const scenes = h("div.scenes")
const everywhere = h("button.chip", { onclick: () => patchGroup(currentGroup(), { roomIds: [...new Set([...currentGroup().roomIds, ...reachable().map((room) => room.id)])] }) }, "Everywhere")
const cards = h("div.cards")
const free = h("ul.card")
const freeBox = h("div.free-box", h("h2", "Not in a group"), free)
const nothing = noRooms()
const create = textButton("plus", "New group", () => chooseRooms(null, { title: "New group", button: "Make the group", withOthers: true }))
const say = textButton("speaker", "Announce", announce)

export function buildRooms() {
	view.append(h("header.view-head", h("h1", "Rooms"), ...forHousehold(textButton("tune", "Settings", () => settings(), ".soft.slim")), say, create), h("div.scroll", h("div.scenes", everywhere, scenes), cards, freeBox, nothing))
}

export function drawRooms() {
	const current = currentGroup()
	const groups = store.allGroups()
	const loose = store.allRooms().filter((room) => !groups.some((group) => group.id === room.groupId))
	everywhere.hidden = !current || reachable().every((room) => room.groupId === current.id)
	keyed(scenes, store.scenes, sceneChip, (chip, scene) => setText(chip, scene.name))
	keyed(cards, groups, groupCard, (card, group) => card.draw(group, group.id === current?.id))
	keyed(free, loose, looseRow, (row, room) => row.draw(room, current))
	freeBox.hidden = !loose.length
	nothing.hidden = store.rooms.size > 0
	say.hidden = create.hidden = !store.rooms.size
}

/** Plays the shown group's music in the scene's rooms. */
const sceneChip = ({ id }) => h("button.chip", { onclick: () => act("POST", `/scenes/${id}/recall`, currentGroup() ? { groupId: currentGroup().id } : {}) })

function groupCard(group) {
	const send = groupVolume()
	const [picture, text] = [cover(), lines()]
	const choose = h("button.group-pick", () => chooseGroup(group.id), picture, text.box)
	const play = iconButton("play", "Play", () => toggle(group), ".filled")
	const volume = volumeRow((value) => send(group, value), () => patchGroup(group, { muted: !group.muted }))
	const members = h("ul.members")
	const more = iconButton("more", "", () => roomSheet(group.roomIds[0]))
	const volumeLine = h("div.volume-row", volume.parts, more)
	const edit = textButton("plus", "", () => chooseMembers(group.id), ".add-rooms")
	const card = h("section.card.group", h("div.group-head", choose, play, iconButton("more", "More for this group", (event) => groupMenu(event.currentTarget, group))),
		volumeLine, members, edit)
	card.draw = (now, isCurrent) => {
		group = now
		const rooms = store.roomsOf(group)
		// A single room needs no second slider, one that is out none at all.
		const isOne = rooms.length === 1
		members.hidden = !rooms.length || (isOne && !isOut(rooms[0]))
		volumeLine.hidden = !rooms.length || (isOne && isOut(rooms[0]))
		mark(volumeLine, "one", isOne)
		label(more, `More for ${rooms[0]?.name}`)
		play.hidden = !rooms.length
		setText(edit.lastChild, rooms.length ? "Add or remove rooms" : "Add rooms")
		text.tell(group.name, group.item ? `${group.state === "paused" ? "Paused: " : ""}${group.item.title}` : rooms.length ? "Nothing plays" : "Waits for a room")
		setItemCover(picture, group.item)
		mark(card, "current", isCurrent)
		card.ariaLabel = group.name
		choose.ariaPressed = isCurrent
		setIcon(play, isRunning(group) ? "pause" : "play")
		label(play, `${isRunning(group) ? "Pause" : "Play"} in ${group.name}`)
		volume.draw(group.name, group.volume, group.muted, !isSettable(group))
		keyed(members, rooms, memberRow, (row, room) => row.draw(room, group))
	}
	return card
}

function memberRow(room) {
	let group
	const send = roomVolume()
	const text = lines("span")
	const check = iconButton("check", "Leave", () => leave(group, room), ".check")
	const more = iconButton("more", "", () => roomSheet(room.id))
	const volume = volumeRow((value) => send(room, value), () => patchRoom(room, { muted: !room.muted }))
	const take = h("button.soft.take", () => join(group, room), "Take over")
	const row = h("li.member", check, text.box, volume.parts.slice(1), take, more)
	row.draw = (now, owner) => {
		[room, group] = [now, owner]
		setText(text.top, room.name)
		const sync = room.sync && `± ${micros(Math.abs(room.sync.errorUs))}`
		setText(text.below, isTrouble(room) ? stateText(room) : room.muted ? "muted" : room.state === "playing" && sync ? sync : room.state === "free" ? "" : stateText(room))
		mark(row, "bad", isTrouble(room))
		mark(row, "out", isOut(room))
		take.hidden = room.state !== "taken"
		label(check, leaves(room))
		label(more, `More for ${room.name}`)
		volume.draw(room.name, room.volume, room.muted, room.volume == null || isOut(room))
	}
	return row
}

function looseRow(room) {
	const text = lines()
	const use = h("button.soft", () => useRoom(room))
	const more = iconButton("more", "", () => roomSheet(room.id))
	const row = h("li.loose", h("span.dot"), text.box, use, more)
	row.draw = (now, current) => {
		room = now
		text.tell(room.name, room.state === "free" && room.volume != null && !isTrouble(room) ? `volume ${whole(room.volume)}` : stateText(room))
		const verb = { away: "", noDevice: "", notPaired: isGuest() ? "" : "Pair", taken: isGuest() ? "" : "Take over" }[room.state] ?? (current ? "Join" : "Play here")
		use.hidden = !verb
		setText(use, verb)
		label(use, verb === "Join" ? joins(room, current) : `${verb}: ${room.name}`)
		mark(row, "gone", !verb)
		label(more, `More for ${room.name}`)
	}
	return row
}

function useRoom(room) {
	const current = currentGroup()
	if (!room.isPaired) pair(room)
	else if (current) join(current, room)
	else newGroup([room.id])
}

function groupMenu(anchor, group) {
	const path = `/groups/${group.id}`
	menu(anchor, group.name, [
		...forHousehold(["tune", "Rename", () => ask("Name of the group", { value: group.isNamed ? group.name : "", hint: group.name },
			(name) => request("PATCH", path, { name }))]),
		["plus", "Add or remove rooms", () => chooseMembers(group.id)],
		...forHousehold(group.roomIds.length > 0 && ["heart", "Save as a scene", () => ask("Name of the scene", { hint: group.name, button: "Save" }, (name) => request("POST", "/scenes", { groupId: group.id, name }))],
			store.scenes.length > 0 && ["trash", "Forget a scene", () => menu(anchor, "Forget a scene", store.scenes.map((scene) => ["trash", scene.name, () => act("DELETE", `/scenes/${scene.id}`)]))]),
		...store.allGroups().filter((other) => other.id !== group.id)
			.map((other) => ["speaker", joins(other, group), () => merge(group, other)]),
		group.roomIds.length > 1 && ["close", "Each room plays alone", async () => {
			for (const id of group.roomIds.slice(1)) await act("POST", "/groups", { roomIds: [id] })
		}],
		...forHousehold(null, ["trash", "Dissolve the group", () => act("DELETE", path), "danger"]),
	])
}

/** Asks for words and rooms. Without words it is the chime alone. */
function announce() {
	sheet("Announce", (body, close) => {
		const text = h("input", { placeholder: "Dinner is ready", called: "Words", maxlength: 1000, autofocus: true, autocomplete: "off" })
		const rooms = h("div", store.pairedRooms().filter((room) => room.isPresent).map((room) => pick(room, isOut(room) ? stateText(room) : "", null, !isOut(room))))
		const chime = pick({ name: "With a chime" }, "", null, true)
		const say = async () => {
			const done = await act("POST", "/announce", { ...(text.value.trim() && { text: text.value }), roomIds: ticked(rooms), chime: ticked(chime).length > 0 }, [], { waitS: 20 })
			if (!done) return
			close()
			toast(done.said)
		}
		body.append(form("Announce", say, text, h("div", chime, h("hr"), rooms)))
	})
}

/** Lists all rooms, those in the group checked. A tap joins or leaves at once. */
function chooseMembers(groupId) {
	sheet("Rooms that play together", (body, close) => {
		const list = h("div")
		body.append(list, h("button.primary", close, "Done"))
		return () => {
			const group = store.group(groupId)
			if (!group) return close()
			const rooms = store.pairedRooms().filter((room) => room.isPresent || room.groupId === groupId)
			return keyed(list, rooms,
				(room) => pick(room, "", (event) => (event.target.checked ? join : leave)(store.group(groupId), store.room(room.id))),
				(row, room) => {
					const isIn = room.groupId === groupId
					row.querySelector("input").checked = isIn
					const other = !isIn && store.group(room.groupId)
					setText(row.querySelector(".dim"), other ? `now in ${other.name}` : isTrouble(room) ? stateText(room) : "")
				})
		}
	})
}
