// The menu. A test (tools/site) holds that each page of docs/ is in it.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const docs = fileURLToPath(new URL("../../", import.meta.url));

/** The checks, a group for each family, in alphabetical order. */
function checks() {
  const families = readdirSync(docs + "checks", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return families.map(({ name: family }) => ({
    text: family,
    items: readdirSync(`${docs}checks/${family}`).map((file) => {
      const name = file.replace(/\.md$/, "");
      return { text: name, link: `/checks/${family}/${name}` };
    }),
  }));
}

/** A page by the first heading of its file, or by a shorter name. */
function page(link, text) {
  const heading = () => /^# (.+)$/m.exec(readFileSync(`${docs}${link}.md`, "utf8"))[1];
  return { text: text ?? heading(), link };
}

const main = [
  {
    text: "Start",
    items: [
      page("/start"),
      page("/install"),
      page("/standard"),
      page("/channel", "Slack"),
      page("/ask", "Ask and silence"),
      page("/message"),
      page("/stories"),
      page("/faq"),
    ],
  },
  {
    text: "Operate",
    items: [
      page("/operate"),
      page("/troubleshoot"),
      page("/texts"),
      page("/alarms"),
      page("/deploy", "Rights, buttons, private clusters"),
      page("/routes"),
      page("/targets", "Mail, PagerDuty, Teams, webhooks"),
      page("/security"),
      page("/bill", "Cost"),
      page("/release"),
      page("/compatibility"),
    ],
  },
  {
    text: "Use",
    items: [
      page("/diagnose"),
      page("/functions"),
      page("/changes"),
      page("/remedies"),
      page("/cleanup"),
      page("/events", "Your own rules"),
    ],
  },
  {
    text: "Reference",
    items: [
      { text: "Checks", link: "/checks/" },
      page("/settings"),
      page("/command"),
      page("/metrics"),
      page("/schemas"),
      page("/permissions"),
    ],
  },
  {
    text: "Evidence",
    items: [
      page("/figures"),
      page("/messages"),
      page("/measured"),
      page("/runbook", "Beside AWS's runbook"),
      page("/factor", "What failed launches share"),
      page("/spot", "Spot pools"),
      page("/runway", "Runway of a subnet"),
      page("/interfaces", "Interface cleanup compared"),
      page("/leaks", "10,000 leaked interfaces"),
      page("/load", "10,000 launches an hour"),
      page("/scale", "A thousand clusters"),
      page("/slack", "Slack down for an hour"),
      page("/lambda", "On Lambda's CPU"),
      page("/stage"),
      page("/workshop", "A transcript"),
    ],
  },
];

// No group is folded: what folds a group is a button within a button, which a screen
// reader cannot tell apart. The checks have a menu of their own.
export const sidebar = {
  "/": main,
  "/checks/": [{ items: [{ text: "← All pages", link: "/" }, { text: "All checks", link: "/checks/" }] }, ...checks()],
};
