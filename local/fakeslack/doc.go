// Package fakeslack stands in for Slack on one machine. The real client,
// github.com/slack-go/slack, talks to its Web API; a browser sees the channel,
// its threads and its edits live; buttons send signed interactivity requests.
//
// It is strict where Slack is strict: tokens, scopes, channel membership,
// Block Kit limits, rate limits and error codes. It knows the blocks that an
// alerting app posts (header, section, divider, context, actions, image and
// rich_text) and refuses all others.
//
// Three things differ from Slack on purpose. A reply to a timestamp that never
// was a message is refused with thread_not_found, where Slack takes it and shows
// it nowhere. A message edited with blocks gets a mark of its own on the page,
// which opens the earlier versions: Slack shows "(edited)" only after an edit of
// the text. The numbers of msg_blocks_too_long are those users measured, because
// Slack publishes none.
package fakeslack
