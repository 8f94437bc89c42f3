package bill

import (
	"fmt"
	"strings"
)

// Page is docs/bill.md. relay is one relay: neither size has any.
func Page(t Template, usages []Usage, relay Relays) (string, error) {
	var b strings.Builder
	b.WriteString(`# The bill while nothing happens

Generated from the template (with the buttons of Slack on) and from an hour of a healthy cluster on the local stage
(` + "`make bill`" + ` measures it again; a test holds the sums under $5 and $35). List prices of us-east-1, November 2026, a month of 730 hours, no free tier taken off.
What launches cost beside it is in [load.md](load.md).

`)
	sizes := Sizes()
	if len(usages) != len(sizes) {
		return "", fmt.Errorf("%d measurements for %d sizes", len(usages), len(sizes))
	}
	for i, s := range sizes {
		u := usages[i]
		lines, err := Of(t, u, s)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "## %s, %d subnets, %s: $%.2f a month\n\n", plural(s.Clusters, "cluster"), s.Subnets, plural(s.Nodes, "node"), Total(lines))
		fmt.Fprintf(&b, "From a cluster with %d nodes in %d subnets, looked at for %.1f hours of stage time.\n\n", u.Nodes, u.Subnets, u.Hours)
		table(&b, lines)
		b.WriteString("\n")
	}
	b.WriteString("The custom metrics of a cluster while nothing is wrong:\n\n")
	for _, name := range usages[0].Series {
		fmt.Fprintf(&b, "- `%s`\n", name)
	}
	b.WriteString(`
Not in it, because they are next to nothing while nothing happens: what the table stores (megabytes), the bucket of the evidence, which is empty then ([what incidents put there](diagnose.md#when-it-is-gone)), mails of alarms, the dashboard (an account's first three are free, each further one is $3.00), reads of secrets at starts.
` + "`subnetMetrics=on`" + ` adds three or four metrics for each subnet ($0.90 to $1.20 a month each). A queue that Lambda polls costs $0.26 a month, a FIFO queue $0.33.
`)
	fmt.Fprintf(&b, "[`targets`](targets.md) adds $%.2f a month (a FIFO queue that is polled, %s of alarms), and $%.2f for each secret; SNS's first 1,000 mails of a month are free.\n",
		TargetsCost(t), plural(t.Targets.AlarmMetrics, "metric"), secret)
	lines, err := relay.lines(t, usages[0])
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, `
## A relay: $%.2f a month

Beside the bill, for each cluster that has a [relay](deploy.md#clusters-with-a-private-endpoint-only) because its API has a private endpoint only.

`, Total(lines))
	table(&b, lines)
	return b.String(), nil
}

// table is a bill's, with its sum.
func table(b *strings.Builder, lines []Line) {
	b.WriteString("| what | count | price | a month | how it is counted |\n|---|---|---|---|---|\n")
	for _, l := range lines {
		price := fmt.Sprintf("$%.2f", l.Price)
		if l.Price < 0.01 {
			price = fmt.Sprintf("$%.4g a million", l.Price*1e6)
		}
		fmt.Fprintf(b, "| %s | %s | %s | $%.2f | %s |\n", l.What, number(l.Count), price, l.Cost(), l.How)
	}
	fmt.Fprintf(b, "| **together** | | | **$%.2f** | |\n", Total(lines))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return number(float64(n)) + " " + what + "s"
}

// number writes thousands apart.
func number(x float64) string {
	text := fmt.Sprintf("%.0f", x)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
