"use strict";
// The server draws every message. This script puts times into the browser's
// zone, keeps the lists in order while changes stream in, and sends presses.

const pad = (n) => String(n).padStart(2, "0");
const long = { month: "long", day: "numeric", year: "numeric" };

function dayName(at, options) {
  const day = (d) => new Date(d.getFullYear(), d.getMonth(), d.getDate()).getTime();
  const off = Math.round((day(now()) - day(at)) / 864e5);
  if (off === 0) return "Today";
  if (off === 1) return "Yesterday";
  if (off === -1) return "Tomorrow";
  return at.toLocaleDateString("en-US", options);
}

// now is the stage's time, which the banner carries.
function now() {
  const at = Date.parse(document.getElementById("stage").textContent);
  return new Date(Number.isNaN(at) ? Date.now() : at);
}

function formatDate(at, format) {
  const short = { month: "short", day: "numeric", year: "numeric" };
  const full = { weekday: "long", ...long };
  const time = pad(at.getHours()) + ":" + pad(at.getMinutes());
  const fields = {
    date_num: () => at.getFullYear() + "-" + pad(at.getMonth() + 1) + "-" + pad(at.getDate()),
    date_slash: () => pad(at.getDate()) + "/" + pad(at.getMonth() + 1) + "/" + at.getFullYear(),
    date: () => at.toLocaleDateString("en-US", long),
    date_pretty: () => dayName(at, long),
    date_short: () => at.toLocaleDateString("en-US", short),
    date_short_pretty: () => dayName(at, short),
    date_long: () => at.toLocaleDateString("en-US", full),
    date_long_pretty: () => dayName(at, full),
    time: () => time,
    time_secs: () => time + ":" + pad(at.getSeconds()),
    ago: () => dayName(at, { month: "short", day: "numeric" }).toLowerCase().replace(/^[a-z]{3} /, (m) => m[0].toUpperCase() + m.slice(1)) + " at " + time,
  };
  return format.replace(/\{([a-z_]+)\}/g, (all, name) => (fields[name] ? fields[name]() : all));
}

function localTimes(root) {
  for (const el of root.querySelectorAll("time[data-format]")) {
    el.textContent = formatDate(new Date(el.getAttribute("datetime")), el.dataset.format);
  }
  for (const el of root.querySelectorAll(".stripe[data-color]")) {
    const named = { good: "#2eb886", warning: "#daa038", danger: "#a30200" };
    const color = named[el.dataset.color] || el.dataset.color;
    if (color) el.style.backgroundColor = /^[0-9a-f]{3,8}$/i.test(color) ? "#" + color : color;
  }
}

// arrange puts day lines between days, folds messages of one author within five
// minutes, and counts the replies of a thread.
function arrange(list) {
  if ((list.dataset.list || "").startsWith("home:")) return; // one page, no messages
  list.querySelectorAll(".day, .count").forEach((el) => el.remove());
  const thread = (list.dataset.list || "").startsWith("thread:");
  let last = null;
  const items = [...list.querySelectorAll(":scope > .msg")];
  items.forEach((el, i) => {
    const at = new Date(Number(el.dataset.ts) * 1000);
    const newDay = !last || last.at.toDateString() !== at.toDateString();
    if (newDay && list.dataset.list && !thread) {
      const line = document.createElement("li");
      line.className = "day";
      line.append(document.createElement("span"));
      line.firstChild.textContent = dayName(at, { weekday: "long", month: "long", day: "numeric" });
      el.before(line);
    }
    const special = el.classList.contains("ephemeral") || !list.dataset.list || (thread && i === 1);
    el.classList.toggle("compact", !special && !newDay && last.author === el.dataset.author && at - last.at < 3e5 && !el.querySelector(":scope > .only"));
    last = { at, author: el.dataset.author };
    // What only one person sees is no reply: the channel does not count it either.
    const replies = items.filter((item) => !item.classList.contains("ephemeral")).length - 1;
    if (thread && i === 0 && replies > 0) {
      const count = document.createElement("li");
      count.className = "count";
      count.textContent = replies + (replies === 1 ? " reply" : " replies");
      el.after(count);
    }
  });
}

