// Drives a stand-in for Slack with Slack's own client. Reads what to say as JSON
// from standard input, and writes what it was told as JSON to standard output.
import { text } from 'node:stream/consumers';
import { LogLevel, WebClient } from '@slack/web-api';

const { url, token, channel, user, scenes, wrong } = JSON.parse(await text(process.stdin));
// A retry comes at once, but for a 429, which says itself how long to wait.
const options = { slackApiUrl: url, logger: silent(), retryConfig: { retries: 2, minTimeout: 0, maxTimeout: 1 } };
const slack = new WebClient(token, options);

const limited = [];
slack.on('rate_limited', (seconds, { url }) => limited.push({ seconds, method: url.split('/').pop() }));

const told = { limited, posts: {}, refused: {} };
told.auth = await slack.auth.test();

for (const [name, [incident, ...notes]] of Object.entries(scenes)) {
  const post = await slack.chat.postMessage({ channel, ...incident });
  told.post = post;
  const replies = [];
  for (const note of notes) {
    replies.push((await slack.chat.postMessage({ channel, thread_ts: post.ts, ...note })).ts);
  }
  told.posts[name] = { ts: post.ts, replies };
}

const first = told.posts['proved'].ts;
told.update = await slack.chat.update({ channel, ts: first, ...scenes['reopened'][0] });

// A home page is one view, drawn over the state that its hash names.
const home = (message, hash) => slack.views.publish({ user_id: user, hash, view: { type: 'home', blocks: message.blocks } });
told.home = await home(scenes['asked-home'][0]);
told.homeAgain = await home(scenes['asked-home'][1], told.home.view.hash);

// Small pages, so that the client has to turn them.
told.history = [];
for await (const page of slack.paginate('conversations.history', { channel, limit: 7, include_all_metadata: true })) {
  told.history.push(page.messages);
}
told.thread = await slack.conversations.replies({ channel, ts: first, include_all_metadata: true });
told.bare = await slack.conversations.history({ channel, limit: 1 });

// The first attempt meets a 429.
told.ephemeral = await slack.chat.postEphemeral({ channel, user, text: 'only for you' });

const chart = Buffer.from('\x89PNG\r\n\x1a\nchart', 'latin1');
const upload = await slack.files.uploadV2({
  channel_id: channel, thread_ts: first, file: chart, filename: 'chart.png', title: 'Launches', initial_comment: 'by hour',
});
told.complete = upload.files[0];
const file = told.complete.files[0];
const download = await fetch(file.url_private, { headers: { Authorization: `Bearer ${token}` } });
told.download = Buffer.from(await download.arrayBuffer()).toString('latin1');

const calls = {
  invalid_auth: () => new WebClient('xoxb-of-somebody-else', options).auth.test(),
  not_authed: () => new WebClient(undefined, options).auth.test(),
  channel_not_found: () => slack.chat.postMessage({ channel: 'C0NOWHERE1', text: 'a' }),
  message_not_found: () => slack.chat.update({ channel, ts: '1700000000.000001', text: 'a' }),
  hash_conflict: () => home(scenes['asked-home'][0], told.home.view.hash),
  no_text: () => slack.chat.postMessage({ channel }),
  unknown_method: () => slack.apiCall('chat.shout'),
};
for (const [name, block] of Object.entries(wrong)) {
  calls[name] = () => slack.chat.postMessage({ channel, text: 'a', blocks: [block] });
}
for (const [name, call] of Object.entries(calls)) {
  told.refused[name] = await call().then(
    () => ({ error: '' }),
    (e) => ({ code: e.code, error: e.data?.error ?? String(e), messages: e.data?.response_metadata?.messages ?? [] }),
  );
}

process.stdout.write(JSON.stringify(told));

// silent keeps the refusals, which are wanted here, out of the output.
function silent() {
  const nothing = () => {};
  return { debug: nothing, info: nothing, warn: nothing, error: nothing, setLevel: nothing, getLevel: () => LogLevel.ERROR, setName: nothing };
}
