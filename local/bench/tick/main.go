// Command tick counts what a tick asks of AWS and of a cluster: the turn of a cluster in
// which nothing is wrong, beside the looks of the four functions that had a schedule each
// before there were turns. It writes the section "A tick" of docs/load.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"rollcall"
	"rollcall/local/bench/load/section"
	"rollcall/local/payload"
	"rollcall/local/programs"
	"rollcall/local/stage"
	"rollcall/shared/event"
	"rollcall/shared/spoke"
)

func main() {
	page := flag.String("page", "docs/load.md", "file with the section")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *page); err != nil {
		fmt.Fprintln(os.Stderr, "tick:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, page string) error {
	c, err := count(ctx, ".")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	if err := os.WriteFile(page, []byte(section.Put(string(text), c.text())), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// counted are the calls of a tick, by what was called.
type counted struct{ alone, turn map[string]int }

// watchers are the functions that had a schedule each.
func watchers() []string {
	return []string{"join-check", "nodegroup-watch", "subnet-watch", "zone-watch"}
}

// settled is when the world's launch has joined.
const settled = 12 * time.Minute

// count looks twice each way, as a first look takes down what a later one finds, and
// counts the second. root is the repository's folder.
func count(ctx context.Context, root string) (counted, error) {
	alone, err := second(ctx, root, func(s *stage.Stage) error {
		for _, name := range watchers() {
			if err := turn(ctx, s, name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return counted{}, err
	}
	// Each listed the clusters for itself, once for all of them.
	alone["eks:ListClusters"] += len(watchers())
	together, err := second(ctx, root, func(s *stage.Stage) error {
		if err := tick(ctx, s); err != nil {
			return err
		}
		return turn(ctx, s, "sweep")
	})
	return counted{alone, together}, err
}

// second does something twice on a stage, and counts the calls of the second time.
func second(ctx context.Context, root string, do func(*stage.Stage) error) (map[string]int, error) {
	s, err := stage.Start(ctx, stage.Options{
		World: filepath.Join(root, "local/worlds/healthy-nat.yaml"), Files: rollcall.Files(), At: start().Add(settled), Quiet: true, Rate: 1e-3,
		Programs: programs.All(), Template: "infra/Rollcall.template.json", Rights: "deploy/clusterrole.yaml",
	})
	if err != nil {
		return nil, fmt.Errorf("start the stage: %w", err)
	}
	defer s.Close()
	before := 0
	for range 2 {
		before = len(s.Cloud.Calls())
		if err := do(s); err != nil {
			return nil, err
		}
	}
	calls := map[string]int{}
	for _, c := range s.Cloud.Calls()[before:] {
		calls[c.Action()]++
	}
	return calls, nil
}

// start is when the world begins.
func start() time.Time { return time.Date(2026, 11, 20, 14, 58, 0, 0, time.UTC) }

// tick lets sweep's schedule fire.
func tick(ctx context.Context, s *stage.Stage) error {
	return invoke(ctx, s, "sweep", fmt.Appendf(nil, `{"version":"0","id":"tick","detail-type":"Scheduled Event","source":"aws.events","account":%q,"time":%q,"region":%q,"resources":[],"detail":{}}`,
		s.Template.AccountID, s.Clock.Now().UTC().Format(time.RFC3339), s.Template.Region))
}

// turn gives a function the turn of the world's cluster: sweep by its queue.
func turn(ctx context.Context, s *stage.Stage, function string) error {
	raw, err := event.SweepCluster(spoke.ID{}, s.World.Clusters()[0], s.Template.AccountID, s.Template.Region, s.Clock.Now())
	if err != nil {
		return fmt.Errorf("write a turn: %w", err)
	}
	if f, ok := s.Function(function); ok && function == "sweep" {
		if raw, _, err = payload.Wrap(raw, f, s.Template, s.Clock.Now()); err != nil {
			return fmt.Errorf("write a turn: %w", err)
		}
	}
	return invoke(ctx, s, function, raw)
}

func invoke(ctx context.Context, s *stage.Stage, function string, raw []byte) error {
	f, ok := s.Function(function)
	if !ok {
		return fmt.Errorf("the template has no function %s", function)
	}
	r, err := s.Runtime.Invoke(ctx, f.Name, raw)
	if err == nil && r.FunctionError != "" {
		err = fmt.Errorf("%s", r.Payload)
	}
	if err != nil {
		return fmt.Errorf("invoke %s: %w", function, err)
	}
	return nil
}

// text is the section.
func (c counted) text() string {
	var b strings.Builder
	b.WriteString(`
Every five minutes the function sweep sends a message for each cluster to its queue, spread over four of the five minutes in the order of their names. One invocation
serves one cluster: the roll, its nodegroups, its subnets and its zones, one after the other, each with its share of four minutes. What two of them need is read once;
how much is free in a subnet that is short is always asked anew, and remedies and deletions have reads of their own, in functions of their own. Four clusters are looked at at once (` + "`sweepConcurrency`" + `;
an account that may have ten invocations has room for the rest), and each takes its share of the account's request buckets ([EC2's](https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html)
are one for each API). A hundred clusters at 40 ms a call, twenty of whose APIs drop all packets, have each their turn in every tick, with nobody throttled (` + "`make test-full`" + `, TestEachClusterHasItsTurn). What [a thousand clusters of fifty accounts](scale.md) do is played by ` + "`make organisation`" + `.
An API that does not answer is asked in the next tick, then after 2, 4, … ticks, at most after an hour. A turn that is a tick late is dropped and counted (` + "`LateSweeps`" + `): it counts as a failure of a function, which has an alarm.

The calls of a tick for a cluster of two nodegroups in which nothing is wrong, beside those of the functions that had a schedule each before (` + "`make tick`" + ` counts again):

| call | four functions | one turn |
|---|---|---|
`)
	sums := map[bool][2]int{}
	for _, name := range slices.Sorted(maps.Keys(joined(c.alone, c.turn))) {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", name, c.alone[name], c.turn[name])
		own := ofRollcall(name)
		sums[own] = [2]int{sums[own][0] + c.alone[name], sums[own][1] + c.turn[name]}
	}
	fmt.Fprintf(&b, "| **reads of AWS and the cluster** | **%d** | **%d** |\n", sums[false][0], sums[false][1])
	fmt.Fprintf(&b, "| **Rollcall's own table and queues** | **%d** | **%d** |\n", sums[true][0], sums[true][1])
	return b.String()
}

// ofRollcall tells calls of what the stack itself holds.
func ofRollcall(call string) bool {
	service, _, _ := strings.Cut(call, ":")
	return slices.Contains([]string{"dynamodb", "sqs", "events", "s3"}, service)
}

func joined(a, b map[string]int) map[string]int {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
