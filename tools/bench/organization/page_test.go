//go:build organization

package organization

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/slack/slacktext"
	"rollcall/shared/snapshot"
	"rollcall/tools/bench/bill"
	"rollcall/tools/expect"
)

var page = flag.String("organization.page", "", "play the whole company, and write this page about it (.ci/run organization)")

// TestPage plays a thousand clusters, and for what they cost also 100, 10 and one, and writes
// docs/scale.md.
func TestPage(t *testing.T) {
	var list []result
	for _, y := range []play{
		{company{1, 1, 1, 20}, 15, 10, 4},
		{company{1, 1, 10, 20}, 15, 100, 4},
		{company{5, 2, 10, 20}, 15, 1_000, 4},
		{company{50, 2, 10, 20}, 15, 10_000, 32},
	} {
		began := time.Now()
		var r result
		virtual(t, func(t *testing.T) { r = y.run(t) })
		t.Logf("%d clusters took %s", y.size(), time.Since(began).Round(time.Second))
		list = append(list, r)
	}
	if t.Failed() {
		return
	}
	template, err := os.ReadFile("../../../infra/Rollcall.template.json")
	expect.OK(t, err)
	counted, err := bill.Count(template)
	expect.OK(t, err)
	text, err := write(list, counted)
	expect.OK(t, err)
	expect.OK(t, os.WriteFile(*page, []byte(text), 0o644))
}

// size is how many clusters there are.
func (c company) size() int { return c.accounts * c.regions * c.clusters }

// silent is how many of them do not answer.
func (c company) silent() (n int) {
	for i := range c.clusters {
		if silent(clusterName(i)) {
			n += c.accounts * c.regions
		}
	}
	return n
}

func write(list []result, t bill.Template) (string, error) {
	var b strings.Builder
	last := list[len(list)-1]
	fmt.Fprintf(&b, `# A thousand clusters

What one hub does for a company, played on the local stage with the functions' own code in virtual time (`+"`.ci/run organization`"+` plays it again and writes this page; `+"`make test-full`"+` plays a tenth of it).

%d accounts in %d regions, %s clusters with %s nodes; the APIs of %d clusters drop all packets. All accounts have clusters, instances and route tables of the same names and ids.
%s launches in %d minutes (%s an hour). AWS and Kubernetes answer after %s. Each account has its own request buckets: EC2's (100 and 20 a second for most reads), CloudTrail's two lookups a second, STS's 600 a second.
`+"`sweepConcurrency`"+` is %d; Lambda's quota for the account must have room for it.

`, last.accounts, last.regions, slacktext.Number(last.size()), slacktext.Number(last.size()*last.nodes), last.silent(),
		slacktext.Number(last.launched), last.minutes, slacktext.Number(last.hourly), callTime, last.atOnce)
	fmt.Fprintf(&b, "- Each cluster was visited within two ticks of five minutes. Those that answer were read %s times in their own tick; %d times a turn came at its end and was told in the next. None was dropped as too late.\n",
		slacktext.Number(last.turns), last.late)
	fmt.Fprintf(&b, "- Each launch has its one outcome: %s joined, %d did not join (one for each missing route), %d of clusters that do not answer are not known. None is told as another's.\n",
		slacktext.Number(last.ends[snapshot.Joined]), last.ends[snapshot.NotJoined], last.ends[snapshot.Unclear])
	fmt.Fprintf(&b, "- No call was throttled. The least that was left in any account's bucket: %s.\n", emptiest(last.left))
	fmt.Fprintf(&b, "- One message for each cause: %s; %d edits.\n\n", causes(last.messages), last.edits)
	b.WriteString(`## The calls of a tick

Of all accounts together, without the table and the queues. One stack for each account as it was before the function sweep took 75 reads for each cluster in a tick ([a tick](functions.md#a-tick)), and reached 38 of 100 clusters.

| call | in a tick | for each cluster | most in a second, all accounts together |
|---|---|---|---|
`)
	sum := 0.0
	for _, api := range slices.Sorted(maps.Keys(last.calls)) {
		if strings.HasPrefix(api, "dynamodb:") || strings.HasPrefix(api, "sqs:") || strings.HasPrefix(api, "s3:") || strings.HasPrefix(api, "events:") {
			continue
		}
		sum += last.calls[api]
		fmt.Fprintf(&b, "| %s | %.0f | %.2f | %d |\n", api, last.calls[api], last.calls[api]/float64(last.size()), last.peak[api])
	}
	fmt.Fprintf(&b, "| **together** | **%.0f** | **%.1f** | |\n\n", sum, sum/float64(last.size()))
	b.WriteString(`## What it costs

The bill of a month, from what was counted over a quarter of an hour with ten launches an hour for each cluster, at the list prices of us-east-1 ([how](bill.md)); the spokes' own accounts pay for the events that they forward ($1 a million: EventBridge's pricing, events to another account's bus) and nothing else.

|`)
	for _, r := range list {
		fmt.Fprintf(&b, " | %s", plural(r.size(), "cluster"))
	}
	b.WriteString(" |\n|---|" + strings.Repeat("---|", len(list)) + "\n")
	var bills [][]bill.Line
	for _, r := range list {
		lines, err := bill.Monthly(t, r.usage, bill.Size{Clusters: 1, Subnets: r.usage.Subnets, Nodes: r.usage.Nodes})
		if err != nil {
			return "", err
		}
		bills = append(bills, lines)
	}
	for i := range bills[0] {
		fmt.Fprintf(&b, "| %s", bills[0][i].What)
		for _, lines := range bills {
			fmt.Fprintf(&b, " | $%.2f", lines[i].Cost())
		}
		b.WriteString(" |\n")
	}
	b.WriteString("| **together**")
	for _, lines := range bills {
		fmt.Fprintf(&b, " | **$%.2f**", bill.Total(lines))
	}
	b.WriteString(" |\n| **for each cluster**")
	for i, lines := range bills {
		fmt.Fprintf(&b, " | **$%.2f**", bill.Total(lines)/float64(list[i].size()))
	}
	b.WriteString(" |\n")
	return b.String(), nil
}

// emptiest are the buckets with the least left.
func emptiest(left map[string]float64) string {
	names := slices.SortedFunc(maps.Keys(left), func(a, b string) int { return cmp.Or(cmp.Compare(left[a], left[b]), cmp.Compare(a, b)) })
	var list []string
	for _, name := range names[:min(5, len(names))] {
		list = append(list, fmt.Sprintf("%s %.1f", name, left[name]))
	}
	return strings.Join(list, ", ")
}

func causes(by map[string]int) string {
	var list []string
	for _, cause := range slices.Sorted(maps.Keys(by)) {
		list = append(list, fmt.Sprintf("%d of %s", by[cause], cause))
	}
	return strings.Join(list, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return slacktext.Number(n) + " " + what + "s"
}
