"use strict";
// What press asks of the stand-in's page. It waits for changes of the
// page and never for a time. The page has a function "press" of its own, and both
// are properties of the window: the names must differ.
window.pressForTest = (() => {
  const text = (el) => (el ? el.innerText.replace(/\s+/g, " ").trim() : "");
  const label = (el) => (el.tagName === "SELECT" ? el.getAttribute("aria-label") : text(el));

  // until resolves as soon as the condition gives something.
  const until = (condition) => new Promise((done) => {
    const look = () => {
      const got = condition();
      if (got) { watch.disconnect(); done(got); }
    };
    const watch = new MutationObserver(look);
    watch.observe(document.documentElement, { subtree: true, childList: true, characterData: true, attributes: true });
    look();
  });

  // locate finds the button of the newest message with such a text.
  const locate = (message, button, has) => {
    for (const msg of [...document.querySelectorAll("#channel .msg")].reverse()) {
      if (!text(msg).includes(message)) continue;
      for (const el of msg.querySelectorAll("button[data-action], select[data-action]")) {
        has.push(label(el));
        if (label(el) === button) return el;
      }
    }
    return null;
  };

  // find marks the button, and marks it again whenever the page draws the
  // message anew. A menu's option is chosen at once: nothing of the page is
  // drawn for it.
  const find = async (message, button, option) => {
    await until(() => "live" in document.body.dataset);
    const has = [];
    const el = locate(message, button, has);
    if (!el) return { found: false, chosen: false, asks: false, has };
    const asks = "confirm" in el.dataset;
    if (el.tagName !== "SELECT") {
      const mark = () => {
        if (!document.querySelector("[data-press-for-test]")) locate(message, button, [])?.setAttribute("data-press-for-test", "");
      };
      mark();
      new MutationObserver(mark).observe(document.getElementById("channel"), { subtree: true, childList: true });
      return { found: true, chosen: false, asks, has };
    }
    has.push(...[...el.options].map((o) => o.text));
    const chosen = [...el.options].find((o) => o.text === option);
    if (!chosen) return { found: false, chosen: false, asks, has };
    el.value = chosen.value;
    el.dispatchEvent(new Event("change", { bubbles: true }));
    return { found: true, chosen: true, asks, has };
  };

  // after waits until the page shows a text, or, with none, until no press is
  // under way; and gives up when the page says that the press was in vain.
  const after = (wanted, cancelled) => until(() => {
    const hint = document.getElementById("hint");
    const shown = {
      asked: "", channel: text(document.querySelector("#channel .list")),
      warning: document.querySelector("#channel .warn")?.title || "", hint: hint.hidden ? "" : text(hint),
    };
    const over = cancelled || shown.warning || shown.hint || (wanted ? shown.channel.includes(wanted) : !document.querySelector("#channel .busy"));
    return over && !document.getElementById("confirm").open ? shown : null;
  });

  const live = () => until(() => "live" in document.body.dataset);

  // heights are how far below a message's top its buttons end, message by message.
  const heights = () => [...document.querySelectorAll("#channel .msg")].map((msg) =>
    Math.max(...[...msg.querySelectorAll("button[data-action], select[data-action]")].map((el) => el.getBoundingClientRect().bottom)) -
    msg.getBoundingClientRect().top);

  return { find, after, live, heights };
})();
