// Access to this page: PIN field, address of a QR code, and parts that guests do not see.

import { request } from "./api.js"
import { byId, h, on, root } from "./dom.js"
import { ask, question } from "./overlay.js"

export const isGuest = () => root.dataset.asker === "guest"

/** Returns `items`, or nothing for a guest, who may not do these things. */
export const forHousehold = (...items) => (isGuest() ? [] : items)

/** Returns the secret of a QR code's address, and removes it from the address bar. */
function takeSecret() {
	const secret = location.hash.match(/^#pair=([0-9a-f]{1,100})$/)?.[1]
	if (secret) history.replaceState(null, "", "#/now")
	return secret
}

/** Returns true if the page may be built. Otherwise shows the PIN field. */
export async function enter() {
	const secret = takeSecret()
	let problem = ""
	if (secret && ["stranger", "guest"].includes(root.dataset.asker)) {
		try {
			await request("POST", "/browsers", { secret })
			root.dataset.asker = "browser"
			return true
		} catch (error) {
			problem = error.message
		}
	}
	if (root.dataset.asker === "stranger") {
		// Following a link on another site sends no cookie, but the page's own requests do.
		const known = await request("GET", "/access").catch(() => null)
		if (known) root.dataset.asker = known.data.asker
	}
	if (root.dataset.asker !== "stranger") return true
	askForPIN(problem)
	return false
}

function askForPIN(text = "") {
	const field = h("input.pin", { inputmode: "numeric", autocomplete: "off", maxlength: 9, placeholder: "1234 5678", called: "PIN of this household", autofocus: true })
	const form = question(field, "Open", async (pin) => {
		await request("POST", "/browsers", { pin: pin || "?" })
		await reload()
	})
	const [, problem, button] = form.children
	problem.textContent = text
	const digits = () => field.value.replace(/\D/g, "").slice(0, 8)
	on(field, "input", () => {
		problem.textContent = ""
		field.value = digits().replace(/^(\d{4})(?=\d)/, "$1 ")
		if (digits().length === 8 && !button.disabled) form.requestSubmit()
	})
	const brand = document.querySelector(".brand svg").cloneNode(true)
	const box = h("main.door", brand, h("h1", "PIN of this household"),
		h("p.dim", "On the computer that plays: ", h("code", "tutti pin"), ". Or on a paired phone: Rooms, Settings, Devices, Add a phone."), form,
		h("button.dim", askForToken, "Use a token instead"))
	byId("app").replaceWith(box)
	field.focus()
}

/** The form stays closed until the page is gone: the Enter key does not send it again. */
const reload = () => new Promise(() => location.reload())

function askForToken() {
	ask("Token of this household", { button: "Open", detail: "It stands in the configuration of the daemon, if it has one." }, async (token) => {
		await request("POST", "/login", { token })
		await reload()
	})
}
