// Package types holds tests that ask Slack's own npm packages for a second
// opinion:
//
//   - @slack/types, with the TypeScript compiler: every message that the
//     tests of shared/slack keep is what Slack's types allow, and wrong ones are not;
//   - @slack/web-api, the official client: it gets from the stand-in,
//     stage/fakeslack, what it would get from Slack.
//
// They are opt-in, by a build tag, because they need Node.js 20 and npm, and
// fetch the packages that package-lock.json pins:
//
//	.ci/run slack
//
// A tool that is missing is a failure, not a skip.
package types