function draw(root) {
  localTimes(root);
  root.querySelectorAll(".list").forEach(arrange);
}

const atEnd = (el) => el.scrollHeight - el.scrollTop - el.clientHeight < 80;
const toEnd = (el) => { el.scrollTop = el.scrollHeight; };

function put(fragment) {
  const list = document.querySelector(`[data-list="${CSS.escape(fragment.list)}"]`);
  if (!list) {
    const link = document.querySelector(`#side a[data-id="${CSS.escape(fragment.list.split(":")[1])}"]`);
    if (link && !link.hasAttribute("aria-current")) link.classList.add("unread");
    return;
  }
  const scroll = list.parentElement, follow = atEnd(scroll);
  const old = list.querySelector(`:scope > .msg[data-ts="${CSS.escape(fragment.ts)}"]`);
  if (!fragment.html) {
    old?.remove();
  } else {
    const box = document.createElement("template");
    box.innerHTML = fragment.html;
    const el = box.content.firstElementChild;
    localTimes(el);
    el.classList.add("fresh");
    if (old) old.replaceWith(el);
    else {
      const after = [...list.querySelectorAll(":scope > .msg")].find((x) => x.dataset.ts > fragment.ts);
      list.insertBefore(el, after || null);
    }
  }
  arrange(list);
  if (follow) toEnd(scroll);
}

async function load(href, push) {
  const text = await (await fetch(href)).text();
  const page = new DOMParser().parseFromString(text, "text/html");
  const pane = page.getElementById("pane");
  if (!pane) return;
  document.getElementById("pane").replaceWith(pane);
  document.body.classList.toggle("paned", !pane.hidden);
  draw(pane);
  const end = pane.querySelector(".scroll");
  if (end && pane.querySelector("[data-list]")) toEnd(end);
  if (push) history.pushState(null, "", href);
  return page;
}

let hintTimer = 0;
function hint(text) {
  const el = document.getElementById("hint");
  el.textContent = text;
  el.hidden = false;
  clearTimeout(hintTimer);
  hintTimer = setTimeout(() => { el.hidden = true; }, 6000);
}

function confirmed(json) {
  const c = JSON.parse(json), box = document.getElementById("confirm");
  box.querySelector("h3").textContent = c.title;
  // The server drew and escaped it.
  box.querySelector("p").innerHTML = c.html;
  const [no, yes] = box.querySelectorAll("button");
  no.textContent = c.no;
  yes.textContent = c.yes;
  yes.className = "btn " + (c.style === "danger" ? "danger" : "primary");
  return new Promise((done) => {
    const end = (value) => { box.close(); done(value); };
    no.onclick = () => end(false);
    yes.onclick = () => end(true);
    box.oncancel = () => done(false);
    box.showModal();
  });
}

const send = (path, body) => fetch(path, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
});

// warn puts Slack's sign beside what was pressed in vain.
function warn(el, why) {
  const sign = document.createElement("span");
  sign.className = "warn";
  sign.textContent = "⚠ " + why;
  sign.title = why;
  sign.setAttribute("role", "alert");
  // The message may have been drawn anew meanwhile; then there is nothing to mark.
  (el.closest("details") || el).after(sign);
}

async function press(el, value) {
  if (el.dataset.confirm && !(await confirmed(el.dataset.confirm))) {
    if (el.tagName === "SELECT") el.value = "";
    return;
  }
  const msg = el.closest(".msg");
  el.classList.add("busy");
  msg.querySelectorAll(".warn").forEach((old) => old.remove());
  try {
    const answer = await (await send("/press", {
      channel: msg.dataset.channel, ts: msg.dataset.ts, block: el.dataset.block, action: el.dataset.action, value: value || "",
      user: document.body.dataset.viewer, home: "home" in msg.dataset,
    })).json();
    if (answer.unset) hint(answer.hint);
    else if (!answer.ok) warn(el, answer.hint);
  } catch {
    hint("The stage did not answer.");
  } finally {
    el.classList.remove("busy");
  }
}

