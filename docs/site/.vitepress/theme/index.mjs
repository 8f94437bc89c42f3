// The default theme in the reader's own fonts: nothing is loaded from elsewhere.
import theme from "vitepress/theme-without-fonts";
import "./style.css";

/**
 * The theme calls its search a button that holds others, and its results options that hold
 * links: a screen reader can enter neither. They are a search and a list of links, each by
 * the name that stands on it (axe: nested-interactive, label-content-name-mismatch).
 */
function mendSearch() {
  const box = document.querySelector(".VPLocalSearchBox");
  if (!box) return;
  if (box.getAttribute("role") !== "search") {
    box.setAttribute("role", "search");
    box.setAttribute("aria-label", "Search");
    for (const name of ["aria-owns", "aria-expanded", "aria-haspopup", "aria-labelledby"]) box.removeAttribute(name);
  }
  for (const e of box.querySelectorAll(".results[role], .results [role=option]")) {
    for (const name of ["role", "aria-selected", "aria-labelledby"]) e.removeAttribute(name);
  }
  for (const e of box.querySelectorAll("kbd[aria-label]:not([role])")) e.setAttribute("role", "img");
  for (const e of box.querySelectorAll("a.result[aria-label]")) e.removeAttribute("aria-label");
}

export default {
  ...theme,
  enhanceApp(app) {
    theme.enhanceApp?.(app);
    if (import.meta.env.SSR) return;
    new MutationObserver(mendSearch).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["aria-label", "aria-selected"] });
  },
};
