// Runs before the first paint, so that a chosen theme never flashes in the other one.
(() => {
  const theme = localStorage.getItem("tutti.theme")
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme
})()
