// What the tests ask of a page.
sessionStorage.clear(); // the search keeps what was typed last
window.siteForTest = {
  // seen is what a reader has before them.
  seen() {
    const here = (a) => a.origin === location.origin;
    const links = [...document.querySelectorAll("a[href]")].filter(here).map((a) => a.pathname + decodeURIComponent(a.hash));
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    const broken = [...document.images].filter((i) => i.complete && i.naturalWidth === 0).map((i) => i.currentSrc);
    const elsewhere = performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !n.startsWith(location.origin) && !n.startsWith("data:"));
    return {
      path: location.pathname,
      heading: document.querySelector("main h1, .NotFound .code")?.innerText ?? "",
      ids: [...document.querySelectorAll("[id]")].map((e) => e.id),
      links: [...new Set(links)],
      broken,
      elsewhere,
      wide,
    };
  },
  // wide is how much wider than the window the page is.
  wide() {
    return document.documentElement.scrollWidth - document.documentElement.clientWidth;
  },
  // dark is at once: a colour on its way is none that a reader sees.
  dark(on) {
    const still = document.createElement("style");
    still.textContent = "*, *::before, *::after { transition: none !important; }";
    document.head.append(still);
    document.documentElement.classList.toggle("dark", on);
    return document.documentElement.classList.contains("dark");
  },
  // found waits until the search shows results that stay for half a second (it waits for a
  // fifth of one after the last key), and gives where they lead.
  async found() {
    let before = "";
    for (let i = 0, same = 0; i < 200; i++) {
      await new Promise((done) => setTimeout(done, 50));
      const now = [...document.querySelectorAll(".VPLocalSearchBox a.result")].map((a) => decodeURIComponent(a.pathname + a.hash));
      same = now.length > 0 && now.join() === before ? same + 1 : 0;
      if (same === 10) return now;
      before = now.join();
    }
    return [];
  },
  // axe gives what it finds serious, by rule and place.
  async axe() {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter((v) => v.impact === "serious" || v.impact === "critical")
      .map((v) => `${v.id} (${v.impact}): ${v.help}: ` + v.nodes.slice(0, 4).map((n) => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).join("; "));
  },
};
true;
