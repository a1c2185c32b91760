// Keys, focus and the current message. It needs no server: the exported file has it, too.

const feed = () => document.getElementById("feed");
const numbers = (name) => (feed()?.dataset[name] || "").split(",").filter(Boolean).map(Number);
const all = () => Array.from({ length: Number(feed()?.dataset.count || 0) }, (_, index) => index);

/** Loads the message with this number if it is not on the page. The exported file has all. */
let load = async () => {};
/** Loads the messages around what is shown, and returns whether there were any. */
let loadAround = async () => false;
export const whenMissing = (one, around) => ([load, loadAround] = [one, around]);

/** Counts where the reader wanted to be: an earlier wish ends when there is another, or when they scroll. */
let wish = 0;
for (const name of ["wheel", "touchmove"]) addEventListener(name, () => wish++, { passive: true });

export const current = () => {
  const row = document.querySelector(".row.current") || visibleRow();
  return row ? Number(row.id.slice(1)) : -1;
};

function visibleRow() {
  const top = (document.getElementById("heads")?.getBoundingClientRect().bottom || 0) + 1;
  return [...document.querySelectorAll(".row")].find((row) => row.getBoundingClientRect().bottom > top);
}

/** Marks the block or turn that a link leads to. */
function mark(place) {
  document.querySelector("[aria-current=location]")?.removeAttribute("aria-current");
  place?.setAttribute("aria-current", "location");
  return place;
}

/** Goes to a message, or to one of its blocks. */
export async function goTo(index, { focus = true, block = null } = {}) {
  const mine = ++wish;
  if (!document.getElementById(`m${index}`)) await load(index);
  const row = document.getElementById(`m${index}`);
  if (!row) return;
  for (const old of document.querySelectorAll(".row.current")) {
    old.classList.remove("current");
    old.tabIndex = -1;
  }
  row.classList.add("current");
  row.tabIndex = 0;
  const inside = block === null ? null : document.getElementById(`m${index}.b${block}`);
  mark(inside);
  inside?.querySelector("details")?.setAttribute("open", "");
  const place = () => {
    // The heads cover the top, and are higher while one of their lists is open.
    const covered = document.getElementById("heads")?.offsetHeight + document.getElementById("top")?.offsetHeight;
    document.documentElement.style.scrollPaddingTop = `${Math.min(covered || 0, innerHeight * 0.7)}px`;
    row.scrollIntoView({ block: "start" });
    if (inside?.getBoundingClientRect().bottom > innerHeight) inside.scrollIntoView({ block: "center" });
  };
  place();
  if (focus) row.focus({ preventScroll: true });
  // Rows that were never drawn have a guessed height; once those above are loaded and drawn, the row is elsewhere.
  do {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    if (mine !== wish) return;
    place();
  } while (await loadAround());
  if (mine === wish) history.replaceState(history.state, "", inside ? `#${inside.id}` : `#m${index}`);
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
  const button = event.target.closest("[data-key]");
  if (button) KEYS[button.dataset.key]();
  const link = event.target.closest("a[href^='#m']");
  if (link && !event.defaultPrevented) {
    event.preventDefault();
    goToHash(link.hash);
  }
});

/** Goes to a message, `#m115`, to a block of it, `#m115.b2`, or to a turn of a raw body, `#t115`. */
export async function goToHash(hash, focus = true) {
  const found = /^#m(\d+)(?:\.b(\d+))?$/.exec(hash);
  if (found) await goTo(Number(found[1]), { focus, block: found[2] ?? null });
  else if (/^#t-?\d+$/.test(hash)) mark(document.getElementById(hash.slice(1)))?.scrollIntoView({ block: "center" });
}
export const followHash = () => goToHash(location.hash, false);
addEventListener("hashchange", followHash);
followHash();
