// Keys, focus and the current message. It needs no server: the exported file has it, too.

const feed = () => document.getElementById("feed");
const numbers = (name) => (feed()?.dataset[name] || "").split(",").filter(Boolean).map(Number);
const all = () => Array.from({ length: Number(feed()?.dataset.count || 0) }, (_, index) => index);

/** Loads the message with this number if it is not on the page. The exported file has all. */
let load = async () => {};
export const whenMissing = (loader) => (load = loader);

export const current = () => {
  const row = document.querySelector(".row.current") || visibleRow();
  return row ? Number(row.id.slice(1)) : -1;
};

function visibleRow() {
  const top = (document.getElementById("heads")?.getBoundingClientRect().bottom || 0) + 1;
  return [...document.querySelectorAll(".row")].find((row) => row.getBoundingClientRect().bottom > top);
}

export async function goTo(index, { focus = true } = {}) {
  if (!document.getElementById(`m${index}`)) await load(index);
  const row = document.getElementById(`m${index}`);
  if (!row) return;
  for (const old of document.querySelectorAll(".row.current")) {
    old.classList.remove("current");
    old.tabIndex = -1;
  }
  row.classList.add("current");
  row.tabIndex = 0;
  const place = () => row.scrollIntoView({ block: "start" });
  place();
  if (focus) row.focus({ preventScroll: true });
  // Rows that were never drawn have a guessed height; once they are drawn, the row is at another place.
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  place();
  history.replaceState(history.state, "", `#m${index}`);
}

function step(list, direction) {
  const here = current();
  const next = direction > 0 ? list.find((index) => index > here) : list.findLast((index) => index < here);
  if (next !== undefined) goTo(next);
}

function showHelp() {
  document.getElementById("help").showModal();
}

function toColumn(number) {
  const head = document.querySelectorAll("#heads .head")[number - 1];
  head?.querySelector("h2").focus();
  head?.scrollIntoView({ block: "nearest", inline: "center" });
}

const press = (selector) => document.querySelector(selector)?.click();

const KEYS = {
  j: () => step(all(), 1),
  k: () => step(all(), -1),
  n: () => step(numbers("changed"), 1),
  p: () => step(numbers("changed"), -1),
  N: () => step(numbers("refused"), 1),
  P: () => step(numbers("refused"), -1),
  "/": () => document.querySelector("[role=search] input[type=search]")?.focus(),
  d: () => press("#diff"),
  r: () => press("[aria-label='close the raw body']") ?? (document.querySelector("#raw") || press(".raw")),
  G: () => goTo(all().length - 1).then(() => document.getElementById("end").scrollIntoView({ block: "end" })),
  "?": showHelp,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const action = /^[1-9]$/.test(event.key) ? () => toColumn(Number(event.key)) : KEYS[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
});

document.addEventListener("click", (event) => {
  if (event.target.closest("#keys")) showHelp();
  const link = event.target.closest("a[href^='#m']");
  if (link && !event.defaultPrevented) {
    event.preventDefault();
    goTo(Number(link.hash.slice(2)));
  }
});

/** Goes to the message that the URL names: `#m115`, or a block of it, `#m115.b2`. */
export const followHash = () => {
  const found = /^#m(\d+)/.exec(location.hash);
  return found ? goTo(Number(found[1]), { focus: false }) : Promise.resolve();
};
addEventListener("hashchange", followHash);
followHash();
