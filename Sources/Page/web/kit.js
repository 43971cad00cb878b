// Everything that views share, for one import.

export * from "./access.js"
export * from "./actions.js"
export * from "./api.js"
export * from "./dom.js"
export * from "./favourites.js"
export * from "./overlay.js"
export * from "./slider.js"
export * from "./truth.js"
