// The site of the documentation. The pages are docs/*.md, which also read well where
// they are; here stands what makes a site of them.
//
// VitePress, because its search is an index of its own (nothing is asked of a
// service), it sends no telemetry, and 175 packages are in its lock file, where Astro
// with Starlight has 364. Rollup is held (package.json, overrides) at a release whose programs
// for all platforms are published: npm ci refuses a lock file that lacks one.
import { cpSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { defineConfig } from "vitepress";
import { messageAnchors, searchedMessages } from "./messages.mjs";
import { repositoryLinks } from "./repository.mjs";
import { sidebar } from "./sidebar.mjs";

const REPOSITORY = process.env.REPOSITORY ?? "";

/** What the search has of a page: a check is found by its id, too, which a message shows. */
function searched(src, env, md) {
  const html = md.render(src, env);
  // Pages of hundreds of other people's words, which would be found for any of them.
  if (/^(runbook|workshop)\.md$/.test(env.relativePath)) return /<h1[^]*?<\/h1>/.exec(html)[0];
  const id = /^checks\/(.+\/.+)\.md$/.exec(env.relativePath)?.[1];
  return id ? html.replace(/(<h1[^>]*>)/, `$1${id} `) : searchedMessages(html, env);
}

const here = createRequire(import.meta.url);

export default defineConfig({
  title: "Rollcall",
  description: "Why an EC2 instance did not become a node of its EKS cluster",
  lang: "en",
  // Where the site is served below a path: SITE_BASE=/rollcall/.
  base: process.env.SITE_BASE ?? "/",
  srcDir: "..",
  srcExclude: ["site/**"],
  outDir: "../../build/site",
  cacheDir: "../../build/site-cache",
  rewrites: { "README.md": "index.md", "checks/README.md": "checks/index.md" },
  lastUpdated: false,
  markdown: { config: (md) => md.use(repositoryLinks).use(messageAnchors) },
  // The pages are not below node_modules.
  vite: { build: { chunkSizeWarningLimit: 2000 /* kB: the index of the search, loaded when it is opened */ }, resolve: { alias: { "vue/server-renderer": here.resolve("vue/server-renderer"), vue: here.resolve("vue/dist/vue.runtime.esm-bundler.js") } } },
  // Pictures that a page links to, and does not show, are files as they are.
  buildEnd: ({ srcDir, outDir }) => cpSync(path.join(srcDir, "pictures"), path.join(outDir, "pictures"), { recursive: true }),
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        _render: searched,
        // People paste whole messages: only the last word may be begun, and none is guessed.
        miniSearch: { searchOptions: { prefix: (term, i, terms) => i === terms.length - 1, fuzzy: false, boost: { title: 4, text: 2, titles: 1 } } },
      },
    },
    // What stands on a link is its name.
    notFound: { linkText: "To the first page", linkLabel: "To the first page" },
    ...(REPOSITORY && { socialLinks: [{ icon: "github", link: `https://github.com/${REPOSITORY}` }] }),
  },
});
