// Command weekly counts what the weekly message of many clusters takes: it writes the records
// that a week of them leaves into the emulated table, which counts units as DynamoDB bills,
// reads them as spot-report does, and writes the paragraph about it into docs/ask.md.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"rollcall/local/bench/bill"
	"rollcall/shared/slack/slacktext"
)

// The marks between which the paragraph stands.
const (
	begin = "<!-- written by make weekly -->\n"
	end   = "\n<!-- end of what make weekly writes -->"
)

func main() {
	page := flag.String("page", "docs/ask.md", "file with the paragraph")
	kept := flag.String("kept", "local/bench/weekly/measured.json", "file for what was counted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *page, *kept); err != nil {
		fmt.Fprintln(os.Stderr, "weekly:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, page, kept string) error {
	// As many accounts and regions, and clusters in each, as make organisation plays.
	m, err := measure(ctx, week{spokes: 100, clusters: 10, launches: 100, latency: 10 * time.Millisecond})
	if err != nil {
		return err
	}
	body, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write what was counted: %w", err)
	}
	if err := os.WriteFile(kept, append(body, '\n'), 0o644); err != nil {
		return fmt.Errorf("write what was counted: %w", err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	written, err := put(string(text), m)
	if err != nil {
		return err
	}
	if err := os.WriteFile(page, []byte(written), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// put writes the paragraph into a page that has one.
func put(page string, m Measured) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	_, after, there := strings.Cut(rest, end)
	if !ok || !there {
		return "", fmt.Errorf("the page has no place for the paragraph: %q and %q", begin, end)
	}
	return before + begin + m.text() + end + after, nil
}

// text is the paragraph.
func (m Measured) text() string {
	of := slacktext.Number
	return fmt.Sprintf("It costs %.0f queries of the table for each cluster, three for each account and region, and what they find. "+
		"Counted with %s clusters in %s accounts and regions that launched %s instances in the week, %s of which did not join: "+
		"%s queries of %s read units together (%.2f cents at $0.125 a million) and %s MB. "+
		"With %s clusters at once and %s for each answer that took %.0f seconds, on two cores that played the table too; "+
		"the message on the queue had %s KB. `make weekly` counts again.",
		m.perCluster(), of(m.Clusters), of(m.Spokes), of(m.Launches), of(m.Failed),
		of(m.Queries), of(int(m.Units)), m.Units*bill.ReadUnit*100, of(m.Bytes/1e6), of(m.AtOnce),
		strings.Replace(m.Latency.String(), "ms", " ms", 1), m.Seconds, of((m.Message+1023)/1024))
}

// perCluster is without the three queries of each account and region.
func (m Measured) perCluster() float64 {
	return float64(m.Queries-perSpoke*m.Spokes) / float64(m.Clusters)
}
