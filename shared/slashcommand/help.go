package slashcommand

import "strings"

// Help is what /rollcall help says, in Slack's mrkdwn.
func Help() string {
	return strings.Join([]string{
		"*What you can ask Rollcall*",
		"`/rollcall status`  what is open, muted and silenced, and when the clusters were last looked at",
		"`/rollcall clusters`  the clusters that are watched",
		"`/rollcall why i-0abc1234def567890`  what is known of an instance",
		"`/rollcall report`  launches and incidents of the last 24 hours; `7d` for a week, `cluster=prod` for one cluster",
		"`/rollcall silences`  who silenced what, until when, and why",
		"`/rollcall silence cluster=prod for 2h reason \"node upgrade\"`  tell nothing of it for a while",
		"    narrowed by `nodegroup=workers` or `tag=team=payments`, and `check=route/no-egress`",
		"    later: `from=2026-11-24T22:00Z`; every week: `weekly=Sat/02:00-06:00` (UTC)",
		"    30 days at most; more than a day needs a reason",
		"`/rollcall unsilence ID`  end a silence",
		"What is silenced is still found and recorded, and is told when the silence ends if it is still there.",
	}, "\n")
}
