// Conversations and lists that grow while they are shown. The end is followed until the user scrolls up.

let source = null;
let sized = null;

export function watch({ parse, fetchText, observe }) {
  source?.close();
  source = null;
  onscroll = document.onvisibilitychange = null;
  sized?.disconnect();
  const page = document.querySelector("[data-live]");
  if (!page) return;
  const status = document.getElementById("live");
  const feed = document.getElementById("feed"); // a list has its newest rows first, so there is no end to follow
  let following = feed && atEnd();
  let [scrolled, height] = [scrollY, document.body.scrollHeight];
  const show = () => {
    const text = feed ? (following ? "live, following the end" : "live, not following") : "live";
    if (source && status.textContent !== text) status.textContent = text;
  };
  const toEnd = () => following && scrollTo(0, document.body.scrollHeight);
  onscroll = () => {
    // Scrolling up stops following. If the height has changed too, it was not the user who scrolled.
    const now = document.body.scrollHeight;
    if (now === height && scrollY < scrolled - 4) following = false;
    else if (feed && atEnd()) following = true;
    [scrolled, height] = [scrollY, now];
    show();
  };
  sized = new ResizeObserver(toEnd);
  sized.observe(document.body);
  let busy = false;
  let again = false;
  const update = async () => {
    again = busy;
    if (busy) return;
    busy = true;
    try {
      do {
        again = false;
        const [text] = await fetchText(page.dataset.refresh);
        if (!page.isConnected) return;
        merge(parse(text), observe);
        toEnd();
      } while (again);
      show();
    } catch (error) {
      status.textContent = `live: ${error.message}`;
    } finally {
      busy = false;
    }
  };
  const connect = () => {
    source = new EventSource(page.dataset.live);
    source.addEventListener("grown", update);
    source.addEventListener("open", show);
    source.addEventListener("error", () => (status.textContent = "live: the connection is lost"));
  };
  // A browser has few connections per server, so pages in the background have none. They catch up when they are shown.
  document.onvisibilitychange = () => {
    source?.close();
    source = null;
    if (!document.hidden) connect();
  };
  if (!document.hidden) connect();
}

const atEnd = () => scrollY + innerHeight > document.body.scrollHeight - 60;

/** Takes over what is new: heads, strip and title, chunks that the new page has in full, chunks that are new. */
function merge(next, observe) {
  const open = [...document.querySelectorAll("#heads details[open] > summary")].map((each) => each.textContent);
  for (const name of ["top", "strip", "heads", "list"]) {
    const [old, fresh] = [document.getElementById(name), next.getElementById(name)];
    const focused = old?.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    if (!old || !fresh || (name !== "list" && old.contains(document.activeElement))) continue;
    old.replaceWith(fresh);
    if (focused) fresh.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }
  for (const summary of document.querySelectorAll("#heads summary")) {
    if (open.includes(summary.textContent)) summary.parentElement.open = true;
  }
  const feed = document.getElementById("feed");
  if (!feed) return;
  Object.assign(feed.dataset, next.getElementById("feed").dataset);
  for (const chunk of next.querySelectorAll(".chunk")) {
    const known = document.getElementById(chunk.id);
    if (!known) {
      feed.append(chunk);
      if (chunk.classList.contains("waiting")) observe(chunk);
    } else {
      mergeRows(known, chunk);
    }
  }
}

/** Replaces only the rows that differ, so that what the user has opened or selected stays. */
function mergeRows(known, chunk) {
  if (known.classList.contains("waiting") || chunk.classList.contains("waiting")) return;
  for (const row of chunk.querySelectorAll(".row")) {
    const old = document.getElementById(row.id);
    if (!old) known.append(row);
    else if (old.textContent !== row.textContent) old.replaceWith(row);
  }
}
