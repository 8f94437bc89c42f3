// On the page of texts each message is found as a heading is, by its own words: to the
// search it is one, and it has an anchor of its own.
const page = "texts.md";

/** A plugin of markdown-it: each message of the page has an anchor. */
export function messageAnchors(md) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, i, options, env, self) => {
    const html = fence(tokens, i, options, env, self);
    if (env.relativePath !== page) return html;
    const number = tokens.slice(0, i + 1).filter((token) => token.type === "fence").length;
    return `<div id="message-${number}">${html}</div>`;
  };
}

const message = /<div id="(message-\d+)">[^]*?<code[^>]*>([^]*?)<\/code><\/pre>[^]*?<\/div><\/div>/g;

/** The page as the search has it. */
export function searchedMessages(html, env) {
  if (env.relativePath !== page) return html;
  return html.replace(message, (_, id, code) => {
    const text = code.replace(/<[^>]*>/g, "");
    return `<h3>${text}<a href="#${id}"></a></h3><p>${text}</p>`; // a heading without a text is left out
  });
}