document.addEventListener("click", (event) => {
  const plain = !event.metaKey && !event.ctrlKey && !event.shiftKey && event.button === 0;
  const link = event.target.closest("a[data-pane], #pane a.close, #pane a.back");
  if (link && plain) {
    event.preventDefault();
    load(link.href, true);
    return;
  }
  const action = event.target.closest("[data-action]");
  if (action && action.tagName !== "SELECT" && action.tagName !== "INPUT") {
    action.closest("details")?.removeAttribute("open");
    press(action, action.dataset.value);
  }
});
document.addEventListener("change", (event) => {
  if (event.target.id === "viewer") {
    document.cookie = "fakeslack_viewer=" + encodeURIComponent(event.target.value) + "; path=/; SameSite=Strict";
    const to = new URL(location.href);
    to.searchParams.delete("as");
    location.replace(to);
    return;
  }
  const menu = event.target.closest("select[data-action]");
  if (menu && menu.value) press(menu, menu.value);
});
document.addEventListener("submit", async (event) => {
  const form = event.target.closest(".say"), box = form?.querySelector("textarea");
  if (!form) return;
  event.preventDefault();
  if (!box.value.trim()) return;
  if (box.value.startsWith("/")) {
    const told = await (await send("/command", { channel: document.body.dataset.channel, thread: form.dataset.thread, text: box.value, user: document.body.dataset.viewer })).json();
    if (told.ok) box.value = "";
    else hint(told.hint);
    return;
  }
  const answer = await send("/say", { channel: document.body.dataset.channel, thread: form.dataset.thread, text: box.value, user: document.body.dataset.viewer });
  if (answer.ok) box.value = "";
  else hint(await answer.text());
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("input[data-action]")) {
    event.preventDefault();
    press(event.target, event.target.value);
    return;
  }
  if (event.key === "Enter" && !event.shiftKey && event.target.matches(".say textarea")) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
});
window.addEventListener("popstate", () => load(location.href, false));

draw(document);
document.querySelectorAll(".scroll").forEach((el) => {
  const pictured = "static" in document.body.dataset && el.closest("#pane");
  if (!el.querySelector("[data-list]") || location.hash || pictured) return;
  toEnd(el);
  // Pictures have no height before they are there.
  el.querySelectorAll("img").forEach((img) => img.addEventListener("load", () => toEnd(el), { once: true }));
});
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: "center" });

if (!("static" in document.body.dataset)) {
  const live = new EventSource("/live?as=" + encodeURIComponent(document.body.dataset.viewer));
  live.addEventListener("open", async () => {
    // Changes were missed before the line was up.
    const page = await load(location.href, false);
    const list = page?.querySelector("#channel .list");
    if (list) {
      const scroll = document.querySelector("#channel .scroll"), follow = atEnd(scroll);
      scroll.querySelector(".list").replaceWith(list);
      draw(scroll);
      if (follow) toEnd(scroll);
    }
    document.body.dataset.live = "";
  });
  // Slack sends the app an event each time that a user opens the page.
  live.addEventListener("open", async () => {
    if (!("home" in document.body.dataset)) return;
    const told = await (await send("/home/open", { user: document.body.dataset.viewer })).json();
    if (!told.ok) hint(told.hint);
  }, { once: true });
  live.addEventListener("fragment", (event) => put(JSON.parse(event.data)));
  live.addEventListener("banner", (event) => {
    const b = JSON.parse(event.data);
    document.getElementById("story").textContent = b.text;
    document.getElementById("stage").textContent = b.stage;
  });
}
