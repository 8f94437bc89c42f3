// Links of the pages that leave docs/ lead to files of the repository. Where its
// address is known (REPOSITORY=owner/name) they are links to it; else they are text.
import path from "node:path";

const REPOSITORY = process.env.REPOSITORY ?? "";
const outside = /^(?:[a-z]+:|\/|#)/i;

/** The place of a link within the repository, or undefined if it stays in docs/. */
export function placeOf(page, href) {
  if (outside.test(href)) return undefined;
  const place = path.posix.join("docs", path.posix.dirname(page), href);
  return place.startsWith("docs/") ? undefined : place;
}

/** A plugin of markdown-it, which VitePress draws pages with. */
export function repositoryLinks(md) {
  md.core.ruler.push("repository_links", (state) => {
    for (const { children } of state.tokens) {
      let inside = false;
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const href = token.attrGet("href") ?? "";
          const place = placeOf(state.env.relativePath ?? "", href);
          if (place === undefined) {
            // A folder's README is its index.
            if (!/^[a-z]+:/i.test(href)) token.attrSet("href", href.replace(/README\.md(?=#|$)/, "index.md"));
            continue;
          }
          if (REPOSITORY) {
            token.attrSet("href", `https://github.com/${REPOSITORY}/blob/main/${place}`);
            continue;
          }
          inside = true;
          token.type = "html_inline";
          token.content = `<span class="in-repository" title="In the repository: ${md.utils.escapeHtml(place)}">`;
        } else if (inside && token.type === "link_close") {
          inside = false;
          token.type = "html_inline";
          token.content = "</span>";
        }
      }
    }
  });
}
