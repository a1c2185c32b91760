// What needs the server: pages without a reload, chunks as they come near, whole texts, copying, models, live.
import { current, followHash, goTo, goToHash, whenMissing } from "./keys.js";
import { watch } from "./live.js";

const parse = (text) => new DOMParser().parseFromString(text, "text/html");

async function fetchText(address) {
  const response = await fetch(address);
  if (!response.ok && response.status !== 422) throw new Error(`${address}: ${response.status}`);
  return [await response.text(), response.url];
}

// -- pages ------------------------------------------------------------------------------------------------------------

/** Shows another page in place of this one. The message that is read stays in view. */
async function visit(address, { push = true } = {}) {
  const here = current();
  const open = [...document.querySelectorAll("#heads details[open] > summary")].map((each) => each.textContent);
  const [text, final] = await fetchText(address);
  const next = parse(text);
  const hash = new URL(address, location.href).hash;
  for (const name of ["top", "page"]) document.getElementById(name).replaceWith(next.getElementById(name));
  document.title = next.title;
  if (push) history.pushState(null, "", final.split("#")[0] + hash);
  for (const summary of document.querySelectorAll("#heads summary")) {
    if (open.includes(summary.textContent)) summary.parentElement.open = true;
  }
  start();
  if (hash) await followHash();
  else if (here > 0 && document.getElementById("feed")) await goTo(here, { focus: false });
}

function formAddress(form) {
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  const readable = { "%2F": "/", "%2C": ",", "%3A": ":" };
  return `${form.getAttribute("action")}?${`${query}`.replace(/%(2F|2C|3A)/g, (each) => readable[each])}`;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-visit]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    visit(link.href);
  }
});
document.addEventListener("submit", (event) => {
  if (event.target.hasAttribute("data-visit")) {
    event.preventDefault();
    visit(formAddress(event.target)).then(() => {
      const hit = document.querySelector("#find .hit");
      if (hit && event.target.id === "find") goToHash(hit.hash);
    });
  }
});
document.addEventListener("change", (event) => {
  if (event.target.form?.dataset.visit === "change") event.target.form.requestSubmit();
});
addEventListener("popstate", () => visit(location.href, { push: false }));

// -- long conversations -----------------------------------------------------------------------------------------------

const NEAR = 1500;
const near = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => fill(entry.target)),
  { rootMargin: `${NEAR}px` },
);

const filling = new WeakMap();

/** Loads the rows of a chunk, once. Who asks again waits for the same answer. */
function fill(chunk) {
  if (chunk.classList.contains("waiting") && !filling.has(chunk)) filling.set(chunk, loadRows(chunk));
  return filling.get(chunk);
}

async function loadRows(chunk) {
  near.unobserve(chunk);
  try {
    const [text] = await fetchText(chunk.dataset.src);
    chunk.replaceChildren(...parse(text).body.childNodes);
    chunk.classList.remove("waiting");
  } catch (error) {
    filling.delete(chunk);
    chunk.textContent = String(error);
  }
}

const chunkOf = (index) => {
  const size = Number(document.getElementById("feed").dataset.chunk);
  return document.getElementById(`c${Math.floor(index / size) * size}`);
};
const isNear = (chunk) => {
  const { top, bottom } = chunk.getBoundingClientRect();
  return bottom > -NEAR && top < innerHeight + NEAR;
};
whenMissing(
  async (index) => {
    const chunk = document.getElementById("feed") && chunkOf(index);
    if (chunk) await fill(chunk);
  },
  async () => {
    const waiting = [...document.querySelectorAll(".chunk.waiting")].filter(isNear);
    await Promise.all(waiting.map(fill));
    return waiting.some((chunk) => !chunk.classList.contains("waiting"));
  },
);

// -- small things -----------------------------------------------------------------------------------------------------

document.addEventListener("click", async (event) => {
  const more = event.target.closest("a.more");
  if (more) {
    event.preventDefault();
    const [text] = await fetchText(more.href);
    const whole = document.createElement("span");
    whole.textContent = text;
    more.parentElement.replaceChildren(whole);
  }
  const copy = event.target.closest("[data-copy], [data-copy-from]");
  if (copy) {
    const text = copy.dataset.copy ?? (await fetchText(copy.dataset.copyFrom))[0];
    await navigator.clipboard.writeText(text);
    const label = copy.textContent;
    copy.textContent = "copied";
    setTimeout(() => (copy.textContent = label), 1500);
  }
});

let models = null;
document.addEventListener("focusin", async (event) => {
  if (event.target.getAttribute("list") !== "models") return;
  models ??= JSON.parse((await fetchText("/models.json"))[0]);
  const list = document.getElementById("models");
  if (!list.childElementCount) list.append(...models.map((name) => new Option(name, name)));
});

document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  const file = event.dataTransfer.files[0];
  if (!file) return;
  event.preventDefault();
  const form = new FormData();
  form.append("file", file);
  const response = await fetch("/open", { method: "POST", body: form });
  if (response.redirected) location.href = response.url;
  else document.getElementById("page").replaceWith(parse(await response.text()).getElementById("page"));
});

/** Prepares what the page has now. */
function start() {
  near.disconnect();
  document.querySelectorAll(".chunk.waiting").forEach((chunk) => near.observe(chunk));
  watch({ parse, fetchText, observe: (chunk) => near.observe(chunk) });
}
start();
if (location.hash) followHash();
else if (document.querySelector("#find .hit")) goToHash(document.querySelector("#find .hit").hash, false);
